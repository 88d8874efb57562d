// What has come before it is due, in the order in which it will be: by time, and what is due at one
// time as it was added. Most of it is added at the end.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace slimgraph {

template <typename T>
class DueQueue {
 public:
  void Add(std::uint64_t due_ns, T value) {
    auto at = held_.end();
    while (at != held_.begin() && std::prev(at)->first > due_ns) --at;
    held_.emplace(at, due_ns, std::move(value));
  }
  bool empty() const { return held_.empty(); }
  // Of an empty one: never.
  std::uint64_t first_due_ns() const {
    return held_.empty() ? ~std::uint64_t{0} : held_.front().first;
  }
  T Take() {
    T first = std::move(held_.front().second);
    held_.pop_front();
    return first;
  }

 private:
  std::deque<std::pair<std::uint64_t, T>> held_;
};

}  // namespace slimgraph
