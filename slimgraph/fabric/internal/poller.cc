#include "slimgraph/fabric/internal/poller.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace slimgraph {

Result<Poller> Poller::Make() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  UniqueFd event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!epoll || !event) {
    return EnvironmentError("cannot make an epoll set: {}", std::strerror(errno));
  }
  Poller poller(std::move(epoll), std::move(event));
  SLIM_TRY(poller.Add(poller.event_.get(), nullptr, EPOLLIN));
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
  num_events_ = 0;  // they may name it; the others come again
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
  std::uint64_t times;
  [[maybe_unused]] const auto read = ::read(event_.get(), &times, sizeof times);
  *set = events.back();
  return events.first(events.size() - 1);
}

void Poller::Wait(std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  const int ready = ::epoll_pwait2(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                                   &time, nullptr);
  num_events_ = static_cast<std::size_t>(std::max(ready, 0));
  if (ready >= 0 || errno != ENOSYS) return;
  pollfd poll{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
  ::ppoll(&poll, 1, &time, nullptr);
}

void Poller::Set() {
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &once, sizeof once);
}

}  // namespace slimgraph
