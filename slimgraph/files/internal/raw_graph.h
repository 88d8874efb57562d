// A graph between reading and building: blocks of unsorted edges, and what the format says about
// the vertices. Readers and generators produce it; write_slim.h consumes it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/original_ids.h"
#include "slimgraph/files/weights.h"

namespace slimgraph::internal {

template <typename Id>
struct EndPoints {
  Id src;
  Id dst;
};
using NarrowEdge = EndPoints<std::uint32_t>;
using WideEdge = EndPoints<std::uint64_t>;

// The bits of an input weight: an int64 or, in a decimal block, a double.
using WeightBits = std::uint64_t;

// A block of up to about 10^5 edges. It is wide if any of its ids needs more than 32 bits.
class EdgeBlock {
 public:
  EdgeBlock() = default;
  static Result<EdgeBlock> Allocate(std::size_t capacity, bool wide, bool weighted);

  std::size_t size() const { return size_; }
  bool wide() const { return wide_; }
  std::span<NarrowEdge> narrow() const { return edges_.as<NarrowEdge>().first(size_); }
  std::span<WideEdge> wide_edges() const { return edges_.as<WideEdge>().first(size_); }
  // For filling the block before Finish: the memory of the whole capacity.
  NarrowEdge* narrow_data() const { return edges_.as<NarrowEdge>().data(); }
  WideEdge* wide_data() const { return edges_.as<WideEdge>().data(); }
  WeightBits* weight_data() const { return weights_.as<WeightBits>().data(); }
  std::span<WeightBits> weights() const { return weights_.as<WeightBits>(); }

  // Keeps the first `size` edges and frees the rest of the memory.
  void Finish(std::size_t size, bool decimal);
  // Call it when narrow edges have replaced the wide ones, at the front of the same memory.
  void BecomeNarrow();
  void DropWeights() { weights_ = PageBuffer(); }

  bool decimal() const { return decimal_; }
  std::uint64_t memory_bytes() const { return edges_.bytes() + weights_.bytes(); }

 private:
  PageBuffer edges_;
  PageBuffer weights_;
  std::size_t size_ = 0;
  bool wide_ = false;
  bool decimal_ = false;
};

struct RawGraph {
  std::vector<EdgeBlock> blocks;
  bool weighted = false;
  // Whether the graph is directed, if the format says so. The blocks hold each edge of an
  // undirected graph once, in either direction.
  std::optional<bool> directed;
  std::string header;  // the line of a text that names its columns, quoted; "": there is none

  // If set: the edges use dense ids 0 .. count - 1, and the original ids begin at first_id. All of
  // them are vertices, even without edges. If not set: the vertices are the end points of edges and
  // the ids in `vertices`.
  std::optional<std::uint64_t> declared_count;
  std::uint64_t first_id = 0;
  std::optional<OriginalIds> declared_ids;  // the original ids, if they are not contiguous

  std::vector<std::uint64_t> vertices;  // from a vertex file, in any order

  std::uint64_t edges() const;
};

// For formats that list an undirected edge at both ends. Keeps the arcs with src <= dst. It is an
// error if the lists of the two ends disagree about an edge or its weight. Requires that either all
// blocks are decimal or none.
Status KeepEachEdgeOnce(RawGraph& graph, const std::string& name, std::size_t threads);

// A hash of an arc. Callers compare multisets of arcs by the sums of these hashes, which do not
// depend on the order. Different multisets have equal sums with a probability of 2^-64.
std::uint64_t ArcFingerprint(std::uint64_t src, std::uint64_t dst, WeightBits weight);

// The smallest type that holds every weight of the graph exactly; an error if there is none.
Result<WeightType> ExactWeightType(const RawGraph& graph, const std::string& name);

}  // namespace slimgraph::internal
