#include "slimgraph/launch/internal/control_plane.h"

#include <sched.h>
#include <sys/syscall.h>

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/waits.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kHeartbeatNs = 500'000'000;
// A peer is declared dead after this many of our own heartbeats without a frame from it. Counting
// heartbeats instead of time matters when this thread or the whole machine is held up: no peer is
// then blamed for frames that were not read or not sent meanwhile.
constexpr std::uint32_t kSilentBeats = 6;
constexpr NodeId kNobody = ~NodeId{0};
constexpr std::uint64_t kSliceNs = 100'000;
constexpr std::chrono::milliseconds kDrainPollInterval{100};
// A failure of a node may be the consequence of another node's death. The hub waits this long for
// the death to be noticed before it declares the failure.
constexpr std::uint64_t kFailureDelayNs = 100'000'000;

// Asks Linux for short time slices, so that the scheduler runs this thread soon after it wakes.
// Without this, on a machine with 20 times more threads than processors, a control thread was seen
// to wait 4 s for a processor, and its node was declared dead. Linux before 6.12 ignores it.
void RequestShortSlices() {
  struct {  // sched_attr, which glibc does not declare
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns, deadline_ns, period_ns;
  } attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime_ns = kSliceNs;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

Error ErrorOf(const Loss& loss) {
  return {static_cast<ErrorKind>(loss.exit_code),
          fmt::format("node {}: {}", loss.node, loss.reason)};
}

Frame PartAbortedFrame(std::uint32_t tag, const Loss& loss) {
  return {FrameType::kPartAborted,
          static_cast<std::uint8_t>(loss.exit_code),
          static_cast<std::uint16_t>(loss.node),
          {tag, 0},
          loss.reason};
}

}  // namespace

ControlPlane::ControlPlane(NodeId self, NodeId nodes, Event wake)
    : self_(self), nodes_(nodes), wake_(std::move(wake)), alive_(nodes) {
  for (auto& alive : alive_) alive = true;
  for (auto& node : aborting_node_) node = kNobody;
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::Form(JoinConfig config,
                                                         std::string_view host_identity) {
  SLIM_ASSIGN(Event wake, Event::Make());
  std::unique_ptr<ControlPlane> control(
      new ControlPlane(config.self, config.nodes, std::move(wake)));
  SLIM_TRY(config.self == 0 ? control->GatherPeers(config, host_identity)
                            : control->JoinAtHub(config, host_identity));
  return control;
}

void ControlPlane::Start(std::function<void(const Loss&)> on_loss, std::vector<int> depends_on,
                         std::function<void()> on_orphaned) {
  on_loss_ = std::move(on_loss);
  depends_on_ = std::move(depends_on);
  on_orphaned_ = std::move(on_orphaned);
  thread_ = Thread([this] { Run(); });
}

ControlPlane::~ControlPlane() {
  stop_ = true;
  wake_.Set();
  if (thread_.joinable()) thread_.join();
}

std::string ControlPlane::loss() const {
  const std::lock_guard lock(mutex_);
  return first_loss_ ? fmt::format("node {}: {}", first_loss_->node, first_loss_->reason) : "";
}

void ControlPlane::AddWatcher(std::weak_ptr<LossWatch::Watcher> watcher) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [](const auto& one) { return one.expired(); });
  watchers_.push_back(std::move(watcher));
}

Result<std::vector<std::string>> ControlPlane::Exchange(std::string_view mine, bool last,
                                                        std::uint32_t tag,
                                                        const std::vector<NodeId>& among) {
  std::unique_lock lock(mutex_);
  const ExchangeId exchange{tag, sequences_[tag]++};
  if (last) leaving_ = true;
  if (is_hub()) {
    AddContribution(0, exchange, std::string(mine));
  } else {
    SendTo(peers_[0], {FrameType::kContribution, 0, static_cast<std::uint16_t>(self_), exchange,
                       std::string(mine)});
  }
  const auto dead = [&] {
    return std::find_if(among.begin(), among.end(), [&](NodeId node) { return !alive(node); });
  };
  const auto over = [&] {
    return gathered_.contains(exchange) || first_loss_ || stop_ || dead() != among.end() ||
           part_errors_.contains(tag % kNumBaseTags);
  };
  WaitAndLog(
      self_, [&](auto limit) { return changed_.wait_for(lock, limit, over); },
      [&] { return DescribeWait(exchange); });
  const auto part_error = part_errors_.find(tag % kNumBaseTags);
  if (part_error != part_errors_.end()) return tl::unexpected<Error>(ErrorOf(part_error->second));
  const auto found = gathered_.find(exchange);
  if (found == gathered_.end()) {
    if (first_loss_) return EnvironmentError("{}", first_loss_->reason);
    if (stop_) return EnvironmentError("the job has ended");
    return EnvironmentError("node {} has died", *dead());
  }
  std::vector<std::string> parts = std::move(found->second);
  gathered_.erase(found);
  return parts;
}

// Describes the wait for an exchange. Only the hub knows whose contribution is missing.
std::string ControlPlane::DescribeWait(ExchangeId exchange) const {
  const std::string who = is_hub() ? NodesInWords(Missing(exchange)) : "node 0 to hear from all";
  return fmt::format("{} in control exchange {} of tag {}", who, exchange.sequence, exchange.tag);
}

void ControlPlane::Fail(int exit_code, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!own_failure_) own_failure_ = Loss{self_, exit_code, reason};
  wake_.Set();
}

void ControlPlane::AbortParts(std::uint32_t tag, const Error& error) {
  tag %= kNumBaseTags;
  std::unique_lock lock(mutex_);
  pending_aborts_.try_emplace(tag, Loss{self_, error.exit_code(), error.message});
  wake_.Set();
  changed_.wait(lock, [&] { return part_errors_.contains(tag) || first_loss_ || stop_; });
}

std::optional<Error> ControlPlane::part_error(std::uint32_t tag) const {
  const std::lock_guard lock(mutex_);
  const auto found = part_errors_.find(tag % kNumBaseTags);
  if (found == part_errors_.end()) return std::nullopt;
  return ErrorOf(found->second);
}

void ControlPlane::SayGoodbye() {
  const std::lock_guard lock(mutex_);
  leaving_ = true;
  for (Peer& peer : peers_) {
    if (peer.fd) SendTo(peer, {FrameType::kBye, 0, static_cast<std::uint16_t>(self_), {}, {}});
  }
}

// A partly sent frame spoils all that follow, so the connection is shut down: ReadFrom() notices.
void ControlPlane::SendTo(Peer& peer, const Frame& frame) {
  const int fd = peer.fd.get();
  if (!peer.fd || SendFrame(fd, peer.sealing ? peer.sealing->Seal(frame) : frame)) return;
  ShutDown(fd);
}

void ControlPlane::AddContribution(NodeId node, ExchangeId exchange, std::string body) {
  auto& parts = contributions_[exchange];
  parts.resize(nodes_);
  parts[node] = std::move(body);
  Complete(exchange);
}

// On the hub: the living nodes that have not contributed yet.
std::vector<NodeId> ControlPlane::Missing(ExchangeId exchange) const {
  const auto parts = contributions_.find(exchange);
  std::vector<NodeId> missing;
  for (NodeId node = 0; node < nodes_ && parts != contributions_.end(); ++node) {
    if (!parts->second[node] && alive(node)) missing.push_back(node);
  }
  return missing;
}

// Sends the gathered exchange to all nodes once all living nodes have contributed; returns whether
// they have. After a loss that the job does not survive, no exchange completes.
bool ControlPlane::Complete(ExchangeId exchange) {
  if (first_loss_ || !Missing(exchange).empty()) return false;
  std::vector<std::string> all;
  for (auto& part : contributions_[exchange]) all.push_back(std::move(part).value_or(""));
  contributions_.erase(exchange);
  const Frame frame{FrameType::kGathered, 0, 0, exchange, PackStrings(all)};
  // Sends heartbeats in between, so that nodes that are late in this loop do not declare the hub
  // dead.
  std::uint64_t next_beat_ns = NowNs() + kHeartbeatNs;
  for (Peer& peer : peers_) {
    SendTo(peer, frame);
    if (NowNs() < next_beat_ns) continue;
    SendHeartbeats();
    next_beat_ns = NowNs() + kHeartbeatNs;
  }
  gathered_[exchange] = std::move(all);
  changed_.notify_all();
  return true;
}

// A job cannot continue without its hub.
bool ControlPlane::Survives(const Loss& loss) const {
  return survive_deaths_ && loss.died && loss.node != 0;
}

void ControlPlane::Run() {
  RequestShortSlices();
  std::vector<pollfd> waits;
  std::uint64_t next_beat_ns = NowNs() + kHeartbeatNs;
  // Frames that arrived together with the last frame of the joining phase are in the readers'
  // buffers.
  for (Peer& peer : peers_) ReadFrom(peer);
  while (!stop_) {
    waits.clear();
    waits.push_back({wake_.fd(), POLLIN, 0});
    for (const int fd : depends_on_) waits.push_back({fd, 0, 0});
    for (const Peer& peer : peers_) waits.push_back({peer.fd.get(), POLLIN, 0});
    const std::uint64_t now = NowNs();
    const std::uint64_t next_ns =
        failure_ ? std::min(next_beat_ns, failure_at_ns_ + kFailureDelayNs) : next_beat_ns;
    Poll(waits, std::chrono::nanoseconds(now < next_ns ? next_ns - now : 0));
    if ((waits[0].revents & POLLIN) != 0) {
      wake_.Clear();
      std::unique_lock lock(mutex_);
      const auto failure = std::exchange(own_failure_, std::nullopt);
      const auto aborts = std::exchange(pending_aborts_, {});
      lock.unlock();
      if (failure) ReportFailure(*failure);
      for (const auto& [tag, loss] : aborts) ReportFailure(loss, tag);
    }
    for (std::size_t i = 1; i <= depends_on_.size(); ++i) {
      if (waits[i].revents != 0 && !leaving_) on_orphaned_();
    }
    const std::size_t first_peer = 1 + depends_on_.size();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (waits[first_peer + i].revents != 0) ReadFrom(peers_[i]);
    }
    if (failure_ && NowNs() >= failure_at_ns_ + kFailureDelayNs) {
      Declare(*std::exchange(failure_, std::nullopt));
    }
    if (NowNs() >= next_beat_ns) {
      CheckAndSendHeartbeats();
      next_beat_ns = NowNs() + kHeartbeatNs;
    }
  }
}

void ControlPlane::ReadFrom(Peer& peer) {
  const bool open = peer.reader.Fill(peer.fd.get());
  peer.silent_beats = 0;
  const Status sound = HandleAll(peer);
  if (open && sound) return;
  bool hub_left = false;
  {
    // Reads `leaving_` once: the main thread may start to leave right after this block. Then it
    // must learn of the loss.
    const std::lock_guard lock(mutex_);
    peer.fd.Reset();
    hub_left = leaving_ && !is_hub();
    // A gathered exchange is read before the end of the connection. So if the hub's connection ends
    // while we leave, the hub has completed the last exchange, and all nodes have reached it.
    if (hub_left) {
      stop_ = true;
      changed_.notify_all();
    }
  }
  if (peer.left || hub_left) return;
  Declare({.node = peer.node,
           .exit_code = static_cast<int>(ErrorKind::kEnvironment),
           .reason = sound ? CauseOfDeath(peer.node) : sound.error().message,
           .died = sound.has_value()});
}

Status ControlPlane::HandleAll(Peer& peer) {
  while (true) {
    SLIM_ASSIGN(auto frame, peer.reader.Next());
    if (!frame) return {};
    SLIM_ASSIGN(Frame opened, peer.sealing ? peer.sealing->Open(*frame) : std::move(*frame));
    SLIM_TRY(CheckFrame(opened, nodes_));
    SLIM_TRY(Handle(peer, std::move(opened)));
  }
}

Status ControlPlane::Handle(Peer& peer, Frame frame) {
  switch (frame.type) {
    case FrameType::kContribution: {
      const std::lock_guard lock(mutex_);
      AddContribution(peer.node, frame.exchange, std::move(frame.body));
      break;
    }
    case FrameType::kGathered: {
      SLIM_ASSIGN(auto parts, UnpackStrings(frame.body));
      if (parts.size() != nodes_) return EnvironmentError("it sent an exchange of other nodes");
      const std::lock_guard lock(mutex_);
      gathered_[frame.exchange] = std::move(parts);
      changed_.notify_all();
      break;
    }
    case FrameType::kFailed:
      DeferFailure({peer.node, frame.exit_code, std::move(frame.body)});
      break;
    case FrameType::kLost:
    case FrameType::kDied:
      Declare({frame.node, frame.exit_code, std::move(frame.body), /*announced=*/true,
               frame.type == FrameType::kDied});
      break;
    case FrameType::kPartAborted:
      DeclareAborted(frame.exchange.tag, {frame.node, frame.exit_code, std::move(frame.body)});
      break;
    case FrameType::kBye:
      peer.left = true;
      break;
    default:
      break;
  }
  return {};
}

void ControlPlane::CheckAndSendHeartbeats() {
  for (Peer& peer : peers_) {
    if (!peer.fd || peer.left || ++peer.silent_beats <= kSilentBeats) continue;
    {
      const std::lock_guard lock(mutex_);
      peer.fd.Reset();
    }
    Declare({peer.node, static_cast<int>(ErrorKind::kEnvironment),
             fmt::format("has not answered for {} s: it is stopped, or its link is cut",
                         kSilentBeats * kHeartbeatNs / 1'000'000'000)});
  }
  const std::lock_guard lock(mutex_);
  SendHeartbeats();
}

void ControlPlane::SendHeartbeats() {
  const Frame heartbeat{FrameType::kHeartbeat, 0, static_cast<std::uint16_t>(self_), {}, {}};
  for (Peer& peer : peers_) SendTo(peer, heartbeat);
}

// Reports a failure of the whole job, or of the parts with `tag`, to the hub. The hub decides,
// and sends its decision also to the node that failed.
void ControlPlane::ReportFailure(const Loss& failure, std::optional<std::uint32_t> tag) {
  if (is_hub()) return tag ? DeclareAborted(*tag, failure) : DeferFailure(failure);
  const std::lock_guard lock(mutex_);
  if (tag) return SendTo(peers_[0], PartAbortedFrame(*tag, failure));
  SendTo(peers_[0], {FrameType::kFailed,
                     static_cast<std::uint8_t>(failure.exit_code),
                     static_cast<std::uint16_t>(self_),
                     {},
                     failure.reason});
}

void ControlPlane::DeferFailure(Loss failure) {
  failure.failed = true;
  if (failure_) return;
  failure_ = std::move(failure);
  failure_at_ns_ = NowNs();
}

void ControlPlane::Drain() {
  for (const Peer& peer : peers_) {
    if (peer.fd) EndSending(peer.fd.get());
  }
  const std::uint64_t deadline_ns = NowNs() + kHeartbeatNs;
  for (Peer& peer : peers_) {
    while (peer.fd && NowNs() < deadline_ns) {
      const bool readable = AwaitReadable(peer.fd.get(), kDrainPollInterval);
      if (readable && !peer.reader.Fill(peer.fd.get())) break;
    }
  }
}

// Only the control thread calls this, so all nodes learn of losses in the same order.
void ControlPlane::Declare(const Loss& loss) {
  const bool survives = Survives(loss);
  std::vector<std::weak_ptr<LossWatch::Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    if (!alive(loss.node)) return;
    alive_[loss.node].store(false, std::memory_order_release);
    unharmed_.store(false, std::memory_order_release);
    if (is_hub()) {
      const Frame word{loss.died ? FrameType::kDied : FrameType::kLost,
                       static_cast<std::uint8_t>(loss.exit_code),
                       static_cast<std::uint16_t>(loss.node),
                       {},
                       loss.reason};
      for (Peer& peer : peers_) SendTo(peer, word);
    }
    if (!survives) {
      if (!first_loss_) first_loss_ = loss;
    } else if (is_hub()) {
      for (auto at = contributions_.begin(); at != contributions_.end();) {
        Complete(at++->first);  // Complete() erases it
      }
    }
    watchers = watchers_;
    changed_.notify_all();
  }
  CallWatchers(watchers, loss.node);
  if (!survives) on_loss_(loss);
}

// The first report gives the reason.
void ControlPlane::DeclareAborted(std::uint32_t tag, const Loss& loss) {
  const NodeId node = loss.node;
  std::vector<std::weak_ptr<LossWatch::Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    const auto [told, first] = part_errors_.try_emplace(tag, loss);
    if (!first) return;
    aborting_node_[tag].store(node, std::memory_order_release);
    unharmed_.store(false, std::memory_order_release);
    if (is_hub()) {
      for (Peer& peer : peers_) SendTo(peer, PartAbortedFrame(tag, told->second));
    }
    watchers = watchers_;
    changed_.notify_all();
  }
  CallWatchers(watchers, node, tag);
}

// Calls all watchers, or only those of parts with `tag`.
void ControlPlane::CallWatchers(const std::vector<std::weak_ptr<LossWatch::Watcher>>& watchers,
                                NodeId node, std::optional<std::uint32_t> tag) {
  for (const auto& weak : watchers) {
    const auto watcher = weak.lock();
    if (!watcher || (tag && watcher->tag % kNumBaseTags != *tag)) continue;
    const std::lock_guard lock(watcher->mutex);
    if (watcher->call) watcher->call(node);
  }
}

}  // namespace slimgraph
