// A function with a stack of its own that can be left in the middle and taken up again. Belongs to
// one thread.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <functional>

namespace slimgraph::txn {

class Coroutine {
 public:
  // The body has ended by the time it is destroyed, or has been left for good: then all that is on
  // its stack stays as it is, for the process is about to end.
  explicit Coroutine(std::function<void()> body);
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Runs the body until it yields or ends. Called from outside.
  void Resume();
  // Called by the body: back to whoever resumed it.
  void Yield();
  bool ended() const { return ended_; }
  void LeaveForGood() { left_ = true; }

 private:
  // The sanitizers want to know which stack is in use.
  struct Sanitizers {
    void* outside_fake_stack = nullptr;
    void* inside_fake_stack = nullptr;
    const void* outside_bottom = nullptr;
    std::size_t outside_bytes = 0;
    void* inside = nullptr;
    void* outside = nullptr;
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

}  // namespace slimgraph::txn
