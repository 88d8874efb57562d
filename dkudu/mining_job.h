// What every mining function works with: a cluster, the graph in it, and how memory is spent. Open
// this header first, then the one of what is to be counted: cliques.h, match.h, motifs.h, local.h.
// All functions that take a MiningJob are collective.
#pragma once

#include <functional>
#include <vector>

#include "dkudu/graph/fetched_lists.h"
#include "dkudu/graph/list_exchange.h"
#include "dkudu/graph/mining_graph.h"
#include "dkudu/kernel/count.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/cluster/stage_scope.h"

namespace slimgraph {

// Whether compute nodes that are done take work from others.
enum class Steal { kOn, kOff };

struct MiningOptions {
  // For embeddings and their lists, of each thread; 0: the least that will do.
  std::uint64_t chunk_bytes = 64 << 20;
  std::uint64_t cache_bytes = 64 << 20;  // for lists of other nodes, of each compute node
  Reuse reuse = Reuse::kGlobal;
  Steal steal = Steal::kOn;
  Fetch fetch = Fetch::kRequest;
};

// What the engines will take on a compute node.
WorkingMemory WorkingMemoryOf(const MiningOptions& options, ListPart part, const Cluster& cluster,
                              VertexId vertices);

struct MiningJob {
  Cluster& cluster;
  const MiningGraph& graph;
  ListExchange& lists;
  MiningOptions options;
  std::vector<StageSeconds>& seconds;  // by thread
  std::vector<double> busy_s = {};     // by thread: processor time in engines
  std::uint64_t stolen_tasks = 0;      // of other nodes, done by this one
};

// Runs body(thread, endpoint) on every thread of a compute node; on a memory node nothing.
Status RunEngines(MiningJob& job, const Stage& stage,
                  const std::function<Status(std::uint32_t, Endpoint&)>& body);

// What options.chunk_bytes is, refused if it is less than the graph's longest lists need.
Result<std::uint64_t> ChunkBytes(const MiningJob& job, std::uint64_t least);

// The processor time of all engines of the job.
struct EngineTimes {
  double sum_s = 0;
  double longest_s = 0;
  std::uint64_t stolen_tasks = 0;
};
Result<EngineTimes> TimesOf(MiningJob& job);

}  // namespace slimgraph
