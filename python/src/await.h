// How native code runs for Python: on a thread of its own, without the GIL. The calling thread
// meanwhile handles signals, so Ctrl-C ends the call.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"

namespace slimgraph::python {

// Throws the exception class of slimgraph.errors that stands for the error's kind.
[[noreturn]] void Throw(const Error& error);

template <typename T>
T Checked(Result<T> result) {
  if (!result) Throw(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// How often the waiting thread looks for signals, and how often of these times it shows progress.
constexpr std::chrono::milliseconds kSignalInterval{50};
constexpr unsigned kIntervalsOfProgress = 5;

// How much of the work is done, from 0 to 1, if that is known.
using Share = std::optional<double>;

// Called with the GIL: handles signals and shows progress. Returns false if this has raised a
// Python exception, which stays set.
bool HandleSignals(unsigned intervals, Share done);

// Runs work() on a new thread and returns its value, or throws its error. If a signal handler
// raises an exception meanwhile, as that of Ctrl-C does, calls cancel(), which must make the work
// end soon, and throws this exception once the work has ended. `progress` returns a Share. Python
// calls this with the GIL.
template <typename Work, typename Cancel, typename Progress = Share (*)()>
auto Await(
    Work work, Cancel cancel, Progress progress = [] { return Share(); }) {
  using Outcome = std::invoke_result_t<Work>;
  Mutex mutex;
  Condition changed;
  std::optional<Outcome> outcome;
  bool raised = false;
  {
    nanobind::gil_scoped_release release;
    Thread worker([&] {
      Outcome result = work();
      const std::lock_guard lock(mutex);
      outcome.emplace(std::move(result));
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    const auto done = [&] { return outcome.has_value(); };
    for (unsigned intervals = 1; !changed.wait_for(lock, kSignalInterval, done); ++intervals) {
      if (raised) continue;
      lock.unlock();
      {
        const Share share = progress();
        const nanobind::gil_scoped_acquire acquire;
        raised = !HandleSignals(intervals, share);
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
