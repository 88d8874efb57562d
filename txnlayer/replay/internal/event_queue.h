// The events of a simulation, in the order of their times. Events of one time keep the order in
// which they were added.
#pragma once

#include <algorithm>
#include <vector>

#include "txnlayer/locks/lock_manager.h"

namespace slimgraph::txn {

struct Event {
  enum class Kind : std::uint8_t {
    // at a server agent
    kRequest,
    kVote,
    kEnd,
    kExpiry,
    // at a transaction agent
    kBegin,
    kAnswer,
    kVoted,
    kRowsDone,
  };
  std::uint64_t at_ns = 0;
  std::uint64_t number = 0;
  std::uint32_t agent = 0;
  std::uint32_t server = 0;
  TransactionNumber transaction = 0;
  LockId lock = 0;
  Kind kind = Kind::kBegin;
  LockMode mode = LockMode::kFree;  // of kRequest
  bool good = false;                // kAnswer: granted; kEnd: committed
};

class EventQueue {
 public:
  void Add(Event event) {
    event.number = ++added_;
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  bool empty() const { return heap_.empty(); }
  Event Take() {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  static bool Later(const Event& one, const Event& other) {
    return one.at_ns != other.at_ns ? one.at_ns > other.at_ns : one.number > other.number;
  }
  std::vector<Event> heap_;
  std::uint64_t added_ = 0;
};

}  // namespace slimgraph::txn
