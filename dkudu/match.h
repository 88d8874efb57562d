// Counts or lists the embeddings of any pattern by a plan.
#pragma once

#include "dkudu/kernel/extender.h"
#include "dkudu/mining_job.h"

namespace slimgraph {

// What the choice of a plan knows of the graph.
GraphFigures FiguresOf(const MiningGraph& graph);

// The number of embeddings in the whole graph, on every node. The graph has all of its lists.
Result<std::uint64_t> CountMatches(MiningJob& job, const Plan& plan);

// Gives each embedding once to the sink of the thread that finds it. The number of those taken.
using SinkOfThread = std::function<EmbeddingSink(std::uint32_t thread)>;
Result<std::uint64_t> ListMatches(MiningJob& job, const Plan& plan, const SinkOfThread& sinks);

}  // namespace slimgraph
