// Logs what the threads of this process wait for while they wait, so that a hanging job can be
// diagnosed without a debugger. Before StartWaitLog() nothing is logged, and a wait costs one
// additional relaxed load.
//
//   WaitAndLog(self, [&](auto limit) { return endpoint.WaitUntil(here, limit); },
//               [&] { return fmt::format("the list of {}", NodesInWords(missing)); });
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// The current waits, and when each is due to be reported: after one second, and again each time its
// duration has doubled. Callers pass the time. Not thread-safe.
class Waits {
 public:
  using Id = std::uint64_t;  // never 0
  static constexpr std::uint64_t kFirstReportNs = 1'000'000'000;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // `node` has been waiting for `what` since `since_ns`.
  Id Enter(NodeId node, std::string what, std::uint64_t since_ns);
  // Changes the description of what is waited for.
  void Restate(Id id, std::string what);
  // Ends a wait. Returns a closing line if the wait was reported before.
  std::optional<std::string> Leave(Id id, std::uint64_t now_ns);
  // One line for each wait that is due to be reported.
  std::vector<std::string> Report(std::uint64_t now_ns);
  // When Report() will next return a line; kNever if there is no wait.
  std::uint64_t next_ns() const;

 private:
  struct Wait {
    NodeId node;
    std::string what;
    std::uint64_t since_ns;
    std::uint64_t next_ns;
    bool reported = false;
  };
  std::map<Id, Wait> waits_;
  Id last_ = 0;
};

// With SLIMGRAPH_LOG=debug, `tell` receives a line about each long wait from now on. It may be
// called from any thread, until the process ends. If the variable is unset or empty, nothing
// happens. Any other value is an error.
Status StartWaitLog(std::function<void(const std::string& line)> tell);

namespace internal {
inline std::atomic<bool> logs_waits{false};
Waits::Id EnterWait(NodeId node, std::string what, std::uint64_t since_ns);
void RestateWait(Waits::Id id, std::string what);
void LeaveWait(Waits::Id id);
}  // namespace internal

inline bool LogsWaits() { return internal::logs_waits.load(std::memory_order_relaxed); }

// A wait of the calling thread, until End() or the destructor. `describe()` returns what it waits
// for, such as "a list of node 1". It is called immediately, or not at all if waits are not logged.
class Waiting {
 public:
  Waiting() = default;
  template <typename Describe>
  Waiting(NodeId node, const Describe& describe, std::uint64_t since_ns = 0) {
    For(node, describe, since_ns);
  }
  ~Waiting() { End(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // Begins a wait of `node`, at `since_ns` or now. If the wait has begun already, updates its
  // description.
  template <typename Describe>
  void For(NodeId node, const Describe& describe, std::uint64_t since_ns = 0) {
    if (!LogsWaits()) return;
    if (id_ != 0) return internal::RestateWait(id_, describe());
    id_ = internal::EnterWait(node, describe(), since_ns == 0 ? NowNs() : since_ns);
  }
  void End() {
    if (id_ != 0) internal::LeaveWait(std::exchange(id_, 0));
  }

 private:
  Waits::Id id_ = 0;
};

// Shorter waits are not registered, which saves describing them.
constexpr std::uint64_t kShortWaitNs = 100'000'000;

// Calls `wait(limit)`, which blocks for at most `limit`, until it returns true.
template <typename Wait, typename Describe>
void WaitAndLog(NodeId node, const Wait& wait, const Describe& describe) {
  constexpr std::chrono::nanoseconds kForLong = std::chrono::hours(1);
  constexpr std::chrono::nanoseconds kUntilRestated = std::chrono::milliseconds(500);
  if (!LogsWaits()) {
    while (!wait(kForLong)) {
    }
    return;
  }
  const std::uint64_t since_ns = NowNs();
  if (wait(std::chrono::nanoseconds(kShortWaitNs))) return;
  Waiting waiting(node, describe, since_ns);
  while (!wait(kUntilRestated)) waiting.For(node, describe);
}

// "node 1", "nodes 1 and 3", "nodes 1, 2 and 3". `nodes` may be in any order and have duplicates.
std::string NodesInWords(std::vector<NodeId> nodes);

}  // namespace slimgraph
