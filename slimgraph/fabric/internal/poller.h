// An epoll set and an event that other threads can set: what a thread sleeps on that looks after
// sockets.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class Poller {
 public:
  static Result<Poller> Make();

  // `source` comes back with the events of `fd`; it is never null.
  Status Add(int fd, void* source, std::uint32_t events);
  void Change(int fd, void* source, std::uint32_t events);
  // Before the descriptor is closed.
  void Remove(int fd);

  // What is ready now.
  std::span<epoll_event> Ready(std::span<epoll_event> events);

  // Sleeps until something is ready, the event is set or the time is over.
  void Wait(std::chrono::nanoseconds limit);

  // From any thread. The event is no source: Ready() takes it back and does not report it.
  void Set();

 private:
  Poller(UniqueFd epoll, UniqueFd event) : epoll_(std::move(epoll)), event_(std::move(event)) {}

  UniqueFd epoll_;
  UniqueFd event_;
};

}  // namespace slimgraph
