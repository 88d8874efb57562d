#include "apps/pool/pool_output.h"

#include <algorithm>
#include <map>

#include "apps/job/job_runner.h"
#include "apps/print.h"
#include "slimgraph/base/units.h"
#include "slimgraph/remote/standing_graph.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

int PrintReportOf(Report& report) {
  SetOptions(report);
  return Print(ToJson(report) + "\n");
}

// A graph or a job of the whole pool: its parts on the nodes are put together.
struct GraphOfPool {
  KeptGraphStatus what;
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> nodes;
};
struct JobOfPool {
  AttachedJobStatus what;
  std::uint64_t deputies = 0;
};

std::vector<GraphOfPool> GraphsOf(const PoolView& view) {
  std::map<std::string, GraphOfPool> graphs;
  for (std::size_t node = 0; node < view.nodes.size(); ++node) {
    if (!view.nodes[node].status) continue;
    for (const KeptGraphStatus& part : view.nodes[node].status->graphs) {
      GraphOfPool& graph = graphs[part.name + " " + part.view + " " + part.id];
      if (graph.nodes.empty()) graph.what = part;
      graph.what.ready = graph.what.ready && part.ready;
      graph.bytes += part.bytes;
      graph.nodes.push_back(node);
    }
  }
  std::vector<GraphOfPool> all;
  for (auto& [key, graph] : graphs) all.push_back(std::move(graph));
  return all;
}

std::vector<JobOfPool> JobsOf(const PoolView& view) {
  std::map<std::string, JobOfPool> jobs;
  for (const PoolNodeView& node : view.nodes) {
    if (!node.status) continue;
    for (const AttachedJobStatus& deputy : node.status->jobs) {
      JobOfPool& job = jobs[deputy.client];
      const double seconds = std::max(job.what.seconds, deputy.seconds);
      job.what = deputy;
      job.what.seconds = seconds;
      ++job.deputies;
    }
  }
  std::vector<JobOfPool> all;
  for (auto& [client, job] : jobs) all.push_back(std::move(job));
  return all;
}

// Each cache once, as its agent last told a node.
std::vector<HostCacheStatus> CachesOf(const PoolView& view) {
  std::map<std::string, HostCacheStatus> caches;
  for (const PoolNodeView& node : view.nodes) {
    if (!node.status) continue;
    for (const HostCacheStatus& cache : node.status->caches) caches[cache.agent] = cache;
  }
  std::vector<HostCacheStatus> all;
  for (auto& [agent, cache] : caches) all.push_back(std::move(cache));
  return all;
}

std::string DescribeNode(const PoolDescriptor& pool, std::size_t number, const PoolNodeView& node) {
  const std::string host = node.where.host.empty() ? "" : " on " + node.where.host;
  if (!node.runs) {
    return fmt::format("  node {}{}  has ended: 'slimgraph pool start {}' starts it again\n",
                       number, host, pool.name);
  }
  if (!node.status) return fmt::format("  node {}{}  {}\n", number, host, node.problem);
  const PoolNodeStatus& status = *node.status;
  const std::string limit =
      status.memory_bytes == 0 ? "" : " of " + FormatBytes(status.memory_bytes);
  return fmt::format("  node {}{}  process {}, up {}, {}{}\n", number, host, status.process,
                     FormatSeconds(status.up_seconds), FormatBytes(status.used_bytes), limit);
}

std::string FormOf(const std::string& view) {
  if (view.empty()) return "";
  if (view == kUnitView) return " with weights of 1";
  if (view == kBothView) return " without directions";
  return fmt::format(" for mining ({})", view);
}

std::string DescribeGraph(const PoolView& view, const GraphOfPool& graph) {
  std::string text = fmt::format("  graph {}{}  {}, {}", graph.what.name, FormOf(graph.what.view),
                                 graph.what.shown, FormatBytes(graph.bytes));
  if (!graph.what.ready) return text + ", is being loaded\n";
  // Nodes that have ended get it back when they are started again.
  const auto answering = static_cast<std::size_t>(
      std::count_if(view.nodes.begin(), view.nodes.end(),
                    [](const PoolNodeView& node) { return node.status.has_value(); }));
  if (graph.nodes.size() < answering) {
    text += fmt::format(", only on {} of {} nodes", graph.nodes.size(), view.nodes.size());
    // A node that lacks a view makes it when a job needs it.
    if (graph.what.view.empty()) text += ": drop it, and load it again";
  }
  return text + "\n";
}

void SetNode(Report& report, std::size_t number, const PoolNodeView& node) {
  const std::string at = fmt::format("/result/nodes/{}", number);
  report.Set(at + "/host", node.where.host);
  report.Set(at + "/address", node.where.address);
  report.Set(at + "/process", static_cast<std::uint64_t>(node.where.process));
  report.Set(at + "/runs", node.runs);
  report.Set(at + "/answers", node.status.has_value());
  if (!node.status) {
    report.Set(at + "/problem", node.problem);
    return;
  }
  report.Set(at + "/used_bytes", node.status->used_bytes);
  report.Set(at + "/up_s", node.status->up_seconds);
  report.Set(at + "/processor_s", node.status->processor_seconds);
}

std::string DescribeJob(const JobOfPool& job) {
  return fmt::format("job {}  {}, {}, attached for {}\n", job.what.client, job.what.command,
                     FormatCounted(job.what.compute, "compute node"),
                     FormatSeconds(job.what.seconds));
}

void SetJobs(Report& report, const std::vector<JobOfPool>& jobs) {
  report.Set("/result/jobs", std::vector<std::string>());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string at = fmt::format("/result/jobs/{}", i);
    report.Set(at + "/graph", jobs[i].what.graph);
    report.Set(at + "/command", jobs[i].what.command);
    report.Set(at + "/job", jobs[i].what.client);
    report.Set(at + "/process", std::strtoull(jobs[i].what.client.c_str(), nullptr, 10));
    report.Set(at + "/compute", std::uint64_t{jobs[i].what.compute});
    report.Set(at + "/resizable", jobs[i].what.resizable);
    report.Set(at + "/deputies", jobs[i].deputies);
    report.Set(at + "/attached_s", jobs[i].what.seconds);
  }
}

std::string DescribeCache(const PoolDescriptor& pool, const HostCacheStatus& cache) {
  const std::size_t host = cache.agent.find('@');
  return fmt::format("  cache{} of {}{}  {} of {}\n",
                     host == std::string::npos ? "" : " on " + cache.agent.substr(host + 1),
                     cache.graph, FormOf(cache.view), FormatBytes(cache.bytes),
                     FormatBytes(pool.host_cache_bytes));
}

void SetCaches(Report& report, const std::vector<HostCacheStatus>& caches) {
  report.Set("/result/caches", std::vector<std::string>());
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const std::string at = fmt::format("/result/caches/{}", i);
    report.Set(at + "/graph", caches[i].graph);
    report.Set(at + "/view", caches[i].view);
    report.Set(at + "/agent", caches[i].agent);
    report.Set(at + "/bytes", caches[i].bytes);
  }
}

int PrintStatusObject(const PoolView& view) {
  Report report("pool status");
  report.Set("/pool/name", view.pool.name);
  report.Set("/pool/version", view.pool.version);
  report.Set("/pool/transport", view.pool.transport);
  report.Set("/pool/encrypts", view.pool.encrypts);
  report.Set("/pool/read_only", view.pool.read_only);
  report.Set("/pool/memory_bytes", view.pool.memory_bytes);
  report.Set("/pool/job_memory_bytes", view.pool.job_memory_bytes);
  report.Set("/pool/job_bytes_per_s", view.pool.job_bytes_per_s);
  report.Set("/pool/host_cache_bytes", view.pool.host_cache_bytes);
  for (std::size_t i = 0; i < view.nodes.size(); ++i) SetNode(report, i, view.nodes[i]);
  const auto graphs = GraphsOf(view);
  report.Set("/result/graphs", std::vector<std::string>());
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::string at = fmt::format("/result/graphs/{}", i);
    report.Set(at + "/name", graphs[i].what.name);
    report.Set(at + "/view", graphs[i].what.view);
    report.Set(at + "/file", graphs[i].what.shown);
    report.Set(at + "/bytes", graphs[i].bytes);
    report.Set(at + "/ready", graphs[i].what.ready);
    report.Set(at + "/nodes", graphs[i].nodes);
  }
  SetJobs(report, JobsOf(view));
  SetCaches(report, CachesOf(view));
  return PrintReportOf(report);
}

// What each job may take of each node.
std::string DescribeQuota(const PoolDescriptor& pool) {
  std::string text;
  if (pool.job_memory_bytes != 0) text += FormatBytes(pool.job_memory_bytes) + " of memory";
  if (pool.job_bytes_per_s != 0) {
    text += (text.empty() ? "" : " and ") + FormatBytes(pool.job_bytes_per_s) + " a second";
  }
  return text.empty() ? "" : "  a job may take " + text + " of each node\n";
}

}  // namespace

int PrintStarted(const PoolStarted& started, bool json) {
  const PoolDescriptor& pool = started.pool;
  if (json) {
    Report report("pool start");
    report.Set("/pool/name", pool.name);
    report.Set("/result/nodes", static_cast<std::uint64_t>(pool.nodes.size()));
    report.Set("/result/started", std::uint64_t{started.started});
    report.Set("/result/reloaded", started.reloaded);
    return PrintReportOf(report);
  }
  std::string text =
      fmt::format("pool {}: {}", pool.name, FormatCounted(pool.nodes.size(), "node"));
  if (started.started == 0) text += ", all of which ran already";
  if (started.started > 0 && started.started < pool.nodes.size()) {
    text += fmt::format(", {} of which had ended", started.started);
  }
  if (!started.reloaded.empty()) text += "; loaded again: " + Joined(started.reloaded);
  return Print(text + "\n");
}

int PrintLoaded(const PoolLoad& load, const PoolLoaded& loaded, double seconds, bool json) {
  if (json) {
    Report report("pool load");
    report.Set("/pool/name", load.pool);
    report.Set("/graph/path", load.shown);
    report.Set("/result/graph", load.graph);
    report.Set("/result/nodes", std::uint64_t{loaded.nodes});
    report.Set("/result/bytes", loaded.bytes);
    report.Set("/time/load_s", seconds);
    return PrintReportOf(report);
  }
  return Print(fmt::format("{}:{}: {} in {} on {}\n", load.pool, load.graph,
                           FormatBytes(loaded.bytes), FormatSeconds(seconds),
                           FormatCounted(loaded.nodes, "node")));
}

int PrintStatus(const PoolView& view, bool json) {
  if (json) return PrintStatusObject(view);
  const auto graphs = GraphsOf(view);
  const auto jobs = JobsOf(view);
  std::string text = fmt::format(
      "pool {}: {}, {}, {}{}{}\n", view.pool.name, FormatCounted(view.nodes.size(), "node"),
      FormatCounted(graphs.size(), "graph"), FormatCounted(jobs.size(), "job"),
      view.pool.encrypts ? ", encrypted" : "", view.pool.read_only ? ", for reading" : "");
  text += DescribeQuota(view.pool);
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    text += DescribeNode(view.pool, i, view.nodes[i]);
  }
  for (const GraphOfPool& graph : graphs) text += DescribeGraph(view, graph);
  for (const HostCacheStatus& cache : CachesOf(view)) text += DescribeCache(view.pool, cache);
  for (const JobOfPool& job : jobs) text += "  " + DescribeJob(job);
  return Print(text);
}

int PrintJobs(const PoolView& view, bool json) {
  const auto jobs = JobsOf(view);
  if (json) {
    Report report("job list");
    report.Set("/pool/name", view.pool.name);
    SetJobs(report, jobs);
    return PrintReportOf(report);
  }
  std::string text;
  for (const JobOfPool& job : jobs) text += DescribeJob(job);
  return Print(text.empty() ? "no jobs\n" : text);
}

int PrintPools(const std::vector<PoolSummary>& pools, bool json) {
  if (json) {
    Report report("pool list");
    report.Set("/result/pools", std::vector<std::string>());
    for (std::size_t i = 0; i < pools.size(); ++i) {
      const std::string at = fmt::format("/result/pools/{}", i);
      report.Set(at + "/name", pools[i].name);
      report.Set(at + "/nodes", std::uint64_t{pools[i].nodes});
      report.Set(at + "/running", std::uint64_t{pools[i].running});
      report.Set(at + "/read_only", pools[i].read_only);
      report.Set(at + "/problem", pools[i].problem);
    }
    return PrintReportOf(report);
  }
  std::string text;
  for (const PoolSummary& pool : pools) {
    if (!pool.problem.empty()) {
      text += fmt::format("{}: {}\n", pool.name, pool.problem);
    } else if (pool.running == 0) {
      text += fmt::format("{}: its nodes have ended\n", pool.name);
    } else {
      text += fmt::format("{}: {} of {} run{}\n", pool.name, pool.running,
                          FormatCounted(pool.nodes, "node"), pool.read_only ? ", for reading" : "");
    }
  }
  return Print(pools.empty() ? "no pools\n" : text);
}

}  // namespace slimgraph
