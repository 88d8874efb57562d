// How native code runs for Python: on a thread of its own, without the GIL. The calling thread
// meanwhile handles signals, so Ctrl-C ends the call.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>

#include "slimgraph/base/result.h"

namespace slimgraph::python {

// Throws the exception class of slimgraph.errors that stands for the error's kind.
[[noreturn]] void Throw(const Error& error);

template <typename T>
T Checked(Result<T> result) {
  if (!result) Throw(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// How often the waiting thread looks for signals.
constexpr std::chrono::milliseconds kSignalInterval{50};

// Runs work() on a new thread and returns its value, or throws its error. If a signal handler
// raises an exception meanwhile, as that of Ctrl-C does, calls cancel(), which must make the work
// end soon, and throws this exception once the work has ended. Python calls this with the GIL.
template <typename Work, typename Cancel>
auto Await(Work work, Cancel cancel) {
  using Outcome = std::invoke_result_t<Work>;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Outcome> outcome;
  bool raised = false;
  {
    nanobind::gil_scoped_release release;
    std::thread worker([&] {
      Outcome result = work();
      const std::lock_guard lock(mutex);
      outcome.emplace(std::move(result));
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    const auto done = [&] { return outcome.has_value(); };
    while (!changed.wait_for(lock, kSignalInterval, done)) {
      if (raised) continue;
      lock.unlock();
      {
        const nanobind::gil_scoped_acquire acquire;
        raised = PyErr_CheckSignals() != 0;
      }
      if (raised) cancel();
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (raised) throw nanobind::python_error();
  return Checked(std::move(*outcome));
}

}  // namespace slimgraph::python
