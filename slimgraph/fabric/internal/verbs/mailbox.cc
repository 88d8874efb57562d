#include "slimgraph/fabric/internal/verbs/mailbox.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/base/clock.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kAbsentAfterNs = 20'000'000;
constexpr auto kPollAgain = 10ms;
constexpr auto kPollRarely = 50ms;
constexpr std::uint64_t kBusyForNs = 200'000'000;
// How many messages the background thread receives for an absent owner; the senders keep the
// others.
constexpr std::size_t kMaxBuffered = 256;

}  // namespace

Result<std::unique_ptr<VerbsMailbox>> VerbsMailbox::Make(const VerbsDevice& device,
                                                         ibv_comp_channel* events) {
  SLIM_ASSIGN(auto datagrams, VerbsDatagrams::Make(device, events));
  return std::unique_ptr<VerbsMailbox>(new VerbsMailbox(device, std::move(datagrams)));
}

VerbsMailbox::VerbsMailbox(const VerbsDevice& device, std::unique_ptr<VerbsDatagrams> datagrams)
    : datagrams_(std::move(datagrams)), device_(device), shared_{*this, {}} {}

void VerbsMailbox::Start(EndpointAddress self, std::uint32_t endpoints,
                         std::span<const VerbsMailAddress> addresses) {
  shared_.self = self;
  endpoints_ = endpoints;
  addresses_ = addresses;
  routes_.resize(addresses.size());
  links_.resize(addresses.size());
  lost_.resize(addresses.size() / endpoints);
}

void VerbsMailbox::SetFaults(Faults* faults) {
  const std::lock_guard lock(mutex_);
  faults_ = faults != nullptr ? faults : &no_faults_;
}

std::uint32_t VerbsMailbox::MostBytes(EndpointAddress to) const {
  return addresses_[IndexOf(to)].datagram_bytes;
}

Result<std::unique_ptr<SendRing>> VerbsMailbox::MakeRing(std::uint64_t bytes) {
  return VerbsRing::Make(device_, bytes);
}

// Returns 0 as well when there is no route. An injected fault may drop the datagram here; it then
// counts as one that was sent before.
std::uint64_t VerbsMailbox::Send(EndpointAddress to, Bytes bytes, const SendRing* ring) {
  if (faults_->DrawLoss()) return std::max<std::uint64_t>(datagrams_->posted(), 1);
  const std::size_t index = IndexOf(to);
  if (!routes_[index]) routes_[index] = datagrams_->RouteTo(addresses_[index]);
  if (!routes_[index]) return 0;
  const std::uint32_t key = ring == nullptr ? 0 : static_cast<const VerbsRing*>(ring)->key();
  return datagrams_->Send(routes_[index].get(), addresses_[index], bytes, key);
}

ReliableLink& VerbsMailbox::LinkTo(EndpointAddress peer) {
  auto& one = links_[IndexOf(peer)];
  if (!one) {
    one = std::make_unique<ReliableLink>(shared_, peer);
    if (lost_[peer.node]) one->Lose();
  }
  return *one;
}

bool VerbsMailbox::Send(EndpointAddress to, const Message& message) {
  const std::lock_guard lock(mutex_);
  return LinkTo(to).Send(message, NowNs());
}

void VerbsMailbox::Poll(const std::function<void(const Message&)>& receive) {
  const std::lock_guard lock(mutex_);
  parked_.store(false, std::memory_order_relaxed);
  last_poll_ns_.store(NowNs(), std::memory_order_relaxed);
  for (; !buffered_.empty(); buffered_.pop_front()) {
    buffered_.front().message.body = buffered_.front().body;
    receive(buffered_.front().message);
  }
  Receive(receive);
  Progress();
}

// Drops datagrams without a valid sender, and those whose queue pair is not the sender's.
void VerbsMailbox::Receive(const std::function<void(const Message&)>& receive) {
  datagrams_->Receive([&](Bytes datagram, std::uint32_t queue_pair) {
    LinkPiece piece;
    if (datagram.size() < sizeof piece) return;
    std::memcpy(&piece, datagram.data(), sizeof piece);
    if (piece.node >= lost_.size() || piece.endpoint >= endpoints_) return;
    const EndpointAddress from{piece.node, piece.endpoint};
    if (addresses_[IndexOf(from)].queue_pair != queue_pair) return;
    LinkTo(from).Take(datagram, NowNs(), receive);
  });
}

void VerbsMailbox::Progress() {
  due_ns_ = 0;
  if (shared_.active.empty()) return;
  const std::uint64_t now_ns = NowNs();
  std::erase_if(shared_.active, [&](ReliableLink* one) {
    const std::uint64_t due_ns = one->Progress(now_ns);
    if (due_ns != 0) due_ns_ = due_ns_ == 0 ? due_ns : std::min(due_ns_, due_ns);
    return due_ns == 0;
  });
}

bool VerbsMailbox::all_acknowledged() {
  const std::lock_guard lock(mutex_);
  return datagrams_->sent() == datagrams_->posted() &&
         std::all_of(links_.begin(), links_.end(),
                     [](const auto& one) { return !one || one->all_acknowledged(); });
}

bool VerbsMailbox::Arm() {
  const std::lock_guard lock(mutex_);
  const bool news = datagrams_->Arm() || !buffered_.empty();
  parked_.store(!news, std::memory_order_relaxed);
  return news;
}

void VerbsMailbox::Lose(NodeId node) {
  const std::lock_guard lock(mutex_);
  lost_[node] = true;
  for (std::uint32_t endpoint = 0; endpoint < endpoints_; ++endpoint) {
    const auto& one = links_[IndexOf({node, endpoint})];
    if (one) one->Lose();
  }
}

bool VerbsMailbox::PollInBackground(std::uint64_t now_ns) {
  if (parked_.load(std::memory_order_relaxed)) return false;
  if (now_ns < last_poll_ns_.load(std::memory_order_relaxed) + kAbsentAfterNs) return true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return true;
  const std::size_t before = buffered_.size();
  if (before < kMaxBuffered) {
    Receive([&](const Message& message) {
      buffered_.push_back({message, {message.body.begin(), message.body.end()}});
    });
  }
  const bool any = !shared_.active.empty();
  Progress();
  return any || buffered_.size() > before;
}

VerbsBackgroundPoller::VerbsBackgroundPoller(std::vector<VerbsMailbox*> mailboxes)
    : mailboxes_(std::move(mailboxes)), thread_([this] { Run(); }) {}

VerbsBackgroundPoller::~VerbsBackgroundPoller() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void VerbsBackgroundPoller::Run() {
  std::uint64_t busy_ns = 0;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const std::uint64_t now_ns = NowNs();
    for (VerbsMailbox* const mailbox : mailboxes_) {
      if (mailbox->PollInBackground(now_ns)) busy_ns = now_ns;
    }
    end_.wait_for(lock, now_ns < busy_ns + kBusyForNs ? kPollAgain : kPollRarely);
  }
}

}  // namespace slimgraph
