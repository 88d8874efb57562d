// poller.h over the network of a simulation.
#include "slimgraph/base/poller.h"
#ifdef SLIMGRAPH_SIM
#include <algorithm>
#include <utility>

#include "slimgraph/base/sim/network.h"

namespace slimgraph {
namespace {

using sim::Network;

std::uint64_t DeadlineIn(std::chrono::nanoseconds limit) {
  return sim::Scheduler::Current()->now_ns() + static_cast<std::uint64_t>(limit.count());
}

std::uint32_t EventsOf(const sim::Readiness& ready) {
  return (ready.readable ? std::uint32_t{EPOLLIN} : 0U) |
         (ready.writable ? std::uint32_t{EPOLLOUT} : 0U) |
         (ready.lost ? std::uint32_t{EPOLLERR | EPOLLHUP} : 0U);
}

}  // namespace

void Poll(std::span<pollfd> waits, std::chrono::nanoseconds limit) {
  std::vector<sim::Interest> interests;
  for (const pollfd& wait : waits) {
    if (wait.fd < 0) continue;
    interests.push_back({wait.fd, (wait.events & POLLIN) != 0, (wait.events & POLLOUT) != 0});
  }
  const auto all = Network::Current().Wait(interests, DeadlineIn(limit));
  std::size_t next = 0;
  for (pollfd& wait : waits) {
    wait.revents = 0;
    if (wait.fd < 0) continue;
    const sim::Readiness& ready = all[next++];
    wait.revents =
        static_cast<short>((ready.readable ? POLLIN : 0) | (ready.writable ? POLLOUT : 0) |
                           (ready.lost ? POLLERR | POLLHUP : 0));
  }
}

Result<Event> Event::Make() { return Event(UniqueFd(Network::Current().MakeEvent())); }
void Event::Set() const { Network::Current().SetEvent(fd()); }
void Event::Clear() const { Network::Current().ClearEvent(fd()); }

Result<Poller> Poller::Make() {
  UniqueFd set(Network::Current().MakeSet());
  SLIM_ASSIGN(Event event, Event::Make());
  Poller poller(std::move(set), std::move(event));
  SLIM_TRY(poller.Add(poller.event_.fd(), nullptr, EPOLLIN));
  return poller;
}

Status Poller::Add(int fd, void* source, std::uint32_t events) {
  const sim::Interest interest{fd, (events & EPOLLIN) != 0, (events & EPOLLOUT) != 0};
  if (Network::Current().PutIntoSet(epoll_.get(), interest, source)) return {};
  return EnvironmentError("cannot wait for descriptor {}: it is not open", fd);
}

void Poller::Change(int fd, void* source, std::uint32_t events) {
  static_cast<void>(Add(fd, source, events));
}

void Poller::Remove(int fd) {
  Network::Current().TakeFromSet(epoll_.get(), fd);
  num_events_ = 0;
}

std::span<const epoll_event> Poller::Ready() {
  num_events_ = 0;
  for (const auto& [source, ready] : Network::Current().ReadyOfSet(epoll_.get(), events_.size())) {
    if (source == nullptr) {
      event_.Clear();
    } else {
      events_[num_events_++] = {.events = EventsOf(ready), .data = {.ptr = source}};
    }
  }
  return {events_.data(), std::exchange(num_events_, 0)};
}

void Poller::Wait(std::chrono::nanoseconds limit) {
  const sim::Interest all{.fd = epoll_.get(), .reads = true, .writes = false};
  Network::Current().Wait({&all, 1}, DeadlineIn(limit));
}

}  // namespace slimgraph
#endif
