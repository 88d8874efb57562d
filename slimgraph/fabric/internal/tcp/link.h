// One connection in an epoll loop. The loop is level-triggered: if a link does not finish its work
// in OnReady(), OnReady() is called again.
#pragma once

#include "slimgraph/base/poller.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/fabric/internal/tcp/stream.h"

namespace slimgraph {

class TcpLink {
 public:
  TcpLink(Poller& poller, UniqueFd fd) : poller_(poller), fd_(std::move(fd)) {
    if (!poller_.Add(fd_.get(), this, EPOLLIN)) fd_.Reset();
  }
  virtual ~TcpLink() { Disconnect(); }
  TcpLink(const TcpLink&) = delete;

  // Sends and receives as much as is possible without blocking.
  virtual void OnReady() = 0;

  // True if the other side is gone or has sent invalid data.
  bool lost() const { return !fd_; }

 protected:
  int fd() const { return fd_.get(); }

  void Disconnect() {
    if (fd_) poller_.Remove(fd_.get());
    fd_.Reset();
  }

  UniqueFd Release() {
    poller_.Remove(fd_.get());
    return std::move(fd_);
  }

  // Flushes `queue`, and asks for an event when there is room for the rest.
  StreamState Flush(SendQueue& queue) {
    const StreamState state = queue.Flush(fd_.get());
    const std::uint32_t events =
        state == StreamState::kBlocked ? EPOLLIN | EPOLLOUT : std::uint32_t{EPOLLIN};
    if (!IsOver(state) && events != events_) {
      poller_.Change(fd_.get(), this, events);
      events_ = events;
    }
    return state;
  }

 private:
  Poller& poller_;
  UniqueFd fd_;
  std::uint32_t events_ = EPOLLIN;
};

}  // namespace slimgraph
