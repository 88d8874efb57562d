#include "slimgraph/base/poller.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "slimgraph/base/clock.h"

namespace slimgraph {
namespace {

bool Await(int fd, short events, std::chrono::nanoseconds limit) {
  const std::uint64_t end_ns = NowNs() + static_cast<std::uint64_t>(limit.count());
  pollfd wait{.fd = fd, .events = events, .revents = 0};
  while (true) {
    const std::uint64_t now_ns = NowNs();
    Poll({&wait, 1}, std::chrono::nanoseconds(now_ns < end_ns ? end_ns - now_ns : 0));
    if (wait.revents != 0 || now_ns >= end_ns) return wait.revents != 0;
  }
}

}  // namespace

bool AwaitReadable(int fd, std::chrono::nanoseconds limit) { return Await(fd, POLLIN, limit); }
bool AwaitWritable(int fd, std::chrono::nanoseconds limit) { return Await(fd, POLLOUT, limit); }

// The rest is defined in sim/poller.cc for simulations.
#ifndef SLIMGRAPH_SIM
namespace {

timespec ToTimespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

}  // namespace

void Poll(std::span<pollfd> waits, std::chrono::nanoseconds limit) {
  const timespec time = ToTimespec(limit);
  if (::ppoll(waits.data(), waits.size(), &time, nullptr) >= 0) return;
  for (pollfd& wait : waits) wait.revents = 0;
}

Result<Event> Event::Make() {
  UniqueFd fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!fd) return EnvironmentError("cannot make an event: {}", std::strerror(errno));
  return Event(std::move(fd));
}

void Event::Set() const {
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(fd(), &once, sizeof once);
}

void Event::Clear() const {
  std::uint64_t times = 0;
  [[maybe_unused]] const auto read = ::read(fd(), &times, sizeof times);
}

Result<Poller> Poller::Make() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return EnvironmentError("cannot make an epoll set: {}", std::strerror(errno));
  SLIM_ASSIGN(Event event, Event::Make());
  Poller poller(std::move(epoll), std::move(event));
  SLIM_TRY(poller.Add(poller.event_.fd(), nullptr, EPOLLIN));
  return poller;
}

Status Poller::Add(int fd, void* source, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = source}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return EnvironmentError("cannot watch a socket: {}", std::strerror(errno));
  }
  return {};
}

void Poller::Change(int fd, void* source, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = source}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::Remove(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  num_events_ = 0;  // these may name `fd`; the others are reported again
}

std::span<const epoll_event> Poller::Ready() {
  if (num_events_ == 0) {
    const int ready =
        ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
    num_events_ = static_cast<std::size_t>(std::max(ready, 0));
  }
  std::span<epoll_event> events(events_.data(), std::exchange(num_events_, 0));
  const auto set = std::find_if(events.begin(), events.end(),
                                [](const epoll_event& event) { return event.data.ptr == nullptr; });
  if (set == events.end()) return events;
  event_.Clear();
  *set = events.back();
  return events.first(events.size() - 1);
}

void Poller::Wait(std::chrono::nanoseconds limit) {
  const timespec time = ToTimespec(limit);
  const int ready = ::epoll_pwait2(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                                   &time, nullptr);
  num_events_ = static_cast<std::size_t>(std::max(ready, 0));
  if (ready >= 0 || errno != ENOSYS) return;
  pollfd wait{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
  Poll({&wait, 1}, limit);
}

#endif

}  // namespace slimgraph
