// What base/atomic.h means under SLIMGRAPH_RELACY: relacy's atomics behind the interface of the
// standard library's, and shadows of memory that the checked code accesses by address. The compiler
// includes it before everything else (make/toolchain.mk).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <relacy/atomic.hpp>
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/var.hpp>
#include <source_location>

namespace slimgraph {

namespace checked {

// The place in the source that a history of relacy names.
using Where = std::source_location;
inline rl::debug_info Info(const Where& where) {
  return {where.function_name(), where.file_name(), where.line()};
}

inline rl::memory_order OrderOf(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

// The operations of an atomic that lies elsewhere.
template <typename T>
class Cell {
 public:
  static constexpr std::memory_order kStrongest = std::memory_order_seq_cst;

  explicit Cell(rl::atomic<T>& cell) : cell_(&cell) {}

  T load(std::memory_order order = kStrongest, Where where = Where::current()) const {
    return (*cell_)(Info(where)).load(OrderOf(order));
  }
  void store(T value, std::memory_order order = kStrongest, Where where = Where::current()) const {
    (*cell_)(Info(where)).store(value, OrderOf(order));
  }
  T exchange(T value, std::memory_order order = kStrongest, Where where = Where::current()) const {
    return (*cell_)(Info(where)).exchange(value, OrderOf(order));
  }
  T fetch_add(T value, std::memory_order order = kStrongest, Where where = Where::current()) const {
    return (*cell_)(Info(where)).fetch_add(value, OrderOf(order));
  }
  T fetch_or(T value, std::memory_order order = kStrongest, Where where = Where::current()) const {
    return (*cell_)(Info(where)).fetch_or(value, OrderOf(order));
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = kStrongest,
                               Where where = Where::current()) const {
    return (*cell_)(Info(where)).compare_exchange_strong(expected, desired, OrderOf(order));
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = kStrongest,
                             Where where = Where::current()) const {
    return (*cell_)(Info(where)).compare_exchange_weak(expected, desired, OrderOf(order));
  }

 private:
  rl::atomic<T>* cell_;
};

// A range of memory and the shadows of its words. Exactly one of the two is not null.
struct Range {
  const std::byte* base;
  std::size_t words;
  rl::atomic<std::uint64_t>* atomic;
  rl::var<std::uint64_t>* plain;
};

// The ranges of the current iteration. A failed iteration leaves its own behind, at addresses that
// are not used again.
class Ranges {
 public:
  static void Add(const Range& range) {
    if (count_ == kMost) std::abort();
    ranges_[count_++] = range;
  }
  static void RemoveLast() { --count_; }
  static const Range& Of(const std::byte* address) {
    for (std::size_t i = count_; i-- > 0;) {
      const Range& range = ranges_[i];
      if (address >= range.base && address < range.base + range.words * sizeof(std::uint64_t)) {
        return range;
      }
    }
    std::abort();  // memory that the check has not declared
  }

 private:
  static constexpr std::size_t kMost = 64;
  static inline Range ranges_[kMost];
  static inline std::size_t count_ = 0;
};

// Declares memory whose words are accessed by AtomicRef. Lives in a check's suite. The initial
// values are those in memory, where later values are not stored.
template <std::size_t kWords>
class AtomicWords {
 public:
  explicit AtomicWords(const std::byte* base) {
    for (std::size_t i = 0; i < kWords; ++i) {
      std::uint64_t word;
      std::memcpy(&word, base + i * sizeof word, sizeof word);
      words_[i](RL_INFO).store(word, rl::mo_relaxed);
    }
    Ranges::Add({base, kWords, words_, nullptr});
  }
  ~AtomicWords() { Ranges::RemoveLast(); }

 private:
  rl::atomic<std::uint64_t> words_[kWords];
};

// Declares memory that is accessed by LoadPlain and StorePlain. A load before the first store is an
// error.
template <std::size_t kWords>
class PlainWords {
 public:
  explicit PlainWords(const std::byte* base) { Ranges::Add({base, kWords, nullptr, words_}); }
  ~PlainWords() { Ranges::RemoveLast(); }

 private:
  rl::var<std::uint64_t> words_[kWords];
};

// Calls visit(shadow) for each word of plain memory.
template <typename Visit>
void ForEachPlain(const std::byte* shared, std::size_t bytes, const Visit& visit) {
  if (bytes == 0) return;
  const Range& range = Ranges::Of(shared);
  const auto first = static_cast<std::size_t>(shared - range.base);
  const std::size_t end = (first + bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  if (range.plain == nullptr || end > range.words) std::abort();
  for (std::size_t word = first / sizeof(std::uint64_t); word < end; ++word) {
    visit(range.plain[word]);
  }
}

}  // namespace checked

template <typename T>
class Atomic : public checked::Cell<T> {
 public:
  explicit Atomic(T value = {}) : checked::Cell<T>(atomic_), atomic_(value) {}

  // What futexes do with a word (base/futex.h). The kernel compares and sleeps in one step.
  void WaitWhile(T seen, checked::Where where = checked::Where::current()) const {
    rl::context& context = rl::ctx();
    const rl::debug_info info = checked::Info(where);
    context.sched();
    context.atomic_thread_fence_seq_cst();
    {
      const rl::preemption_disabler one_step(context);
      if (atomic_(info).load(rl::mo_acquire) != seen) return;
    }
    const bool timed = false;
    const bool spurious = true;
    atomic_.wait(context, timed, spurious, info);
  }
  void WakeAll(checked::Where where = checked::Where::current()) const {
    rl::context& context = rl::ctx();
    context.sched();
    context.atomic_thread_fence_seq_cst();
    atomic_.wake(context, context.get_thread_count(), checked::Info(where));
  }

 private:
  mutable rl::atomic<T> atomic_;
};

template <typename T>
class AtomicRef : public checked::Cell<T> {
 public:
  explicit AtomicRef(T& object) : checked::Cell<T>(CellOf(reinterpret_cast<std::byte*>(&object))) {}

 private:
  static_assert(sizeof(T) == sizeof(std::uint64_t));
  static rl::atomic<T>& CellOf(const std::byte* address) {
    const checked::Range& range = checked::Ranges::Of(address);
    const auto offset = static_cast<std::size_t>(address - range.base);
    if (range.atomic == nullptr || offset % sizeof(T) != 0) std::abort();
    return range.atomic[offset / sizeof(T)];
  }
};

inline void LoadPlain(void* own, const std::byte* shared, std::size_t bytes,
                      checked::Where where = checked::Where::current()) {
  checked::ForEachPlain(
      shared, bytes, [&](auto& shadow) { static_cast<void>(shadow(checked::Info(where)).load()); });
  std::memcpy(own, shared, bytes);
}

inline void StorePlain(std::byte* shared, const void* own, std::size_t bytes,
                       checked::Where where = checked::Where::current()) {
  checked::ForEachPlain(shared, bytes,
                        [&](auto& shadow) { shadow(checked::Info(where)).store(0); });
  std::memcpy(shared, own, bytes);
}

}  // namespace slimgraph
