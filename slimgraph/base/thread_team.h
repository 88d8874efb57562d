// The threads of one compute node. They live as long as the team, and sleep between its loops. A
// team of one runs everything on the calling thread.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "slimgraph/base/atomic.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

class ThreadTeam {
 public:
  explicit ThreadTeam(std::uint32_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::uint32_t threads() const { return threads_; }

  // Runs body(0) on the calling thread and body(1) .. on the others; returns when all are done. If
  // a thread has not woken up when body(0) is done, the calling thread runs that thread's turn too
  // instead of waiting for it.
  template <typename Body>
  void Run(Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    if (threads_ > 1) {
      Begin([](void* self, std::uint32_t thread) { (*static_cast<Plain*>(self))(thread); },
            const_cast<void*>(static_cast<const void*>(&body)));
    }
    body(0);
    if (threads_ > 1) AwaitOthers();
  }

 private:
  using Call = void (*)(void*, std::uint32_t);
  // A word that threads wait for. Wake() makes a system call only if a thread sleeps.
  struct Gate {
    Atomic<std::uint32_t> word{0};
    Atomic<std::uint32_t> sleepers{0};
    // Waits until the word differs from `old_value`; returns the new value.
    std::uint32_t AwaitChange(std::uint32_t old_value);
    void Wake();  // must be called after a change
  };
  // The last round in which a thread claimed this turn.
  struct alignas(64) Turn {
    Atomic<std::uint32_t> claimed_round{0};
  };
  void Begin(Call call, void* self);
  void AwaitOthers();
  bool ClaimTurn(std::uint32_t thread, std::uint32_t round) {
    std::uint32_t before = round - 1;
    return turns_[thread].claimed_round.compare_exchange_strong(before, round);
  }
  void Work(std::uint32_t thread);

  std::uint32_t threads_;
  // The word grows with each loop. The call shares its cache line, so one cache miss brings both.
  struct alignas(64) Round : Gate {
    Call call = nullptr;
    void* self = nullptr;
  };
  Round round_;
  alignas(64) Gate running_;  // how many of the other threads' turns are not done
  alignas(64) Atomic<bool> stop_{false};
  std::vector<Turn> turns_;  // by thread
  std::vector<Thread> others_;
};

}  // namespace slimgraph
