// The atomics of atomic.h for threads of a simulation: those of the standard library. In a run with
// SchedulerOptions::points_at_atomics, each operation is a point where other threads may interfere.
#pragma once

#include <atomic>

#include "slimgraph/base/sim/scheduler.h"

namespace slimgraph::sim {

// `Standard` is std::atomic<T> or std::atomic_ref<T>. All operations are const, as those of the
// latter.
template <typename T, typename Standard>
class InterleavedAtomic : public Standard {
  static constexpr std::memory_order kStrongest = std::memory_order_seq_cst;

 public:
  using Standard::Standard;

  T load(std::memory_order order = kStrongest) const { return Begin().load(order); }
  operator T() const { return load(); }
  void store(T value, std::memory_order order = kStrongest) const { Begin().store(value, order); }
  T exchange(T value, std::memory_order order = kStrongest) const {
    return Begin().exchange(value, order);
  }
  // Of one order: that of a failure follows from it, as in the standard library.
  bool compare_exchange_weak(T& expected, T value, std::memory_order order = kStrongest) const {
    return Begin().compare_exchange_weak(expected, value, order);
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order = kStrongest) const {
    return Begin().compare_exchange_strong(expected, value, order);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                             std::memory_order failure) const {
    return Begin().compare_exchange_weak(expected, value, success, failure);
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                               std::memory_order failure) const {
    return Begin().compare_exchange_strong(expected, value, success, failure);
  }
  T fetch_add(T by, std::memory_order order = kStrongest) const {
    return Begin().fetch_add(by, order);
  }
  T fetch_sub(T by, std::memory_order order = kStrongest) const {
    return Begin().fetch_sub(by, order);
  }
  T fetch_or(T bits, std::memory_order order = kStrongest) const {
    return Begin().fetch_or(bits, order);
  }
  T fetch_and(T bits, std::memory_order order = kStrongest) const {
    return Begin().fetch_and(bits, order);
  }

 private:
  Standard& Begin() const {
    if (atomics_are_points) Scheduler::Current()->Point();
    return const_cast<Standard&>(static_cast<const Standard&>(*this));
  }
};

template <typename T>
class Atomic : public InterleavedAtomic<T, std::atomic<T>> {
 public:
  using InterleavedAtomic<T, std::atomic<T>>::InterleavedAtomic;
  T operator=(T value) {
    this->store(value);
    return value;
  }
};

template <typename T>
class AtomicRef : public InterleavedAtomic<T, std::atomic_ref<T>> {
 public:
  explicit AtomicRef(T& word) : InterleavedAtomic<T, std::atomic_ref<T>>(word) {}
  AtomicRef(const AtomicRef&) = default;
  T operator=(T value) const {
    this->store(value);
    return value;
  }
};

}  // namespace slimgraph::sim
