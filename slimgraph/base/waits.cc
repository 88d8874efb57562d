#include "slimgraph/base/waits.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "slimgraph/base/sync.h"

namespace slimgraph {
namespace {

constexpr const char* kVariable = "SLIMGRAPH_LOG";

double Seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Logs the waits of this process. The first wait starts the thread that does so.
class Log {
 public:
  explicit Log(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  Waits::Id Enter(NodeId node, std::string what, std::uint64_t since_ns) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(watched_, true)) Thread([this] { Watch(); }).detach();
    const std::uint64_t before_ns = waits_.next_ns();
    const Waits::Id id = waits_.Enter(node, std::move(what), since_ns);
    if (waits_.next_ns() < before_ns) changed_.notify_one();
    return id;
  }
  void Restate(Waits::Id id, std::string what) {
    const std::lock_guard lock(mutex_);
    waits_.Restate(id, std::move(what));
  }
  void Leave(Waits::Id id) {
    const std::lock_guard lock(mutex_);
    if (const auto line = waits_.Leave(id, NowNs())) tell_(*line);
  }

 private:
  [[noreturn]] void Watch() {
    std::unique_lock lock(mutex_);
    while (true) {
      for (const std::string& line : waits_.Report(NowNs())) tell_(line);
      const std::uint64_t next_ns = waits_.next_ns();
      if (next_ns == Waits::kNever) {
        changed_.wait(lock);
      } else {
        const std::uint64_t now_ns = NowNs();
        changed_.wait_for(lock, std::chrono::nanoseconds(next_ns > now_ns ? next_ns - now_ns : 0));
      }
    }
  }

  const std::function<void(const std::string&)> tell_;
  Mutex mutex_;
  Condition changed_;
  bool watched_ = false;
  Waits waits_;
};

// Never destroyed: threads wait until the process ends.
Log* the_log = nullptr;

}  // namespace

Waits::Id Waits::Enter(NodeId node, std::string what, std::uint64_t since_ns) {
  waits_.emplace(++last_, Wait{node, std::move(what), since_ns, since_ns + kFirstReportNs});
  return last_;
}

void Waits::Restate(Id id, std::string what) { waits_.find(id)->second.what = std::move(what); }

std::optional<std::string> Waits::Leave(Id id, std::uint64_t now_ns) {
  const auto found = waits_.find(id);
  const Wait wait = std::move(found->second);
  waits_.erase(found);
  if (!wait.reported) return std::nullopt;
  return fmt::format("node {} has waited {:.1f} s for {}: the wait is over", wait.node,
                     Seconds(now_ns - wait.since_ns), wait.what);
}

std::vector<std::string> Waits::Report(std::uint64_t now_ns) {
  std::vector<std::string> lines;
  for (auto& [id, wait] : waits_) {
    if (now_ns < wait.next_ns) continue;
    const std::uint64_t waited_ns = now_ns - wait.since_ns;
    lines.push_back(
        fmt::format("node {} waits {:.1f} s for {}", wait.node, Seconds(waited_ns), wait.what));
    wait.reported = true;
    wait.next_ns = now_ns + waited_ns;
  }
  return lines;
}

std::uint64_t Waits::next_ns() const {
  std::uint64_t next_ns = kNever;
  for (const auto& [id, wait] : waits_) next_ns = std::min(next_ns, wait.next_ns);
  return next_ns;
}

Status StartWaitLog(std::function<void(const std::string& line)> tell) {
  const char* const value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return {};
  if (std::string_view(value) != "debug") {
    return UsageError("{}={} is unknown: set it to debug, or leave it out", kVariable, value);
  }
  if (the_log != nullptr) return {};
  the_log = new Log(std::move(tell));
  internal::logs_waits.store(true, std::memory_order_release);
  return {};
}

namespace internal {

Waits::Id EnterWait(NodeId node, std::string what, std::uint64_t since_ns) {
  return the_log->Enter(node, std::move(what), since_ns);
}
void RestateWait(Waits::Id id, std::string what) { the_log->Restate(id, std::move(what)); }
void LeaveWait(Waits::Id id) { the_log->Leave(id); }

}  // namespace internal

std::string NodesInWords(std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::string text = nodes.size() == 1 ? "node" : "nodes";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? " " : i + 1 == nodes.size() ? " and " : ", ", nodes[i]);
  }
  return text;
}

}  // namespace slimgraph
