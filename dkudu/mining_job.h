// What every mining function works with: a cluster, the graph in it, and the memory budgets. Open
// this header first, then the one of what you want to count: cliques.h, match.h, motifs.h,
// root_sums.h or local.h. All functions that take a MiningJob are collective.
#pragma once

#include <functional>
#include <vector>

#include "dkudu/continuation.h"
#include "dkudu/internal/graph/fetched_lists.h"
#include "dkudu/internal/graph/list_exchange.h"
#include "dkudu/internal/kernel/count.h"
#include "dkudu/internal/sharing/job_regions.h"
#include "dkudu/internal/sharing/work_offers.h"
#include "dkudu/mining_graph.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/cluster/stage_scope.h"

namespace slimgraph::dkudu {

// Whether idle compute nodes take work from others.
enum class Steal { kOn, kOff };

struct MiningOptions {
  // Memory of each thread for embeddings and their lists; 0: the least that suffices.
  std::uint64_t chunk_bytes = 64 << 20;
  std::uint64_t cache_bytes = 64 << 20;  // of each compute node, for lists of other nodes
  Reuse reuse = Reuse::kGlobal;
  Steal steal = Steal::kOn;
  Fetch fetch = Fetch::kRequest;
};

// The memory that a run will take on this node besides the graph. The engine that will run supplies
// `engine_bytes`, which gives its share on a compute node, and the bytes for each entry of a node's
// lists that all nodes keep and compute nodes access.
using EngineBytes = std::function<std::uint64_t(const MiningGraph&, const MiningOptions&)>;
WorkingMemory WorkingMemoryOf(const MiningGraph& graph, const MiningOptions& options,
                              const Cluster& cluster, const EngineBytes& engine_bytes,
                              std::uint64_t entry_bytes = 0);

// Whether an engine may take over work that another has begun.
bool MayOfferWork(const MiningGraph& graph, const MiningOptions& options);
// The memory that offers of parts of at most `part_bytes` take on a compute node.
std::uint64_t OfferBytes(const MiningGraph& graph, const MiningOptions& options,
                         std::uint64_t part_bytes);

struct MiningJob {
  Cluster& cluster;
  const MiningGraph& graph;
  ListExchange& lists;
  MiningOptions options;
  std::vector<StageSeconds>& seconds;    // by thread
  std::vector<double> busy_s = {};       // by thread: processor time of the engines
  std::uint64_t stolen_tasks = 0;        // tasks of other nodes that this node has done
  Continuation* continuation = nullptr;  // if counts may be left: its object, the same for all
  JobRegions regions = {};
};

// Returns an error unless the graph has complete lists; `what` names what is to be counted.
Status RequireCompleteLists(const MiningGraph& graph, const char* what);

// Runs body(thread, endpoint) on every thread of a compute node; does nothing on a memory node.
Status RunEngines(MiningJob& job, const Stage& stage,
                  const std::function<Status(std::uint32_t, Endpoint&)>& body);

// The cache of remote lists for the whole run; null on memory nodes and unless reuse is kGlobal.
// Collective.
Result<std::unique_ptr<WorkOffers>> MakeOffers(MiningJob& job, std::uint64_t part_bytes);
Result<std::unique_ptr<ListCache>> MakeListCache(const MiningJob& job);

// options.chunk_bytes, or `least` if that is 0.
std::uint64_t ChunkBytesOf(const MiningOptions& options, std::uint64_t least);
// The same, but an error if it is less than `least`, which the graph's longest lists need.
Result<std::uint64_t> CheckedChunkBytes(const MiningJob& job, std::uint64_t least);

// The processor time of all engines of the job, and the tasks that were stolen.
struct EngineTimes {
  double sum_s = 0;
  double longest_s = 0;
  std::uint64_t stolen_tasks = 0;
};
Result<EngineTimes> TimesOf(MiningJob& job);

}  // namespace slimgraph::dkudu
