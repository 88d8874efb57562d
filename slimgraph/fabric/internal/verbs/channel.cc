#include "slimgraph/fabric/internal/verbs/channel.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

constexpr auto kRequestAgain = 20ms;
// How long a thread polls for outstanding operations before it sleeps: an event costs as much as
// most operations take.
constexpr std::uint64_t kSpinBeforeSleepNs = 60'000;
constexpr std::uint32_t kPollsPerClockRead = 8;  // reading the clock takes longer than a poll
constexpr std::uint32_t kMaxPollsWithoutMail = 8;

}  // namespace

Result<VerbsChannel::EndpointResources> VerbsChannel::MakeResources(const Job& job,
                                                                    const VerbsPort& port,
                                                                    std::size_t index) {
  SLIM_ASSIGN(auto device, VerbsDevice::Open(port));
  VerbsEvents events(::ibv_create_comp_channel(device->context()));
  if (!events || ::fcntl(events->fd, F_SETFL, O_NONBLOCK) != 0) {
    return EnvironmentError("cannot receive events of {}: {}", port.device, std::strerror(errno));
  }
  SLIM_ASSIGN(Poller poller, Poller::Make());
  SLIM_ASSIGN(DatagramSocket socket, DatagramSocket::Open(job.address(job.self())));
  SLIM_ASSIGN(auto mail, VerbsMailPort::Make(*device, events.get()));
  SLIM_TRY(poller.Add(events->fd, events.get(), EPOLLIN));
  SLIM_TRY(poller.Add(socket.fd(), device.get(), EPOLLIN));
  return EndpointResources{index,
                           std::move(device),
                           std::move(events),
                           std::move(poller),
                           std::move(socket),
                           std::make_unique<VerbsMailbox>(std::move(mail))};
}

VerbsChannel::VerbsChannel(const Network& network, std::uint32_t endpoint,
                           EndpointResources& resources, Faults& faults,
                           std::function<void()> closing)
    : network_(network),
      endpoint_(endpoint),
      resources_(resources),
      closing_(std::move(closing)),
      shared_{*resources.device, resources.events.get(), resources.socket},
      operations_(network.contacts.size()) {
  resources.mail->SetFaults(&faults);
}

// Takes note of deaths while it waits for acknowledgements.
VerbsChannel::~VerbsChannel() {
  resources_.mail->Close([this](std::chrono::nanoseconds limit) {
    if (loss_.exchange(false)) LoseDeadNodes();
    Sleep(limit);
  });
  closing_();
}

void VerbsChannel::Post(std::uint64_t id, std::span<const Operation> operations, bool continues) {
  LaneTo(operations.front().node, continues).Post(id, operations, continues);
}

// Queue pairs are not ordered with each other, so the link changes only when nothing is
// outstanding.
VerbsOperationLink& VerbsChannel::LaneTo(NodeId node, bool continues) {
  Lanes& lanes = operations_[node];
  if (lanes.links.empty()) {
    lanes.links.resize(network_.qps_per_peer);
  } else if (!continues && lanes.links[lanes.current]->idle()) {
    lanes.current = (lanes.current + 1) % lanes.links.size();
  }
  auto& link = lanes.links[lanes.current];
  if (!link) {
    const VerbsHello hello{.token = network_.contacts[node].token,
                           .node = network_.self,
                           .endpoint = static_cast<std::uint16_t>(endpoint_)};
    link = std::make_unique<VerbsOperationLink>(
        shared_, network_.contacts[node], hello, static_cast<std::uint32_t>(lanes.current),
        network_.regions, resources_.port, lanes.ring, ended_);
    if (!network_.job.alive(node)) link->Lose();
  }
  return *link;
}

std::optional<std::uint64_t> VerbsChannel::posts() const {
  std::uint64_t sum = 0;
  for (const Lanes& lanes : operations_) {
    for (const auto& link : lanes.links) sum += link ? link->posts() : 0;
  }
  return sum;
}

bool VerbsChannel::Send(EndpointAddress to, const Message& message) {
  return resources_.mail->Send(to, message);
}

void VerbsChannel::Poll(std::vector<PartResult>& ended,
                        const std::function<void(const Message&)>& receive) {
  Progress();
  // Completions of operations are reported before messages are polled. But messages are polled
  // after at most kMaxPollsWithoutMail calls.
  if (ended_.empty() || ++polls_without_mail_ == kMaxPollsWithoutMail) {
    polls_without_mail_ = 0;
    resources_.mail->Poll(receive);
  }
  ended.insert(ended.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

void VerbsChannel::Progress() {
  if (loss_.load(std::memory_order_relaxed) && loss_.exchange(false)) LoseDeadNodes();
  if (AnyConnecting()) TakeReplies();
  auto& active = shared_.active;
  for (std::size_t i = 0; i < active.size();) {
    if (active[i]->Progress()) {
      ++i;
    } else {
      active[i] = active.back();
      active.pop_back();
    }
  }
}

bool VerbsChannel::AnyConnecting() const {
  return std::any_of(shared_.active.begin(), shared_.active.end(),
                     [](const VerbsLink* link) { return link->connecting(); });
}

void VerbsChannel::TakeReplies() {
  VerbsReply reply;
  SocketAddress from;
  while (const auto bytes =
             resources_.socket.Receive(std::as_writable_bytes(std::span(&reply, 1)), from)) {
    if (*bytes != sizeof reply) continue;
    for (std::size_t i = 0; i < shared_.active.size(); ++i) shared_.active[i]->OnReply(reply);
  }
}

void VerbsChannel::Park(std::chrono::nanoseconds limit) {
  const std::uint64_t start_ns = NowNs();
  for (std::uint32_t polls = 1; !shared_.active.empty() && ended_.empty(); ++polls) {
    Progress();
    if (polls % kPollsPerClockRead == 0 && NowNs() - start_ns >= kSpinBeforeSleepNs) break;
  }
  if (!ended_.empty() || loss_ || resources_.mail->Arm()) return;
  for (VerbsLink* const link : shared_.active) link->Arm();
  Progress();  // a request that ended before Arm() causes no event
  if (ended_.empty()) {
    if (AnyConnecting()) limit = std::min<std::chrono::nanoseconds>(limit, kRequestAgain);
    Sleep(resources_.mail->LimitSleep(limit));
  }
  resources_.mail->NoteAwake();
}

void VerbsChannel::Sleep(std::chrono::nanoseconds limit) {
  resources_.poller.Wait(limit);
  for (const epoll_event& event : resources_.poller.Ready()) {
    if (event.data.ptr == resources_.device.get()) {
      TakeReplies();
      continue;
    }
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    while (::ibv_get_cq_event(resources_.events.get(), &queue, &context) == 0) {
      ::ibv_ack_cq_events(queue, 1);
    }
  }
}

void VerbsChannel::NoteLoss() {
  loss_ = true;
  Wake();
}

void VerbsChannel::LoseDeadNodes() {
  for (NodeId node = 0; node < operations_.size(); ++node) {
    if (network_.job.alive(node)) continue;
    for (const auto& link : operations_[node].links) {
      if (link) link->Lose();
    }
    resources_.mail->Lose(node);
  }
}

}  // namespace slimgraph
