// Mutexes, conditions and threads with the interface of the standard ones; std::lock_guard,
// std::unique_lock and the like work on them. Code outside base/ never uses the standard ones, so
// the simulation (sim/sync.h) can take their place.
#pragma once

#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sim/sync.h"

namespace slimgraph {
using sim::Condition;
using sim::Mutex;
using sim::RecursiveMutex;
using sim::SharedMutex;
using sim::SignalBlocker;
using sim::SleepFor;
using sim::Thread;
using sim::Yield;
}  // namespace slimgraph
#else
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

namespace slimgraph {

class Mutex {
 public:
  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class RecursiveMutex {
 public:
  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::recursive_mutex mutex_;
};

class SharedMutex {
 public:
  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() { mutex_.lock_shared(); }
  bool try_lock_shared() { return mutex_.try_lock_shared(); }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class Condition {
 public:
  void wait(std::unique_lock<Mutex>& lock) {
    Borrowed borrowed(lock);
    changed_.wait(borrowed.lock);
  }
  template <typename Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate holds) {
    Borrowed borrowed(lock);
    changed_.wait(borrowed.lock, holds);
  }
  // Returns whether `holds()` was true at the end.
  template <typename Duration, typename Predicate>
  bool wait_for(std::unique_lock<Mutex>& lock, Duration limit, Predicate holds) {
    Borrowed borrowed(lock);
    return changed_.wait_for(borrowed.lock, limit, holds);
  }
  template <typename Duration>
  void wait_for(std::unique_lock<Mutex>& lock, Duration limit) {
    Borrowed borrowed(lock);
    changed_.wait_for(borrowed.lock, limit);
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  // Borrows the std::mutex inside ours for the standard condition; the caller's lock continues to
  // own it.
  struct Borrowed {
    explicit Borrowed(std::unique_lock<Mutex>& ours)
        : lock(ours.mutex()->mutex_, std::adopt_lock) {}
    ~Borrowed() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable changed_;
};

// Blocks signals in the calling thread while it lives. Threads that are started meanwhile inherit
// the mask and keep it. Needed because one thread waits for signals by a descriptor: a signal that
// another thread takes is lost.
class SignalBlocker {
 public:
  SignalBlocker();
  ~SignalBlocker();
  SignalBlocker(const SignalBlocker&) = delete;
  SignalBlocker& operator=(const SignalBlocker&) = delete;

 private:
  sigset_t before_{};
};

// Like std::jthread: joins in its destructor, and passes a stop token to a function that takes one.
// Its signals are blocked.
class Thread {
 public:
  Thread() = default;
  template <typename Function>
  explicit Thread(Function function) {
    const SignalBlocker held;
    thread_ = std::jthread(std::move(function));
  }

  void join() { thread_.join(); }
  bool joinable() const { return thread_.joinable(); }
  void detach() { thread_.detach(); }
  void request_stop() { thread_.request_stop(); }

 private:
  std::jthread thread_;
};

inline void Yield() { std::this_thread::yield(); }
inline void SleepFor(std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }

}  // namespace slimgraph
#endif
