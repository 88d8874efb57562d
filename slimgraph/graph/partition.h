// Which node owns which vertex: contiguous chunks balanced by edges + alpha * vertices, or a hash
// (id modulo N). Each node's part is split again by NUMA socket. Finding an owner takes constant
// time under a hash, and logarithmic time under chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph {

// The vertices first, first + stride, first + 2 * stride, …: those of one node or of one of its
// sockets, under either partition.
struct VertexPart {
  VertexId first = 0;
  VertexId stride = 1;
  VertexId count = 0;

  VertexId operator[](VertexId local) const { return first + local * stride; }
  bool contains(VertexId v) const {
    return v >= first && (v - first) % stride == 0 && (v - first) / stride < count;
  }
  bool operator==(const VertexPart&) const = default;
};

struct VertexLocation {
  NodeId node;
  std::uint32_t socket;
  VertexId local;  // within the socket
  bool operator==(const VertexLocation&) const = default;
};

// Contiguous chunks, for engines that scan all vertices.
class ChunkPartition {
 public:
  // The cost of a vertex relative to that of an edge, as Gemini chooses it.
  static double DefaultAlpha(NodeId nodes) { return 8.0 * (nodes > 1 ? nodes - 1 : 1); }

  // `offsets[i]` is the number of arcs of the vertices before i * step, for i = 0 .. ceil(V /
  // step). Cuts are at multiples of `step`. The costs of two parts differ by at most that of the
  // most expensive step.
  ChunkPartition(VertexId vertices, std::span<const EdgeOffset> offsets, VertexId step,
                 NodeId nodes, std::uint32_t sockets, double alpha);

  // Node n has the vertices cuts[n] .. cuts[n + 1]-1.
  explicit ChunkPartition(std::vector<VertexId> cuts)
      : nodes_(static_cast<NodeId>(cuts.size() - 1)), sockets_(1), cuts_(std::move(cuts)) {}

  // Balances by the offsets of `direction`, and keeps one in StepFor() of them in memory. Reads
  // them with `threads` threads; 0 uses every processor.
  static Result<ChunkPartition> Balance(const GraphSource& file, Direction direction, NodeId nodes,
                                        std::uint32_t sockets, double alpha,
                                        std::size_t threads = 0);

  // Reads share number `share` of the constructor's `offsets`, cut into `shares` consecutive
  // shares.
  static Result<std::vector<EdgeOffset>> ReadOffsets(const GraphSource& file, Direction direction,
                                                     VertexId step, std::size_t share,
                                                     std::size_t shares, std::size_t threads);

  // 64, so that two owners share no word of a bitmap; 1 if the graph is so small that cuts at
  // multiples of 64 would unbalance it.
  static VertexId StepFor(VertexId vertices, NodeId nodes, std::uint32_t sockets);

  NodeId nodes() const { return nodes_; }
  std::uint32_t sockets() const { return sockets_; }
  NodeId owner(VertexId v) const { return Slot(v) / sockets_; }
  VertexLocation location(VertexId v) const {
    const std::uint32_t slot = Slot(v);
    return {slot / sockets_, slot % sockets_, v - cuts_[slot]};
  }
  VertexPart part(NodeId node) const { return Range(node * sockets_, (node + 1) * sockets_); }
  VertexPart part(NodeId node, std::uint32_t socket) const {
    return Range(node * sockets_ + socket, node * sockets_ + socket + 1);
  }

 private:
  std::uint32_t Slot(VertexId v) const {
    return static_cast<std::uint32_t>(std::upper_bound(cuts_.begin(), cuts_.end() - 1, v) -
                                      cuts_.begin()) -
           1;
  }
  VertexPart Range(std::size_t begin, std::size_t end) const {
    return {cuts_[begin], 1, cuts_[end] - cuts_[begin]};
  }

  NodeId nodes_;
  std::uint32_t sockets_;
  std::vector<VertexId> cuts_;  // slot s owns [cuts_[s], cuts_[s + 1])
};

// Vertex v belongs to node v mod N and there to socket (v / N) mod S.
class HashPartition {
 public:
  HashPartition(VertexId vertices, NodeId nodes, std::uint32_t sockets)
      : vertices_(vertices), nodes_(nodes), sockets_(sockets) {}

  NodeId nodes() const { return nodes_; }
  std::uint32_t sockets() const { return sockets_; }
  NodeId owner(VertexId v) const { return v % nodes_; }
  VertexLocation location(VertexId v) const {
    return {v % nodes_, v / nodes_ % sockets_, v / nodes_ / sockets_};
  }
  VertexPart part(NodeId node) const { return Part(node, nodes_); }
  VertexPart part(NodeId node, std::uint32_t socket) const {
    return Part(node + nodes_ * socket, nodes_ * sockets_);
  }

 private:
  VertexPart Part(VertexId first, VertexId stride) const {
    return {first, stride, first < vertices_ ? (vertices_ - first - 1) / stride + 1 : 0};
  }

  VertexId vertices_;
  NodeId nodes_;
  std::uint32_t sockets_;
};

}  // namespace slimgraph
