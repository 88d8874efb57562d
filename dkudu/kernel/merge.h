// The intersection of two ascending lists of similar lengths, by vectors.
#pragma once

#include "dkudu/kernel/sets.h"

namespace slimgraph {

// As Intersect() in sets.h.
std::size_t IntersectByMerge(List a, List b, VertexId* into);

}  // namespace slimgraph
