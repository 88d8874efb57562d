#include "slimgraph/fabric/internal/verbs/mailbox.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/base/clock.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kAbsentAfterNs = 20'000'000;
constexpr auto kLookAgain = 10ms;
constexpr auto kLookSeldom = 50ms;
constexpr std::uint64_t kBusyForNs = 200'000'000;
// What is received for an owner who does not come; more stays with the senders.
constexpr std::size_t kMostKept = 256;

}  // namespace

Result<std::unique_ptr<VerbsMailbox>> VerbsMailbox::Make(const VerbsDevice& device,
                                                         ibv_comp_channel* events) {
  SLIM_ASSIGN(auto datagrams, VerbsDatagrams::Make(device, events));
  return std::unique_ptr<VerbsMailbox>(new VerbsMailbox(device, std::move(datagrams)));
}

VerbsMailbox::VerbsMailbox(const VerbsDevice& device, std::unique_ptr<VerbsDatagrams> datagrams)
    : datagrams_(std::move(datagrams)), shared_{device, *datagrams_, {}, &no_faults_} {}

void VerbsMailbox::Start(EndpointAddress self, std::uint32_t endpoints,
                         std::span<const VerbsMailAddress> addresses) {
  shared_.self = self;
  endpoints_ = endpoints;
  addresses_ = addresses;
  with_.resize(addresses.size());
  lost_.resize(addresses.size() / endpoints);
}

void VerbsMailbox::SetFaults(Faults* faults) {
  const std::lock_guard lock(mutex_);
  shared_.faults = faults != nullptr ? faults : &no_faults_;
}

VerbsCorrespondence& VerbsMailbox::With(EndpointAddress peer) {
  const std::size_t index = peer.node * endpoints_ + peer.endpoint;
  auto& one = with_[index];
  if (!one) {
    one = std::make_unique<VerbsCorrespondence>(shared_, peer, addresses_[index]);
    if (lost_[peer.node]) one->Lose();
  }
  return *one;
}

bool VerbsMailbox::Send(EndpointAddress to, const Message& message) {
  const std::lock_guard lock(mutex_);
  return With(to).Send(message);
}

void VerbsMailbox::Poll(const std::function<void(const Message&)>& receive) {
  const std::lock_guard lock(mutex_);
  parked_.store(false, std::memory_order_relaxed);
  last_turn_ns_.store(NowNs(), std::memory_order_relaxed);
  for (; !kept_.empty(); kept_.pop_front()) {
    kept_.front().message.body = kept_.front().body;
    receive(kept_.front().message);
  }
  Receive(receive);
  Progress();
}

// What is from nobody, or not from where it says, is dropped.
void VerbsMailbox::Receive(const std::function<void(const Message&)>& receive) {
  datagrams_->Receive([&](Bytes datagram, std::uint32_t queue_pair) {
    VerbsPiece piece;
    if (datagram.size() < sizeof piece) return;
    std::memcpy(&piece, datagram.data(), sizeof piece);
    if (piece.node >= lost_.size() || piece.endpoint >= endpoints_) return;
    VerbsCorrespondence& from = With({piece.node, piece.endpoint});
    if (from.peer_queue_pair() == queue_pair) from.Take(datagram, receive);
  });
}

void VerbsMailbox::Progress() {
  due_ns_ = 0;
  if (shared_.active.empty()) return;
  const std::uint64_t now_ns = NowNs();
  std::erase_if(shared_.active, [&](VerbsCorrespondence* one) {
    const std::uint64_t due_ns = one->Progress(now_ns);
    if (due_ns != 0) due_ns_ = due_ns_ == 0 ? due_ns : std::min(due_ns_, due_ns);
    return due_ns == 0;
  });
}

bool VerbsMailbox::all_arrived() {
  const std::lock_guard lock(mutex_);
  return datagrams_->sent() == datagrams_->posted() &&
         std::all_of(with_.begin(), with_.end(),
                     [](const auto& one) { return !one || one->all_arrived(); });
}

bool VerbsMailbox::Arm() {
  const std::lock_guard lock(mutex_);
  const bool news = datagrams_->Arm() || !kept_.empty();
  parked_.store(!news, std::memory_order_relaxed);
  return news;
}

void VerbsMailbox::Lose(NodeId node) {
  const std::lock_guard lock(mutex_);
  lost_[node] = true;
  for (std::uint32_t endpoint = 0; endpoint < endpoints_; ++endpoint) {
    const auto& one = with_[node * endpoints_ + endpoint];
    if (one) one->Lose();
  }
}

bool VerbsMailbox::Keep(std::uint64_t now_ns) {
  if (parked_.load(std::memory_order_relaxed)) return false;
  if (now_ns < last_turn_ns_.load(std::memory_order_relaxed) + kAbsentAfterNs) return true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return true;
  const std::size_t before = kept_.size();
  if (before < kMostKept) {
    Receive([&](const Message& message) {
      kept_.push_back({message, {message.body.begin(), message.body.end()}});
    });
  }
  const bool any = !shared_.active.empty();
  Progress();
  return any || kept_.size() > before;
}

VerbsMailKeeper::VerbsMailKeeper(std::vector<VerbsMailbox*> mailboxes)
    : mailboxes_(std::move(mailboxes)), thread_([this] { Run(); }) {}

VerbsMailKeeper::~VerbsMailKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void VerbsMailKeeper::Run() {
  std::uint64_t busy_ns = 0;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const std::uint64_t now_ns = NowNs();
    for (VerbsMailbox* const mailbox : mailboxes_) {
      if (mailbox->Keep(now_ns)) busy_ns = now_ns;
    }
    end_.wait_for(lock, now_ns < busy_ns + kBusyForNs ? kLookAgain : kLookSeldom);
  }
}

}  // namespace slimgraph
