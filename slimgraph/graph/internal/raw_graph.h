// What every reader and generator makes and the builder takes: edges in blocks as they were read,
// not yet sorted, and what is known about the vertices.
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
#include "slimgraph/graph/original_ids.h"
#include "slimgraph/graph/weights.h"

namespace slimgraph::internal {

template <typename Id>
struct EndPoints {
  Id src;
  Id dst;
};
using NarrowEdge = EndPoints<std::uint32_t>;
using WideEdge = EndPoints<std::uint64_t>;

// A weight as read: the bits of an int64 or, in a decimal block, of a double.
using WeightBits = std::uint64_t;

// Up to some 10^5 edges. Wide as soon as one id needs more than 32 bits.
class EdgeBlock {
 public:
  EdgeBlock() = default;
  static Result<EdgeBlock> Allocate(std::size_t capacity, bool wide, bool weighted);

  std::size_t size() const { return size_; }
  bool wide() const { return wide_; }
  std::span<NarrowEdge> narrow() const { return edges_.as<NarrowEdge>().first(size_); }
  std::span<WideEdge> wide_edges() const { return edges_.as<WideEdge>().first(size_); }
  // Before Finish: with room for the whole capacity.
  NarrowEdge* narrow_data() const { return edges_.as<NarrowEdge>().data(); }
  WideEdge* wide_data() const { return edges_.as<WideEdge>().data(); }
  WeightBits* weight_data() const { return weights_.as<WeightBits>().data(); }
  std::span<WeightBits> weights() const { return weights_.as<WeightBits>(); }

  // Keeps the first `size` edges and gives the rest of the memory back.
  void Finish(std::size_t size, bool decimal);
  // The ids have been replaced by 32-bit ones, at the front of the wide ones' memory.
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
  // What the format says about itself; nothing where it leaves that to the user. Each edge of an
  // undirected graph is in the blocks once, either way round.
  std::optional<bool> directed;

  // The vertices are first_id + 0 .. count - 1, whether they have edges or not, and the edges speak
  // of them as 0 .. count - 1 already. Without: the vertices are the end points and `vertices`.
  std::optional<std::uint64_t> declared_count;
  std::uint64_t first_id = 0;
  std::vector<std::uint64_t> declared_ids;  // instead of first_id, if they are no plain range

  std::vector<std::uint64_t> vertices;  // from a vertex file, in any order

  std::uint64_t edges() const;
};

// For formats that list an edge of an undirected graph at both ends, and whose blocks are all
// decimal or all not: keeps the arcs with src <= dst, or says that some edge is not listed alike at
// both ends.
Status KeepEachEdgeOnce(RawGraph& graph, const std::string& name, std::size_t threads);

// A sum over arcs that does not depend on their order; two multisets of arcs that differ have the
// same sum with a probability of 2^-64.
std::uint64_t ArcFingerprint(std::uint64_t src, std::uint64_t dst, WeightBits weight);

// The smallest type that holds every weight of the graph exactly, or why there is none.
Result<WeightType> ExactWeightType(const RawGraph& graph, const std::string& name);

}  // namespace slimgraph::internal
