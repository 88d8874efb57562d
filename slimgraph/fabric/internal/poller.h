// An epoll set and an event that other threads can set: what a thread sleeps on that looks after
// sockets.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

constexpr std::chrono::hours kUntilAsked{1};  // to sleep until the event is set

class Poller {
 public:
  static Result<Poller> Make();

  // `source` comes back with the events of `fd`; it is never null.
  Status Add(int fd, void* source, std::uint32_t events);
  void Change(int fd, void* source, std::uint32_t events);
  // Before the descriptor is closed.
  void Remove(int fd);

  // What is ready; valid until the next call.
  std::span<const epoll_event> Ready();

  // Sleeps until something is ready, the event is set or the time is over. What is ready then, the
  // next Ready() tells without asking again.
  void Wait(std::chrono::nanoseconds limit);

  // From any thread. The event is no source: Ready() takes it back and does not report it.
  void Set();

 private:
  Poller(UniqueFd epoll, UniqueFd event) : epoll_(std::move(epoll)), event_(std::move(event)) {}

  UniqueFd epoll_;
  UniqueFd event_;
  std::array<epoll_event, 64> events_{};
  std::size_t num_events_ = 0;  // found by Wait()
};

}  // namespace slimgraph
