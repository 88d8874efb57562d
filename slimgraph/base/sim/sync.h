// The classes of sync.h for threads of a simulation. Each operation is a point where other threads
// may interfere. Outside of a simulation, where there is one thread, nothing waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "slimgraph/base/sim/scheduler.h"

namespace slimgraph::sim {

class Mutex {
 public:
  void lock() {
    if (auto* const scheduler = Scheduler::Current()) {
      scheduler->Point();
      while (held_) scheduler->Sleep(waiting_, kForever, "a mutex");
    }
    held_ = true;
  }
  bool try_lock() {
    if (auto* const scheduler = Scheduler::Current()) scheduler->Point();
    return !std::exchange(held_, true);
  }
  void unlock() {
    held_ = false;
    if (auto* const scheduler = Scheduler::Current()) {
      scheduler->WakeOne(waiting_);
      scheduler->Point();
    }
  }

 private:
  friend class Condition;
  bool held_ = false;
  WaitQueue waiting_;
};

class RecursiveMutex {
 public:
  void lock() {
    if (!Mine()) mutex_.lock();
    Take();
  }
  bool try_lock() {
    if (!Mine() && !mutex_.try_lock()) return false;
    Take();
    return true;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_ = nullptr;
    mutex_.unlock();
  }

 private:
  static const void* Self() {
    auto* const scheduler = Scheduler::Current();
    return scheduler == nullptr ? nullptr : scheduler->running();
  }
  bool Mine() const { return depth_ > 0 && owner_ == Self(); }
  void Take() {
    owner_ = Self();
    ++depth_;
  }

  Mutex mutex_;
  const void* owner_ = nullptr;
  int depth_ = 0;
};

class SharedMutex {
 public:
  void lock() {
    Await([&] { return !written_ && readers_ == 0; });
    written_ = true;
  }
  bool try_lock() {
    if (written_ || readers_ > 0) return false;
    return written_ = true;
  }
  void unlock() {
    written_ = false;
    WakeAll();
  }
  void lock_shared() {
    Await([&] { return !written_; });
    ++readers_;
  }
  bool try_lock_shared() {
    if (written_) return false;
    ++readers_;
    return true;
  }
  void unlock_shared() {
    if (--readers_ == 0) WakeAll();
  }

 private:
  template <typename Predicate>
  void Await(const Predicate& holds) {
    auto* const scheduler = Scheduler::Current();
    if (scheduler == nullptr) return;
    scheduler->Point();
    while (!holds()) scheduler->Sleep(waiting_, kForever, "a shared mutex");
  }
  void WakeAll() {
    if (auto* const scheduler = Scheduler::Current()) {
      scheduler->WakeAll(waiting_);
      scheduler->Point();
    }
  }

  bool written_ = false;
  std::uint32_t readers_ = 0;
  WaitQueue waiting_;
};

// Now and then, a wait ends without a notification, which the standard allows.
class Condition {
 public:
  void wait(std::unique_lock<Mutex>& lock) { SleepUntil(lock, kForever); }
  template <typename Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate holds) {
    while (!holds()) wait(lock);
  }
  template <typename Duration, typename Predicate>
  bool wait_for(std::unique_lock<Mutex>& lock, Duration limit, Predicate holds) {
    const std::uint64_t deadline_ns = Deadline(limit);
    while (!holds()) {
      if (Scheduler::Current()->now_ns() >= deadline_ns) return holds();
      SleepUntil(lock, deadline_ns);
    }
    return true;
  }
  template <typename Duration>
  void wait_for(std::unique_lock<Mutex>& lock, Duration limit) {
    SleepUntil(lock, Deadline(limit));
  }
  void notify_one() {
    if (auto* const scheduler = Scheduler::Current()) scheduler->WakeOne(waiting_);
  }
  void notify_all() {
    if (auto* const scheduler = Scheduler::Current()) scheduler->WakeAll(waiting_);
  }

 private:
  static constexpr std::uint64_t kSpurious = 32;  // one of so many waits
  template <typename Duration>
  static std::uint64_t Deadline(Duration limit) {
    return Scheduler::Current()->now_ns() +
           static_cast<std::uint64_t>(std::chrono::nanoseconds(limit).count());
  }
  void SleepUntil(std::unique_lock<Mutex>& lock, std::uint64_t deadline_ns) {
    Scheduler& scheduler = *Scheduler::Current();
    Mutex& mutex = *lock.mutex();
    // Others may run between the release and the sleep only if they cannot notify meanwhile; so
    // there is no point in between.
    mutex.held_ = false;
    scheduler.WakeOne(mutex.waiting_);
    if (scheduler.Random(kSpurious) != 0) {
      scheduler.Sleep(waiting_, deadline_ns, "a condition");
    } else {
      scheduler.Point();
    }
    mutex.lock();
  }

  WaitQueue waiting_;
};

class SignalBlocker {
 public:
  SignalBlocker() {}  // not trivial, so that a variable of it is not unused
};

class Thread {
 public:
  Thread() = default;
  template <typename Function>
  explicit Thread(Function function) {
    auto* const scheduler = Scheduler::Current();
    // A function object that cannot be copied needs a place that can.
    const auto body = std::make_shared<Function>(std::move(function));
    handle_ = scheduler->Start(scheduler->node(), "a thread", [body, stop = stop_.get_token()] {
      if constexpr (std::is_invocable_v<Function, std::stop_token>) {
        (*body)(stop);
      } else {
        (*body)();
      }
    });
  }
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) noexcept {
    End();
    handle_ = std::move(other.handle_);
    stop_ = std::move(other.stop_);
    return *this;
  }
  ~Thread() { End(); }

  void join() {
    Scheduler::Current()->Join(*handle_);
    handle_.reset();
  }
  bool joinable() const { return handle_ != nullptr; }
  void detach() { handle_.reset(); }
  void request_stop() { stop_.request_stop(); }

 private:
  void End() {
    if (!joinable()) return;
    request_stop();
    join();
  }

  std::stop_source stop_;
  std::shared_ptr<SimThread> handle_;
};

inline void Yield() {
  if (auto* const scheduler = Scheduler::Current()) scheduler->Point();
}
inline void SleepFor(std::chrono::nanoseconds time) {
  Scheduler& scheduler = *Scheduler::Current();
  scheduler.SleepUntil(scheduler.now_ns() + static_cast<std::uint64_t>(time.count()));
}

}  // namespace slimgraph::sim
