// The threads that run at some time, the earliest first. A binary heap in which each thread knows
// its place, so that a thread that is woken early can leave it. With hundreds of nodes, a balanced
// tree took a third of a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "slimgraph/base/check.h"

namespace slimgraph::sim {

// When a thread runs next. A random number decides between equals.
struct ReadyKey {
  std::uint64_t time_ns = 0;
  std::uint64_t tie = 0;
  friend auto operator<=>(const ReadyKey&, const ReadyKey&) = default;
};

// `Thread` has a member `std::size_t ready_place`, which belongs to the queue.
template <typename Thread>
class ReadyQueue {
 public:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  bool empty() const { return heap_.empty(); }
  const ReadyKey& first_key() const { return heap_.front().key; }
  Thread& first() const { return *heap_.front().thread; }

  void Add(Thread& thread, const ReadyKey& key) {
    SLIM_CHECK(thread.ready_place == kNowhere);
    heap_.push_back({key, &thread});
    Raise(heap_.size() - 1);
  }
  void Remove(Thread& thread) {
    const std::size_t place = thread.ready_place;
    thread.ready_place = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    heap_[place] = last;
    last.thread->ready_place = place;
    Raise(place);
    Lower(last.thread->ready_place);
  }
  const ReadyKey& key_of(const Thread& thread) const { return heap_[thread.ready_place].key; }

 private:
  struct Entry {
    ReadyKey key;
    Thread* thread;
  };

  void Put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    entry.thread->ready_place = place;
  }
  void Raise(std::size_t place) {
    const Entry entry = heap_[place];
    while (place > 0 && entry.key < heap_[(place - 1) / 2].key) {
      Put(place, heap_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    Put(place, entry);
  }
  void Lower(std::size_t place) {
    const Entry entry = heap_[place];
    while (2 * place + 1 < heap_.size()) {
      std::size_t child = 2 * place + 1;
      if (child + 1 < heap_.size() && heap_[child + 1].key < heap_[child].key) ++child;
      if (!(heap_[child].key < entry.key)) break;
      Put(place, heap_[child]);
      place = child;
    }
    Put(place, entry);
  }

  std::vector<Entry> heap_;
};

}  // namespace slimgraph::sim
