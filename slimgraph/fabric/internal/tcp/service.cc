#include "slimgraph/fabric/internal/tcp/service.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slimgraph {

namespace {
constexpr std::chrono::milliseconds kUntilDescriptorsAreFree{10};
constexpr std::chrono::microseconds kUntilAllIsRead{100};
}  // namespace

class TcpService::Listener : public TcpLink {
 public:
  using TcpLink::TcpLink;
  void OnReady() override { ready_ = true; }

  // The next connection, or none. One that cannot be taken for want of descriptors stays queued.
  UniqueFd Take() {
    if (!ready_) return {};
    UniqueFd taken(::accept4(fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (taken) return taken;
    // The listener stays ready, and without a pause would keep us busy.
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kUntilDescriptorsAreFree);
    if (errno != EINTR && errno != ECONNABORTED) ready_ = false;
    return taken;
  }

 private:
  bool ready_ = false;
};

// A connection that still has to introduce itself.
class TcpService::Stranger : public TcpLink {
 public:
  using TcpLink::TcpLink;

  void OnReady() override {
    in_.Refresh();
    const StreamState state = in_.Need(fd(), sizeof(TcpHello), 0);
    if (state == StreamState::kLost) Disconnect();
    introduced_ = state == StreamState::kDone;
  }

  bool introduced() const { return introduced_; }
  TcpHello hello() const {
    TcpHello hello;
    std::memcpy(&hello, in_.available().data(), sizeof hello);
    return hello;
  }
  UniqueFd Hand() { return Release(); }

 private:
  ReceiveBuffer in_{sizeof(TcpHello)};
  bool introduced_ = false;
};

TcpService::TcpService(Poller poller, UniqueFd listener, TcpToken token, std::uint32_t endpoints,
                       std::function<void(MessageConnection)> take_messages)
    : poller_(std::move(poller)),
      token_(token),
      endpoints_(endpoints),
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
    TakeConnections();
    SortStrangers();
    DropLost();
    RunTasks();
    if (!unfinished && !stop.stop_requested()) poller_.Wait(kUntilAsked);
  }
}

void TcpService::TakeConnections() {
  while (UniqueFd fd = listener_->Take()) {
    TuneTcp(fd.get());
    strangers_.push_back(std::make_unique<Stranger>(poller_, std::move(fd)));
  }
}

void TcpService::SortStrangers() {
  std::erase_if(strangers_, [this](const auto& stranger) {
    if (stranger->lost()) return true;
    if (!stranger->introduced()) return false;
    const TcpHello hello = stranger->hello();
    if (hello.token != token_ || fenced_.contains(hello.node)) return true;
    if (hello.to_endpoint == TcpHello::kOperations) {
      served_.push_back(
          std::make_unique<TcpServedLink>(poller_, stranger->Hand(), executor_, hello.node));
    } else if (hello.to_endpoint < endpoints_) {
      take_messages_({stranger->Hand(), {hello.node, hello.endpoint}, hello.to_endpoint});
    }
    return true;
  });
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

// Its process has ended, so that each of its connections has an end, behind what it had sent.
void TcpService::Fence(NodeId node) {
  bool ended = false;
  while (true) {
    RunOnThread([&] {
      fenced_.insert(node);
      ended = std::none_of(served_.begin(), served_.end(),
                           [node](const auto& link) { return link->peer() == node; });
    });
    if (ended) return;
    std::this_thread::sleep_for(kUntilAllIsRead);
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
