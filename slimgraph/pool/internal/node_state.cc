#include "slimgraph/pool/internal/node_state.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <mutex>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/base/usage.h"

namespace slimgraph::internal {
namespace {

constexpr std::chrono::seconds kUntilJobsEnd{1};
constexpr std::chrono::seconds kUntilForgotten{1};

}  // namespace

NodeState::NodeState(std::uint64_t memory_bytes)
    : memory_bytes_(memory_bytes), since_ns_(NowNs()) {}

std::string NodeState::KeyOf(const std::string& name, const std::string& view) {
  return view.empty() ? name : name + "/" + view;  // no name has a slash
}

std::uint64_t NodeState::UsedBytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [key, entry] : graphs_) bytes += entry.graph->what.bytes;
  for (const auto& dropped : dropped_) {
    if (const SharedGraph graph = dropped.lock()) bytes += graph->what.bytes;
  }
  return bytes;
}

Status NodeState::BeginLoad(const KeptGraphStatus& what) {
  std::unique_lock lock(mutex_);
  // The load of a client that has just ended is forgotten a moment later.
  loaded_or_not_.wait_for(lock, kUntilForgotten, [&] {
    const auto found = graphs_.find(what.name);
    return found == graphs_.end() || found->second.graph->what.ready;
  });
  if (holds_still_) return EnvironmentError("the pool is about to stop");
  const auto graph = std::make_shared<KeptGraph>();
  graph->what = what;
  graph->what.ready = false;
  const auto [found, added] = graphs_.emplace(what.name, Entry{graph});
  if (added) return {};
  if (!found->second.graph->what.ready) {
    return InputError("graph '{}' is being loaded by another command", what.name);
  }
  return InputError("has a graph '{}' already: drop it first, or load this one --as another name",
                    what.name);
}

Result<SharedGraph> NodeState::FindOrBeginView(const std::string& name, const std::string& view,
                                               KeptGraphStatus& to_make) {
  const std::string key = KeyOf(name, view);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = graphs_.find(key);
    if (found == graphs_.end()) break;
    found->second.used = ++uses_;
    if (found->second.graph->what.ready) return found->second.graph;
    loaded_or_not_.wait(lock);
  }
  if (holds_still_) return EnvironmentError("the pool is about to stop");
  const auto whole = graphs_.find(name);
  if (whole == graphs_.end() || !whole->second.graph->what.ready) {
    return InputError("graph '{}' was dropped meanwhile", name);
  }
  to_make = whole->second.graph->what;
  to_make.view = view;
  to_make.facts.clear();
  to_make.bytes = 0;
  to_make.ready = false;
  const auto graph = std::make_shared<KeptGraph>();
  graph->what = to_make;
  graphs_.emplace(key, Entry{graph, ++uses_});
  return nullptr;
}

void NodeState::Forget(std::map<std::string, Entry>::iterator entry) {
  std::erase_if(dropped_, [](const auto& dropped) { return dropped.expired(); });
  dropped_.push_back(entry->second.graph);
  graphs_.erase(entry);
}

std::string NodeState::DropUnusedView() {
  auto oldest = graphs_.end();
  for (auto entry = graphs_.begin(); entry != graphs_.end(); ++entry) {
    const SharedGraph& graph = entry->second.graph;
    if (graph->what.view.empty() || !graph->what.ready) continue;
    if (graph.use_count() > 1 + CachesOf(entry->first)) continue;
    if (oldest == graphs_.end() || entry->second.used < oldest->second.used) oldest = entry;
  }
  if (oldest == graphs_.end()) return "";
  const std::string key = oldest->first;
  EndCachesOf(key);
  Forget(oldest);
  return key;
}

long NodeState::CachesOf(const std::string& key) const {
  return std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& job) {
    const AttachedJobStatus& what = job.second.what;
    return what.is_cache && KeyOf(what.graph, what.view) == key;
  });
}

void NodeState::EndCachesOf(const std::string& key) {
  for (auto& [number, job] : jobs_) {
    if (!job.what.is_cache || KeyOf(job.what.graph, job.what.view) != key) continue;
    job.unwanted = "its graph was dropped";
    job.asked->Set();
  }
}

Status NodeState::HoldLoaded(KeptGraph graph) {
  std::unique_lock lock(mutex_);
  const std::string key = KeyOf(graph.what.name, graph.what.view);
  const auto free = [&] { return memory_bytes_ - std::min(memory_bytes_, UsedBytes()); };
  while (memory_bytes_ != 0 && graph.what.bytes > free()) {
    if (const std::string view = DropUnusedView(); !view.empty()) {
      job_removed_.wait_for(lock, kUntilJobsEnd, [&] { return CachesOf(view) == 0; });
      continue;
    }
    return EnvironmentError(
        "{}graph '{}' needs {}, but of the pool's --memory {} only {} are free: drop another "
        "graph, or start a pool with more memory or more nodes",
        graph.what.view.empty() ? "" : "view '" + graph.what.view + "' of ", graph.what.name,
        FormatBytes(graph.what.bytes), FormatBytes(memory_bytes_), FormatBytes(free()));
  }
  const auto found = graphs_.find(key);
  if (found == graphs_.end()) return InputError("graph '{}' was dropped meanwhile", key);
  graph.what.ready = false;
  found->second.graph = std::make_shared<KeptGraph>(std::move(graph));
  return {};
}

Status NodeState::Keep(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(key);
  if (found == graphs_.end()) return InputError("graph '{}' was dropped meanwhile", key);
  // Nobody else has a reference to it yet.
  std::const_pointer_cast<KeptGraph>(found->second.graph)->what.ready = true;
  loaded_or_not_.notify_all();
  return {};
}

void NodeState::Abandon(const std::string& key) {
  const std::lock_guard lock(mutex_);
  graphs_.erase(key);
  loaded_or_not_.notify_all();
}

Result<SharedGraph> NodeState::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(key);
  if (found != graphs_.end() && found->second.graph->what.ready) {
    found->second.used = ++uses_;
    return found->second.graph;
  }
  if (found != graphs_.end()) return InputError("graph '{}' is still being loaded", key);
  std::string others;
  for (const auto& [other, entry] : graphs_) {
    if (!entry.graph->what.view.empty()) continue;
    others += (others.empty() ? "" : ", ") + other;
  }
  return InputError("has no graph '{}': {}", key,
                    others.empty() ? "load one by 'slimgraph pool load'" : "it has " + others);
}

Status NodeState::Drop(const std::string& name) {
  SLIM_ASSIGN(const SharedGraph graph, Find(name));
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(name);
  if (found == graphs_.end() || found->second.graph != graph) {
    return {};  // another has just dropped it
  }
  EndCachesOf(name);
  Forget(found);
  const std::string views = name + "/";
  while (true) {
    const auto view = graphs_.lower_bound(views);
    if (view == graphs_.end() || !view->first.starts_with(views)) break;
    EndCachesOf(view->first);
    Forget(view);
  }
  loaded_or_not_.notify_all();
  return {};
}

Result<std::uint64_t> NodeState::AddJob(AttachedJobStatus job, const Event& asked) {
  const std::lock_guard lock(mutex_);
  if (holds_still_) return EnvironmentError("the pool is about to stop");
  jobs_.emplace(++last_job_, Job{std::move(job), NowNs(), &asked});
  return last_job_;
}

void NodeState::SetDeputy(std::uint64_t number, pid_t deputy) {
  const std::lock_guard lock(mutex_);
  jobs_.at(number).what.deputy = deputy;
}

void NodeState::RemoveJob(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(number);
  job_removed_.notify_all();
}

Status NodeState::HoldStill() {
  const std::lock_guard lock(mutex_);
  const auto is_job = [](const auto& job) { return !job.second.what.is_cache; };
  if (const auto jobs = std::count_if(jobs_.begin(), jobs_.end(), is_job); jobs > 0) {
    const AttachedJobStatus& job = std::find_if(jobs_.begin(), jobs_.end(), is_job)->second.what;
    return UsageError("{} job{} attached, such as process {} ({}): wait for its end, or give --now",
                      jobs, jobs == 1 ? " is" : "s are", job.client, job.command);
  }
  for (const auto& [key, entry] : graphs_) {
    if (entry.graph->what.ready) continue;
    return UsageError("graph '{}' is being loaded: wait for its end, or give --now", key);
  }
  holds_still_ = true;
  return {};
}

void NodeState::GoOn() {
  const std::lock_guard lock(mutex_);
  holds_still_ = false;
}

void NodeState::EndJobs() {
  std::unique_lock lock(mutex_);
  holds_still_ = true;
  for (auto& [number, job] : jobs_) {
    job.unwanted = "its pool was stopped";
    job.asked->Set();
  }
  job_removed_.wait_for(lock, kUntilJobsEnd, [&] { return jobs_.empty(); });
  for (const auto& [number, job] : jobs_) {
    if (job.what.deputy > 0) ::kill(job.what.deputy, SIGKILL);
  }
}

Status NodeState::CheckMayChange(const std::string& client, bool asked_by_reader) const {
  for (const auto& [number, job] : jobs_) {
    if (!asked_by_reader || job.what.client != client || job.what.of_reader) continue;
    return EnvironmentError("the job of process {} is not of somebody with whom the pool is shared",
                            client);
  }
  return {};
}

Result<std::size_t> NodeState::CancelJobsOf(const std::string& client, bool asked_by_reader) {
  const std::lock_guard lock(mutex_);
  SLIM_TRY(CheckMayChange(client, asked_by_reader));
  std::size_t jobs = 0;
  for (auto& [number, job] : jobs_) {
    if (job.what.client != client || job.what.deputy <= 0) continue;
    job.unwanted = "it was cancelled (slimgraph job cancel)";
    job.asked->Set();
    ++jobs;
  }
  return jobs;
}

Result<std::size_t> NodeState::ResizeJobsOf(const std::string& client, NodeId compute,
                                            bool asked_by_reader) {
  const std::lock_guard lock(mutex_);
  SLIM_TRY(CheckMayChange(client, asked_by_reader));
  std::size_t jobs = 0;
  for (auto& [number, job] : jobs_) {
    if (job.what.client != client) continue;
    if (!job.what.resizable) {
      return UsageError(
          "the job of process {} keeps its compute nodes: only vertex programs that run once, and "
          "counts of patterns, change them",
          client);
    }
    job.resize = compute;
    job.what.kept.clear();
    job.asked->Set();
    ++jobs;
  }
  return jobs;
}

std::optional<NodeId> NodeState::TakeResize(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return std::exchange(jobs_.at(number).resize, std::nullopt);
}

std::string NodeState::WhyUnwanted(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return jobs_.at(number).unwanted;
}

void NodeState::SetKept(std::uint64_t number, const std::string& why) {
  const std::lock_guard lock(mutex_);
  jobs_.at(number).what.kept = why;
}

void NodeState::SetCached(std::uint64_t number, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  jobs_.at(number).cached_bytes = bytes;
}

PoolNodeStatus NodeState::Describe() const {
  const std::lock_guard lock(mutex_);
  PoolNodeStatus status{.process = ::getpid(),
                        .memory_bytes = memory_bytes_,
                        .used_bytes = UsedBytes(),
                        .up_seconds = SecondsSince(since_ns_),
                        .processor_seconds = ProcessorSeconds()};
  for (const auto& [key, entry] : graphs_) status.graphs.push_back(entry.graph->what);
  for (const auto& [number, job] : jobs_) {
    if (job.what.is_cache) {
      status.caches.push_back({job.what.graph, job.what.view, job.what.client, job.cached_bytes});
      continue;
    }
    status.jobs.push_back(job.what);
    status.jobs.back().seconds = SecondsSince(job.since_ns);
  }
  return status;
}

}  // namespace slimgraph::internal
