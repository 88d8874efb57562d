// Counts or lists the embeddings of any pattern by a plan.
#pragma once

#include "dkudu/internal/kernel/extender.h"
#include "dkudu/mining_job.h"

namespace slimgraph::dkudu {

// The properties of the graph by which a plan is chosen.
GraphFigures FiguresOf(const MiningGraph& graph);

// The number of embeddings in the whole graph, returned on every node. The graph must have complete
// lists.
Result<std::uint64_t> CountMatches(MiningJob& job, const Plan& plan);

// Passes each embedding once to the sink of the thread that finds it. Returns the number of
// embeddings that the sinks accepted.
using SinkOfThread = std::function<EmbeddingSink(std::uint32_t thread)>;
Result<std::uint64_t> ListMatches(MiningJob& job, const Plan& plan, const SinkOfThread& sinks);

// The most memory that CountMatches and ListMatches take on a compute node, besides the graph.
std::uint64_t MatchBytes(const MiningGraph& graph, const MiningOptions& options, const Plan& plan);

}  // namespace slimgraph::dkudu
