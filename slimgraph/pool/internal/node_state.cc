#include "slimgraph/pool/internal/node_state.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <mutex>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/base/usage.h"

namespace slimgraph::internal {

NodeState::NodeState(std::uint64_t memory_bytes)
    : memory_bytes_(memory_bytes), since_ns_(NowNs()) {}

std::uint64_t NodeState::UsedBytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, graph] : graphs_) bytes += graph->what.bytes;
  for (const auto& dropped : dropped_) {
    if (const SharedGraph graph = dropped.lock()) bytes += graph->what.bytes;
  }
  return bytes;
}

Status NodeState::BeginLoad(const KeptGraphStatus& what) {
  const std::lock_guard lock(mutex_);
  if (holds_still_) return EnvironmentError("the pool is about to stop");
  const auto graph = std::make_shared<KeptGraph>();
  graph->what = what;
  graph->what.ready = false;
  const auto [found, added] = graphs_.emplace(what.name, graph);
  if (added) return {};
  if (!found->second->what.ready) {
    return InputError("graph '{}' is being loaded by another command", what.name);
  }
  return InputError("has a graph '{}' already: drop it first, or load this one --as another name",
                    what.name);
}

Status NodeState::HoldLoaded(KeptGraph graph) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t used = UsedBytes();
  if (memory_bytes_ != 0 && graph.what.bytes > memory_bytes_ - std::min(memory_bytes_, used)) {
    return EnvironmentError(
        "graph '{}' needs {}, but of the pool's --memory {} only {} are free: drop another graph, "
        "or "
        "start a pool with more memory or more nodes",
        graph.what.name, FormatBytes(graph.what.bytes), FormatBytes(memory_bytes_),
        FormatBytes(memory_bytes_ - std::min(memory_bytes_, used)));
  }
  graph.what.ready = false;
  const std::string name = graph.what.name;
  graphs_[name] = std::make_shared<KeptGraph>(std::move(graph));
  return {};
}

void NodeState::Keep(const std::string& name) {
  const std::lock_guard lock(mutex_);
  // Nobody else has a reference to it yet.
  std::const_pointer_cast<KeptGraph>(graphs_.at(name))->what.ready = true;
}

void NodeState::Abandon(const std::string& name) {
  const std::lock_guard lock(mutex_);
  graphs_.erase(name);
}

Result<SharedGraph> NodeState::Find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(name);
  if (found != graphs_.end() && found->second->what.ready) return found->second;
  if (found != graphs_.end()) return InputError("graph '{}' is still being loaded", name);
  std::string others;
  for (const auto& [other, graph] : graphs_) others += (others.empty() ? "" : ", ") + other;
  return InputError("has no graph '{}': {}", name,
                    others.empty() ? "load one by 'slimgraph pool load'" : "it has " + others);
}

Status NodeState::Drop(const std::string& name) {
  SLIM_ASSIGN(const SharedGraph graph, Find(name));
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(name);
  if (found == graphs_.end() || found->second != graph) return {};  // another has just dropped it
  std::erase_if(dropped_, [](const auto& dropped) { return dropped.expired(); });
  dropped_.push_back(graph);
  graphs_.erase(found);
  return {};
}

Result<std::uint64_t> NodeState::AddJob(AttachedJobStatus job) {
  const std::lock_guard lock(mutex_);
  if (holds_still_) return EnvironmentError("the pool is about to stop");
  jobs_.emplace(++last_job_, Job{std::move(job), NowNs()});
  return last_job_;
}

void NodeState::SetDeputy(std::uint64_t number, pid_t deputy) {
  const std::lock_guard lock(mutex_);
  jobs_.at(number).what.deputy = deputy;
}

void NodeState::RemoveJob(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(number);
}

Status NodeState::HoldStill() {
  const std::lock_guard lock(mutex_);
  if (!jobs_.empty()) {
    const AttachedJobStatus& job = jobs_.begin()->second.what;
    return UsageError("{} job{} attached, such as process {} ({}): wait for its end, or give --now",
                      jobs_.size(), jobs_.size() == 1 ? " is" : "s are", job.process, job.command);
  }
  for (const auto& [name, graph] : graphs_) {
    if (graph->what.ready) continue;
    return UsageError("graph '{}' is being loaded: wait for its end, or give --now", name);
  }
  holds_still_ = true;
  return {};
}

void NodeState::GoOn() {
  const std::lock_guard lock(mutex_);
  holds_still_ = false;
}

void NodeState::KillDeputies() {
  const std::lock_guard lock(mutex_);
  holds_still_ = true;
  for (const auto& [number, job] : jobs_) {
    if (job.what.deputy > 0) ::kill(job.what.deputy, SIGKILL);
  }
}

PoolNodeStatus NodeState::Describe() const {
  const std::lock_guard lock(mutex_);
  PoolNodeStatus status{.process = ::getpid(),
                        .memory_bytes = memory_bytes_,
                        .used_bytes = UsedBytes(),
                        .up_seconds = SecondsSince(since_ns_),
                        .processor_seconds = ProcessorSeconds()};
  for (const auto& [name, graph] : graphs_) status.graphs.push_back(graph->what);
  for (const auto& [number, job] : jobs_) {
    status.jobs.push_back(job.what);
    status.jobs.back().seconds = SecondsSince(job.since_ns);
  }
  return status;
}

}  // namespace slimgraph::internal
