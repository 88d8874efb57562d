// Shortest paths from one source with non-negative weights, by delta-stepping (Meyer and Sanders
// 2003).
#pragma once

#include <limits>

#include "dgemini/engine.h"

namespace slimgraph {

template <typename Distance>
constexpr Distance kUnreachable = std::numeric_limits<Distance>::max();

// Weight must be the graph's weight type. Distance must be able to hold the length of any path.
// `delta` is the width of a bucket.
template <typename Weight, typename Distance>
Result<VertexArray<Distance>> Sssp(Engine& engine, VertexId source, Distance delta);

extern template Result<VertexArray<std::uint32_t>> Sssp<std::int32_t>(Engine&, VertexId,
                                                                      std::uint32_t);
extern template Result<VertexArray<std::uint64_t>> Sssp<std::int32_t>(Engine&, VertexId,
                                                                      std::uint64_t);
extern template Result<VertexArray<std::uint64_t>> Sssp<std::int64_t>(Engine&, VertexId,
                                                                      std::uint64_t);
extern template Result<VertexArray<double>> Sssp<float>(Engine&, VertexId, double);
extern template Result<VertexArray<double>> Sssp<double>(Engine&, VertexId, double);

}  // namespace slimgraph
