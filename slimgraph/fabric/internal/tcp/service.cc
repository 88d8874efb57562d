#include "slimgraph/fabric/internal/tcp/service.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

namespace {
constexpr std::chrono::milliseconds kUntilDescriptorsAreFree{10};
constexpr std::chrono::microseconds kUntilAllIsRead{100};
constexpr std::uint64_t kIntroductionNs = 10'000'000'000;  // from accepting a connection to its
                                                           // hello
constexpr std::chrono::nanoseconds kPollForLate = std::chrono::seconds(1);
constexpr std::size_t kMaxStrangers = 256;
constexpr int kAcceptedAtOnce = 64;  // then the connections that are open get their turn
}  // namespace

class TcpService::Listener : public TcpLink {
 public:
  using TcpLink::TcpLink;
  void OnReady() override { ready_ = true; }

  // Accepts the next connection, if any. If descriptors are exhausted, the connection stays queued.
  UniqueFd Take() {
    if (!ready_) return {};
    UniqueFd taken = Accept(fd(), SOCK_NONBLOCK);
    if (taken) return taken;
    // The listener stays ready, so without a sleep this thread would spin.
    if (errno == EMFILE || errno == ENFILE) SleepFor(kUntilDescriptorsAreFree);
    if (errno != EINTR && errno != ECONNABORTED) ready_ = false;
    return taken;
  }

 private:
  bool ready_ = false;
};

// A connection that has not identified itself yet.
class TcpService::Stranger : public TcpLink {
 public:
  Stranger(Poller& poller, UniqueFd fd)
      : TcpLink(poller, std::move(fd)), deadline_ns_(NowNs() + kIntroductionNs) {}

  void OnReady() override {
    in_.Refresh();
    const StreamState state = in_.Need(fd(), sizeof(TcpHello), 0);
    if (IsOver(state)) Disconnect();
    introduced_ = state == StreamState::kDone;
  }

  bool introduced() const { return introduced_; }
  TcpHello hello() const {
    TcpHello hello;
    std::memcpy(&hello, in_.available().data(), sizeof hello);
    return hello;
  }
  bool late() const { return NowNs() >= deadline_ns_; }

  // Nothing has been sent before, so the socket has room.
  bool Send(const Proof& welcome) {
    return SendBytes(fd(), std::as_bytes(std::span(welcome))) ==
           static_cast<ssize_t>(welcome.size());
  }
  UniqueFd ReleaseSocket() { return Release(); }

 private:
  ReceiveBuffer in_{sizeof(TcpHello)};
  bool introduced_ = false;
  const std::uint64_t deadline_ns_;
};

TcpService::TcpService(Poller poller, UniqueFd listener, const AdmissionRules& rules,
                       std::function<void(MessageConnection)> take_messages)
    : poller_(std::move(poller)),
      rules_(rules),
      take_messages_(std::move(take_messages)),
      listener_(std::make_unique<Listener>(poller_, std::move(listener))),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

TcpService::~TcpService() {
  thread_.request_stop();
  poller_.Set();
}

void TcpService::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const epoll_event& event : poller_.Ready()) {
      static_cast<TcpLink*>(event.data.ptr)->OnReady();
    }
    bool unfinished = false;
    for (const auto& link : served_) {
      if (link->unfinished()) link->OnReady();
      unfinished = unfinished || link->unfinished();
    }
    unfinished = TakeConnections() || unfinished;
    AdmitOrDropStrangers();
    DropLost();
    RunTasks();
    if (unfinished || stop.stop_requested()) continue;
    poller_.Wait(strangers_.empty() ? std::chrono::nanoseconds(kUntilWoken) : kPollForLate);
  }
}

// Returns whether there may be more connections.
bool TcpService::TakeConnections() {
  for (int taken = 0; taken < kAcceptedAtOnce; ++taken) {
    UniqueFd fd = listener_->Take();
    if (!fd) return false;
    TuneTcp(fd.get());
    strangers_.push_back(std::make_unique<Stranger>(poller_, std::move(fd)));
    if (!strangers_.back()->lost()) strangers_.back()->OnReady();
  }
  return true;
}

// A late stranger is checked once more, because this thread itself may have been delayed.
void TcpService::AdmitOrDropStrangers() {
  std::erase_if(strangers_, [this](const auto& stranger) {
    const bool late = stranger->late();
    if (late && !stranger->lost()) stranger->OnReady();
    if (stranger->lost()) return true;
    if (!stranger->introduced()) return late;
    Admit(*stranger);
    return true;
  });
  if (strangers_.size() > kMaxStrangers) {
    strangers_.erase(strangers_.begin(), strangers_.end() - kMaxStrangers);
  }
}

void TcpService::Admit(Stranger& stranger) {
  const TcpHello hello = stranger.hello();
  const auto& [node, endpoint, to_endpoint] = hello.claims;
  const Challenges challenges{.acceptor = rules_.challenge, .opener = hello.challenge};
  const Bytes claims = std::as_bytes(std::span(&hello.claims, 1));
  if (!rules_.key.Verify(hello.proof, Role::kOpener, challenges, claims) ||
      !used_.insert(hello.challenge).second || fenced_.contains(node) || node >= rules_.nodes ||
      endpoint >= rules_.endpoints) {
    return;
  }
  const auto keys = StreamKeysOf(rules_.encrypts, rules_.key, challenges, hello.claims);
  if (to_endpoint == TcpClaims::kOperations) {
    if (!stranger.Send(rules_.key.Prove(Role::kAcceptor, challenges, claims))) return;
    served_.push_back(
        std::make_unique<TcpServedLink>(poller_, stranger.ReleaseSocket(), executor_, node, keys));
  } else if (to_endpoint < rules_.endpoints) {
    take_messages_({stranger.ReleaseSocket(), {node, endpoint}, to_endpoint, keys});
  }
}

void TcpService::DropLost() {
  std::erase_if(served_, [](const auto& link) { return link->lost(); });
}

void TcpService::Publish(RegionId id, const RegionMemory& memory) {
  RunOnThread([&] { executor_.Publish(id, memory); });
}

void TcpService::Revoke(RegionId id) {
  RunOnThread([&] {
    for (const auto& link : served_) link->Detach(executor_.region(id));
    executor_.Revoke(id);
  });
}

// The node's process has ended, so each of its connections ends after the data that it had sent.
void TcpService::Fence(NodeId node) {
  bool ended = false;
  while (true) {
    RunOnThread([&] {
      fenced_.insert(node);
      ended = std::none_of(served_.begin(), served_.end(),
                           [node](const auto& link) { return link->peer() == node; });
    });
    if (ended) return;
    SleepFor(kUntilAllIsRead);
  }
}

void TcpService::RunOnThread(const std::function<void()>& task) {
  std::unique_lock lock(mutex_);
  task_done_.wait(lock, [this] { return task_ == nullptr; });
  task_ = &task;
  poller_.Set();
  task_done_.wait(lock, [this, &task] { return task_ != &task; });
}

void TcpService::RunTasks() {
  std::lock_guard lock(mutex_);
  if (task_ == nullptr) return;
  (*task_)();
  task_ = nullptr;
  task_done_.notify_all();
}

}  // namespace slimgraph
