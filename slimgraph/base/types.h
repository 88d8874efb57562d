// The basic types that all layers use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace slimgraph {

using NodeId = std::uint32_t;      // a process of the job, 0 .. N-1
using VertexId = std::uint32_t;    // dense, 0 .. V-1; original ids are 64 bits wide
using EdgeOffset = std::uint64_t;  // a position in a list of edges

constexpr NodeId kMaxNodes = 1024;
constexpr std::size_t kCacheLineBytes = 64;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

}  // namespace slimgraph
