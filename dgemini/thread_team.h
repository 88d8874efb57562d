// The threads of one compute node: they live as long as the team and park between its loops. A
// team of one runs everything on the calling thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace slimgraph {

class ThreadTeam {
 public:
  explicit ThreadTeam(std::uint32_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::uint32_t threads() const { return threads_; }

  // body(0) on the calling thread, body(1) .. on the others; returns when all have. Whoever has not
  // woken up when the calling thread is done with its own is not waited for: it has that turn too.
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
  // A word that threads wait for; nobody is woken when none sleeps.
  struct Gate {
    std::atomic<std::uint32_t> word{0};
    std::atomic<std::uint32_t> sleepers{0};
    // Returns the word when it is no longer `old_value`.
    std::uint32_t AwaitChange(std::uint32_t old_value);
    void Wake();  // after it was changed
  };
  // The last round in which somebody took a thread's turn.
  struct alignas(64) Turn {
    std::atomic<std::uint32_t> taken{0};
  };
  void Begin(Call call, void* self);
  void AwaitOthers();
  bool Take(std::uint32_t thread, std::uint32_t round) {
    std::uint32_t before = round - 1;
    return turns_[thread].taken.compare_exchange_strong(before, round);
  }
  void Work(std::uint32_t thread);

  std::uint32_t threads_;
  // Grows with each loop; on its line is what is to be called, so that both come at once.
  struct alignas(64) Round : Gate {
    Call call = nullptr;
    void* self = nullptr;
  };
  Round round_;
  alignas(64) Gate running_;  // of the others
  alignas(64) std::atomic<bool> stop_{false};
  std::vector<Turn> turns_;  // by thread
  std::vector<std::jthread> others_;
};

}  // namespace slimgraph
