#include "dkudu/mining_job.h"

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/units.h"

namespace slimgraph::dkudu {
Status RequireCompleteLists(const MiningGraph& graph, const char* what) {
  if (graph.part() == ListPart::kAll) return {};
  return UsageError("counting {} needs complete lists, but the graph was loaded with ListPart::{}",
                    what, graph.part() == ListPart::kUpper ? "kUpper" : "kArcs");
}

Status RunEngines(MiningJob& job, const Stage& stage,
                  const std::function<Status(std::uint32_t, Endpoint&)>& body) {
  if (!job.cluster.computes()) return {};
  const std::uint32_t threads = job.cluster.threads();
  job.busy_s.resize(threads);
  return RunOnThreads(threads, [&](std::size_t index) {
    const auto thread = static_cast<std::uint32_t>(index);
    Endpoint& endpoint = job.cluster.fabric().endpoint(thread);
    const std::uint64_t start_ns = ThreadCpuNs();
    const StageScope scope(endpoint, job.seconds[thread], stage);
    Status done = body(thread, endpoint);
    job.busy_s[thread] += static_cast<double>(ThreadCpuNs() - start_ns) * 1e-9;
    return done;
  });
}

WorkingMemory WorkingMemoryOf(const MiningGraph& graph, const MiningOptions& options,
                              const Cluster& cluster, const EngineBytes& engine_bytes,
                              std::uint64_t entry_bytes) {
  const std::uint64_t bytes_of_entries = graph.index(graph.self()).arcs() * entry_bytes;
  if (!graph.computes()) return {.own_bytes = bytes_of_entries};
  const bool asks = options.fetch == Fetch::kRequest && graph.compute() > 1;
  const bool maps = cluster.maps_far_memory();
  const std::uint64_t peers = graph.compute() - 1;
  WorkingMemory working{.own_bytes = bytes_of_entries + engine_bytes(graph, options)};
  if (maps) working.mapped_bytes += graph.remote_arcs() * entry_bytes;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (node == graph.self()) continue;
    const bool computes = node < graph.compute();
    if (maps && !(computes && asks)) working.mapped_bytes += graph.index(node).coded_bytes();
  }
  if (!asks) return working;
  // Room for the answers to this node, and for its answers to all requests that the others may have
  // outstanding at once.
  const std::uint64_t answer_bytes =
      graph.threads() * ListFetch::kSlots * ListFetch::SlotBytes(graph);
  working.own_bytes += answer_bytes + peers * answer_bytes;
  if (maps) working.mapped_bytes += peers * answer_bytes;
  return working;
}

bool MayOfferWork(const MiningGraph& graph, const MiningOptions& options) {
  return options.steal == Steal::kOn && graph.compute() * graph.threads() > 1;
}

std::uint64_t OfferBytes(const MiningGraph& graph, const MiningOptions& options,
                         std::uint64_t part_bytes) {
  return MayOfferWork(graph, options) ? WorkOffers::BytesTaken(graph.threads(), part_bytes) : 0;
}

Result<std::unique_ptr<WorkOffers>> MakeOffers(MiningJob& job, std::uint64_t part_bytes) {
  return WorkOffers::Make(job.cluster, job.regions, job.options.steal == Steal::kOn, part_bytes);
}

Result<std::unique_ptr<ListCache>> MakeListCache(const MiningJob& job) {
  if (!job.cluster.computes() || job.options.reuse != Reuse::kGlobal) return nullptr;
  return ListCache::Make(job.graph, job.options.cache_bytes);
}

std::uint64_t ChunkBytesOf(const MiningOptions& options, std::uint64_t least) {
  return options.chunk_bytes == 0 ? least : options.chunk_bytes;
}

Result<std::uint64_t> CheckedChunkBytes(const MiningJob& job, std::uint64_t least) {
  const std::uint64_t given = ChunkBytesOf(job.options, least);
  if (given >= least) return given;
  return UsageError("--chunk-memory {} is too little for the longest lists: give at least {}K",
                    FormatBytes(given), (least + 1023) >> 10);
}

Result<EngineTimes> TimesOf(MiningJob& job) {
  EngineTimes times{.stolen_tasks = job.stolen_tasks};
  for (const double seconds : job.busy_s) {
    times.sum_s += seconds;
    times.longest_s = std::max(times.longest_s, seconds);
  }
  const auto add = [](const EngineTimes& a, const EngineTimes& b) {
    return EngineTimes{a.sum_s + b.sum_s, std::max(a.longest_s, b.longest_s),
                       a.stolen_tasks + b.stolen_tasks};
  };
  SLIM_TRY(job.cluster.all().AllReduce(std::span(&times, 1), add));
  return times;
}

}  // namespace slimgraph::dkudu
