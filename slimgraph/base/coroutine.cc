#include "slimgraph/base/coroutine.h"

#include <memory>
#include <utility>

#include "slimgraph/base/check.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace slimgraph {
Coroutine::Coroutine(std::function<void()> body, std::size_t stack_bytes) : body_(std::move(body)) {
  boost::context::protected_fixedsize_stack allocator(stack_bytes);
  stack_ = allocator.allocate();
  const boost::context::preallocated place(stack_.sp, stack_.size, stack_);
  inside_ = boost::context::fiber(std::allocator_arg, place, allocator,
                                  [this](boost::context::fiber&& outside) {
                                    outside_ = std::move(outside);
                                    EnterStack();
                                    body_();
                                    ended_ = true;
                                    LeaveStack();
                                    return std::move(outside_);
                                  });
#ifdef __SANITIZE_THREAD__
  sanitizers_.inside = __tsan_create_fiber(0);
#endif
}

Coroutine::~Coroutine() {
  SLIM_CHECK(ended_ || left_, "a coroutine is destroyed before its end");
  // Without the release, the destructor would unwind the stack.
  if (left_)
    static_cast<void>(std::make_unique<boost::context::fiber>(std::move(inside_)).release());
#ifdef __SANITIZE_THREAD__
  __tsan_destroy_fiber(sanitizers_.inside);
#endif
}

void Coroutine::Resume() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&sanitizers_.outside_fake_stack,
                                 static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
#endif
#ifdef __SANITIZE_THREAD__
  // Switch back below, in Resume(), and not where the coroutine yields. So every frame in between
  // is entered and left on the same shadow stack, also the last frames of a coroutine that ends.
  void* const outside = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizers_.inside, 0);
#endif
  inside_ = std::move(inside_).resume();
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(outside, 0);
#endif
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(sanitizers_.outside_fake_stack, nullptr, nullptr);
  // The last frames of an ended coroutine never returned, so their memory is still poisoned. The
  // next user of these addresses must not inherit that.
  if (ended_) {
    __asan_unpoison_memory_region(static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
  }
#endif
}

void Coroutine::Abandon() {
  left_ = true;
#ifdef __SANITIZE_ADDRESS__
  // What the abandoned stack refers to is not a leak.
  __lsan_register_root_region(static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
#endif
}

void Coroutine::Yield() {
  LeaveStack();
  outside_ = std::move(outside_).resume();
  EnterStack();
}

void Coroutine::EnterStack() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(sanitizers_.inside_fake_stack, &sanitizers_.outside_bottom,
                                  &sanitizers_.outside_bytes);
#endif
}

void Coroutine::LeaveStack() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(ended_ ? nullptr : &sanitizers_.inside_fake_stack,
                                 sanitizers_.outside_bottom, sanitizers_.outside_bytes);
#endif
}

}  // namespace slimgraph
