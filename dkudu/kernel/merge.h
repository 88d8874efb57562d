// The intersection of two ascending lists of similar lengths, with vector instructions.
#pragma once

#include "dkudu/kernel/sets.h"

namespace slimgraph {

// Like Intersect() in sets.h.
std::size_t IntersectByMerge(List a, List b, VertexId* into);

}  // namespace slimgraph
