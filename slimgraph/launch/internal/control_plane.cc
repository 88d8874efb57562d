#include "slimgraph/launch/internal/control_plane.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kHeartbeatNs = 500'000'000;
// How long a silence is a death is told by one's own heartbeats: when this thread or all of the
// machine is held up, nobody is to blame for what has not been read, or said, in that time.
constexpr std::uint32_t kSilentBeats = 6;
constexpr NodeId kNobody = ~NodeId{0};
// A node that fails because another has died may say so before the death is noticed.
constexpr std::uint64_t kSecondThoughtNs = 100'000'000;

void Ring(int event_fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(event_fd, &one, sizeof one);
}

Error ErrorOf(const Loss& loss) {
  return {static_cast<ErrorKind>(loss.exit_code),
          fmt::format("node {}: {}", loss.node, loss.reason)};
}

Frame GivenUpFrame(std::uint32_t line, const Loss& loss) {
  return {FrameType::kGivenUp,
          static_cast<std::uint8_t>(loss.exit_code),
          static_cast<std::uint16_t>(loss.node),
          {line, 0},
          loss.reason};
}

}  // namespace

ControlPlane::ControlPlane(NodeId self, NodeId nodes)
    : self_(self), nodes_(nodes), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), alive_(nodes) {
  for (auto& alive : alive_) alive = true;
  for (auto& node : who_gave_up_) node = kNobody;
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::Form(JobPlace place,
                                                         std::string_view host_identity,
                                                         std::function<void(const Loss&)> on_loss,
                                                         std::vector<int> depends_on,
                                                         std::function<void()> on_orphaned) {
  std::unique_ptr<ControlPlane> control(new ControlPlane(place.self, place.nodes));
  control->on_loss_ = std::move(on_loss);
  control->depends_on_ = std::move(depends_on);
  control->on_orphaned_ = std::move(on_orphaned);
  SLIM_TRY(place.self == 0 ? control->GatherPeers(place, host_identity)
                           : control->ArriveAtHub(place, host_identity));
  control->thread_ = std::thread([raw = control.get()] { raw->Run(); });
  return control;
}

ControlPlane::~ControlPlane() {
  stop_ = true;
  Ring(wake_.get());
  if (thread_.joinable()) thread_.join();
}

std::string ControlPlane::loss() const {
  const std::lock_guard lock(mutex_);
  return first_loss_ ? first_loss_->reason : "";
}

void ControlPlane::AddWatcher(std::weak_ptr<LossWatch::Watcher> watcher) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [](const auto& one) { return one.expired(); });
  watchers_.push_back(std::move(watcher));
}

Result<std::vector<std::string>> ControlPlane::Exchange(std::string_view mine, bool last,
                                                        std::uint32_t line,
                                                        const std::vector<NodeId>& among) {
  std::unique_lock lock(mutex_);
  const ExchangeId exchange{line, sequences_[line]++};
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
  changed_.wait(lock, [&] {
    return gathered_.contains(exchange) || first_loss_ || stop_ || dead() != among.end() ||
           given_up_.contains(line % kLines);
  });
  const auto given_up = given_up_.find(line % kLines);
  if (given_up != given_up_.end()) return tl::unexpected<Error>(ErrorOf(given_up->second));
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

void ControlPlane::Fail(int exit_code, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  own_failure_ = Loss{self_, exit_code, reason};
  Ring(wake_.get());
}

void ControlPlane::GiveUpLine(std::uint32_t line, const Error& error) {
  line %= kLines;
  std::unique_lock lock(mutex_);
  giving_up_.try_emplace(line, Loss{self_, error.exit_code(), error.message});
  Ring(wake_.get());
  changed_.wait(lock, [&] { return given_up_.contains(line) || first_loss_ || stop_; });
}

std::optional<Error> ControlPlane::given_up(std::uint32_t line) const {
  const std::lock_guard lock(mutex_);
  const auto found = given_up_.find(line % kLines);
  if (found == given_up_.end()) return std::nullopt;
  return ErrorOf(found->second);
}

void ControlPlane::SayGoodbye() {
  const std::lock_guard lock(mutex_);
  leaving_ = true;
  for (Peer& peer : peers_) {
    if (peer.fd) SendTo(peer, {FrameType::kBye, 0, static_cast<std::uint16_t>(self_), {}, {}});
  }
}

// A frame that was sent in part would spoil all that follow. The end of the connection is noticed
// by reading from it.
void ControlPlane::SendTo(Peer& peer, const Frame& frame) {
  if (peer.fd && !SendFrame(peer.fd.get(), frame)) ::shutdown(peer.fd.get(), SHUT_RDWR);
}

void ControlPlane::AddContribution(NodeId node, ExchangeId exchange, std::string body) {
  auto& parts = contributions_[exchange];
  parts.resize(nodes_);
  parts[node] = std::move(body);
  Complete(exchange);
}

// Passes an exchange on once all that live have contributed; whether they have. Of a job that does
// not survive a death no exchange is complete any more.
bool ControlPlane::Complete(ExchangeId exchange) {
  if (first_loss_) return false;
  auto& parts = contributions_[exchange];
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!parts[node] && alive(node)) return false;
  }
  std::vector<std::string> all;
  for (auto& part : parts) all.push_back(std::move(part).value_or(""));
  contributions_.erase(exchange);
  const Frame frame{FrameType::kGathered, 0, 0, exchange, PackStrings(all)};
  // Those whose turn comes late shall not take the hub for dead meanwhile.
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

// Without the hub there is no job.
bool ControlPlane::Survives(const Loss& loss) const {
  return survive_deaths_ && loss.died && loss.node != 0;
}

void ControlPlane::Run() {
  std::vector<pollfd> waits;
  std::uint64_t next_beat_ns = NowNs() + kHeartbeatNs;
  while (!stop_) {
    waits.clear();
    waits.push_back({wake_.get(), POLLIN, 0});
    for (const int fd : depends_on_) waits.push_back({fd, 0, 0});
    for (const Peer& peer : peers_) waits.push_back({peer.fd.get(), POLLIN, 0});
    const std::uint64_t now = NowNs();
    const std::uint64_t next_ns =
        failure_ ? std::min(next_beat_ns, failure_at_ns_ + kSecondThoughtNs) : next_beat_ns;
    const auto wait_ms = now < next_ns ? static_cast<int>((next_ns - now) / 1'000'000 + 1) : 0;
    ::poll(waits.data(), waits.size(), wait_ms);
    if ((waits[0].revents & POLLIN) != 0) {
      std::uint64_t rings = 0;
      [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &rings, sizeof rings);
      std::unique_lock lock(mutex_);
      const auto failure = std::exchange(own_failure_, std::nullopt);
      const auto giving_up = std::exchange(giving_up_, {});
      lock.unlock();
      if (failure) GiveUp(*failure);
      for (const auto& [line, loss] : giving_up) GiveUp(loss, line);
    }
    for (std::size_t i = 1; i <= depends_on_.size(); ++i) {
      if (waits[i].revents != 0 && !leaving_) on_orphaned_();
    }
    const std::size_t first_peer = 1 + depends_on_.size();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (waits[first_peer + i].revents != 0) HearFrom(peers_[i]);
    }
    if (failure_ && NowNs() >= failure_at_ns_ + kSecondThoughtNs) {
      Declare(*std::exchange(failure_, std::nullopt));
    }
    if (NowNs() >= next_beat_ns) {
      BeatHearts();
      next_beat_ns = NowNs() + kHeartbeatNs;
    }
  }
}

void ControlPlane::HearFrom(Peer& peer) {
  const bool open = peer.reader.Fill(peer.fd.get());
  peer.silent_beats = 0;
  while (auto frame = peer.reader.Next()) Handle(peer, std::move(*frame));
  if (open) return;
  {
    const std::lock_guard lock(mutex_);
    peer.fd.Reset();
    // An exchange that the hub has completed is read before its end; so the end of a leaving hub
    // means that all have been there.
    if (leaving_ && !is_hub()) {
      stop_ = true;
      changed_.notify_all();
    }
  }
  if (peer.left || (leaving_ && !is_hub())) return;
  Declare({.node = peer.node,
           .exit_code = static_cast<int>(ErrorKind::kEnvironment),
           .reason = CauseOfDeath(peer.node),
           .died = true});
}

void ControlPlane::Handle(Peer& peer, Frame frame) {
  switch (frame.type) {
    case FrameType::kContribution: {
      const std::lock_guard lock(mutex_);
      AddContribution(peer.node, frame.exchange, std::move(frame.body));
      break;
    }
    case FrameType::kGathered: {
      const std::lock_guard lock(mutex_);
      gathered_[frame.exchange] = UnpackStrings(frame.body);
      changed_.notify_all();
      break;
    }
    case FrameType::kFailed:
      Suspect({peer.node, frame.exit_code, std::move(frame.body)});
      break;
    case FrameType::kLost:
    case FrameType::kDied:
      Declare({frame.node, frame.exit_code, std::move(frame.body), /*announced=*/true,
               frame.type == FrameType::kDied});
      break;
    case FrameType::kGivenUp:
      DeclareGivenUp(frame.exchange.line, {frame.node, frame.exit_code, std::move(frame.body)});
      break;
    case FrameType::kBye:
      peer.left = true;
      break;
    default:
      break;
  }
}

void ControlPlane::BeatHearts() {
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

// The hub decides; it answers a node that gives up as it tells all others. With a line: of what is
// formed on that.
void ControlPlane::GiveUp(const Loss& failure, std::optional<std::uint32_t> line) {
  if (is_hub()) return line ? DeclareGivenUp(*line, failure) : Suspect(failure);
  const std::lock_guard lock(mutex_);
  if (line) return SendTo(peers_[0], GivenUpFrame(*line, failure));
  SendTo(peers_[0], {FrameType::kFailed,
                     static_cast<std::uint8_t>(failure.exit_code),
                     static_cast<std::uint16_t>(self_),
                     {},
                     failure.reason});
}

void ControlPlane::Suspect(Loss failure) {
  if (failure_) return;
  failure_ = std::move(failure);
  failure_at_ns_ = NowNs();
}

void ControlPlane::Drain() {
  for (const Peer& peer : peers_) {
    if (peer.fd) ::shutdown(peer.fd.get(), SHUT_WR);
  }
  const std::uint64_t deadline_ns = NowNs() + kHeartbeatNs;
  for (Peer& peer : peers_) {
    while (peer.fd && NowNs() < deadline_ns) {
      pollfd wait{peer.fd.get(), POLLIN, 0};
      ::poll(&wait, 1, 100);
      if (wait.revents != 0 && !peer.reader.Fill(peer.fd.get())) break;
    }
  }
}

// Only the control thread comes here, so every node hears of losses in one order.
void ControlPlane::Declare(const Loss& loss) {
  const bool survives = Survives(loss);
  std::vector<std::weak_ptr<LossWatch::Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    if (!alive(loss.node)) return;
    alive_[loss.node].store(false, std::memory_order_release);
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
        Complete(at++->first);  // which takes it out
      }
    }
    watchers = watchers_;
    changed_.notify_all();
  }
  Call(watchers, loss.node);
  if (!survives) on_loss_(loss);
}

// Whoever comes first gives the reason.
void ControlPlane::DeclareGivenUp(std::uint32_t line, const Loss& loss) {
  const NodeId node = loss.node;
  std::vector<std::weak_ptr<LossWatch::Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    const auto [told, first] = given_up_.try_emplace(line, loss);
    if (!first) return;
    who_gave_up_[line].store(node, std::memory_order_release);
    if (is_hub()) {
      for (Peer& peer : peers_) SendTo(peer, GivenUpFrame(line, told->second));
    }
    watchers = watchers_;
    changed_.notify_all();
  }
  Call(watchers, node, line);
}

// All of them, or those of parts that are formed on a line.
void ControlPlane::Call(const std::vector<std::weak_ptr<LossWatch::Watcher>>& watchers, NodeId node,
                        std::optional<std::uint32_t> line) {
  for (const auto& weak : watchers) {
    const auto watcher = weak.lock();
    if (!watcher || (line && watcher->line % kLines != *line)) continue;
    const std::lock_guard lock(watcher->mutex);
    if (watcher->call) watcher->call(node);
  }
}

}  // namespace slimgraph
