// A queue of things that arrive before they are due, ordered by due time. Entries with equal due
// times keep the order in which they were added. Most entries are added at the end.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace slimgraph {

template <typename T>
class DelayQueue {
 public:
  void Add(std::uint64_t due_ns, T value) {
    auto at = entries_.end();
    while (at != entries_.begin() && std::prev(at)->first > due_ns) --at;
    entries_.emplace(at, due_ns, std::move(value));
  }
  bool empty() const { return entries_.empty(); }
  // The largest possible time if the queue is empty.
  std::uint64_t first_due_ns() const {
    return entries_.empty() ? ~std::uint64_t{0} : entries_.front().first;
  }
  T Take() {
    T first = std::move(entries_.front().second);
    entries_.pop_front();
    return first;
  }

 private:
  std::deque<std::pair<std::uint64_t, T>> entries_;
};

}  // namespace slimgraph
