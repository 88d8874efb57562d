// Sleeping until a socket is ready: on a few descriptors, or on an epoll set with an event that
// other threads can set.
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

constexpr std::chrono::hours kUntilWoken{1};  // for sleeping until the event is set

// Returns when one of `waits` is ready, when `limit` has passed, or when a signal arrives.
void Poll(std::span<pollfd> waits, std::chrono::nanoseconds limit);

// Returns whether `fd` became readable (writable) before `limit` passed.
bool AwaitReadable(int fd, std::chrono::nanoseconds limit);
bool AwaitWritable(int fd, std::chrono::nanoseconds limit);

// An eventfd: readable from Set() until Clear(). Any thread may call either.
class Event {
 public:
  static Result<Event> Make();

  int fd() const { return fd_.get(); }
  void Set() const;
  void Clear() const;

 private:
  explicit Event(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

class Poller {
 public:
  static Result<Poller> Make();

  // Events of `fd` are returned with `source`, which is never null.
  Status Add(int fd, void* source, std::uint32_t events);
  void Change(int fd, void* source, std::uint32_t events);
  // Must be called before the descriptor is closed.
  void Remove(int fd);

  int fd() const { return epoll_.get(); }  // readable when something is ready

  // The events that are ready; valid until the next call.
  std::span<const epoll_event> Ready();

  // Sleeps until something is ready, the event is set, or `limit` has passed. The next Ready()
  // returns what Wait() found, without another system call.
  void Wait(std::chrono::nanoseconds limit);

  // Wakes Wait(). May be called from any thread. Ready() clears the event and does not report it.
  void Set() { event_.Set(); }

 private:
  Poller(UniqueFd epoll, Event event) : epoll_(std::move(epoll)), event_(std::move(event)) {}

  UniqueFd epoll_;
  Event event_;
  std::array<epoll_event, 64> events_{};
  std::size_t num_events_ = 0;  // found by Wait()
};

}  // namespace slimgraph
