// Memory nodes that reduce. In a step, each gets the active vertices with their values from the
// compute nodes, combines them over its lists, and sends the results to the compute nodes that work
// on these lists.
#pragma once

#include "dgemini/exchange.h"
#include "dgemini/internal/mirror.h"
#include "slimgraph/base/result.h"

namespace slimgraph::dgemini {

class Workload;

// The free bits of a message to a memory node (mirror.h): what it is, and of which reduction.
enum ReductionBits : std::uint32_t {
  kWantedVertices = Mirror::kFirstFreeBit,  // the vertices that want a result, without values
  kEndOfReductions = 8,
  kOverInLists = 16,
  kJoinComponents = 32,  // no reduction: join the vertices of all out lists (JoinedComponents)
  kFirstReductionBit = 256,
};

// A message with results begins with it; ReducedBlocks follow.
struct ReductionHead {
  std::uint64_t busy_ns;  // how long the sender's threads have reduced so far, together
};

// On memory nodes: reduces in each step until the compute nodes end it.
Status ReduceLists(Workload& work);
// On compute nodes: ends ReduceLists on all memory nodes. Collective over compute nodes.
Status EndReductions(Exchange& exchange, NodeId compute);

}  // namespace slimgraph::dgemini
