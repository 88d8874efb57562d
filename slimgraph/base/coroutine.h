// A function with its own stack, which can be suspended and resumed. Belongs to one thread.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <functional>

namespace slimgraph {

class Coroutine {
 public:
  // The body must have ended before the coroutine is destroyed, or the coroutine must have been
  // abandoned. The objects on an abandoned stack are not destroyed, as the process is about to end.
  explicit Coroutine(std::function<void()> body, std::size_t stack_bytes = 128 << 10);
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Runs the body until it yields or ends. Called from outside.
  void Resume();
  // Called by the body: returns control to the caller of Resume().
  void Yield();
  bool ended() const { return ended_; }
  void Abandon();

 private:
  // State with which AddressSanitizer and ThreadSanitizer follow the change of stacks.
  struct Sanitizers {
    void* outside_fake_stack = nullptr;
    void* inside_fake_stack = nullptr;
    const void* outside_bottom = nullptr;
    std::size_t outside_bytes = 0;
    void* inside = nullptr;
  };
  void EnterStack();
  void LeaveStack();

  std::function<void()> body_;
  boost::context::stack_context stack_;
  boost::context::fiber inside_;
  boost::context::fiber outside_;
  bool ended_ = false;
  bool left_ = false;
  Sanitizers sanitizers_;
};

}  // namespace slimgraph
