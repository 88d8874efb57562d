#include "slimgraph/files/internal/build_lists.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"

namespace slimgraph::internal {
namespace {

// Buckets are small enough to be sorted in cache, and few enough to be filled all at the same time.
constexpr std::uint64_t kBucketArcs = 1 << 17;
constexpr std::uint64_t kMaxBuckets = 2048;

// An arc while it is sorted: by owner, then neighbour, then weight.
using Arc = std::uint64_t;           // owner << 32 | neighbour
using WeightedArc = hwy::uint128_t;  // lo: the order-preserving weight; hi: an Arc

inline Arc KeyOf(Arc arc) { return arc; }
inline Arc KeyOf(const WeightedArc& arc) { return arc.hi; }

// These functions map weights to unsigned integers of the same order, and back.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
std::uint64_t OrderedInteger(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ kSign;
}
std::int64_t IntegerFromOrdered(std::uint64_t ordered) {
  return static_cast<std::int64_t>(ordered ^ kSign);
}
std::uint64_t OrderedDouble(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
double DoubleFromOrdered(std::uint64_t ordered) {
  return std::bit_cast<double>((ordered & kSign) != 0 ? ordered ^ kSign : ~ordered);
}

template <bool kWeighted>
class Builder {
 public:
  using Entry = std::conditional_t<kWeighted, WeightedArc, Arc>;

  Builder(RawGraph& graph, VertexId vertices, Direction direction, const BuildRules& rules)
      : graph_(graph), vertices_(vertices), direction_(direction), rules_(rules) {
    both_ = !rules.directed;
    decimal_ =
        rules.weight_type == WeightType::kFloat32 || rules.weight_type == WeightType::kFloat64;
  }

  Result<BuiltLists> Build(bool consume, const ListSink& sink) {
    ChooseBuckets();
    SLIM_TRY(CountArcs());
    SLIM_TRY(FillBuckets(consume));
    SLIM_TRY(SortAndEmit(sink));
    built_.self_loops = self_loops_;
    const std::uint64_t loops_kept = rules_.keep_self_loops ? self_loops_.load() : 0;
    built_.edges = CountEdges(built_.offsets.back(), kept_loops_);
    built_.duplicates =
        CountEdges(bucket_begin_.back(), loops_kept) - CountEdges(distinct_arcs_, distinct_loops_);
    return std::move(built_);
  }

 private:
  std::uint64_t CountEdges(std::uint64_t arcs, std::uint64_t loops) const {
    return both_ ? (arcs - loops) / 2 + loops : arcs;
  }

  void ChooseBuckets() {
    const std::uint64_t arcs = graph_.edges() * (both_ ? 2 : 1);
    const std::uint64_t wanted = std::clamp<std::uint64_t>(arcs / kBucketArcs, 1, kMaxBuckets);
    shift_ = 0;
    while ((std::uint64_t{vertices_} >> shift_) >= wanted * 2) ++shift_;
    while (shift_ > 0 && (std::uint64_t{vertices_} >> shift_) < wanted) --shift_;
    while (vertices_ > 0 && ((vertices_ - 1) >> shift_) >= kMaxBuckets) ++shift_;
    bucket_count_ = vertices_ == 0 ? 0 : ((vertices_ - 1) >> shift_) + 1;
  }

  Status CheckGoesOn() const {
    if (rules_.cancelled && rules_.cancelled()) return EnvironmentError("cancelled");
    return {};
  }

  std::size_t BucketOf(VertexId v) const { return v >> shift_; }

  // Calls visit(owner, neighbour, index of the edge) for each arc that goes into a list. Returns
  // the number of self-loops.
  template <typename Visit>
  std::uint64_t ForEachArc(const EdgeBlock& block, Visit visit) const {
    std::uint64_t loops = 0;
    const std::span<const NarrowEdge> edges = block.narrow();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const NarrowEdge edge = edges[i];
      const bool loop = edge.src == edge.dst;
      if (loop) [[unlikely]] {
        ++loops;
        if (!rules_.keep_self_loops) continue;
      }
      if (direction_ == Direction::kOut) {
        visit(edge.src, edge.dst, i);
        if (both_ && !loop) visit(edge.dst, edge.src, i);
      } else {
        visit(edge.dst, edge.src, i);
      }
    }
    return loops;
  }

  Status CountArcs() {
    std::vector<std::atomic<std::uint64_t>> counts(bucket_count_);
    SLIM_TRY(ParallelFor(graph_.blocks.size(), rules_.threads, [&](std::size_t i) -> Status {
      std::vector<std::uint32_t> mine(bucket_count_);
      self_loops_ += ForEachArc(graph_.blocks[i], [&](VertexId owner, VertexId, std::size_t) {
        ++mine[BucketOf(owner)];
      });
      for (std::size_t b = 0; b < bucket_count_; ++b) {
        if (mine[b] != 0) counts[b].fetch_add(mine[b], std::memory_order_relaxed);
      }
      return {};
    }));
    bucket_begin_.assign(bucket_count_ + 1, 0);
    for (std::size_t b = 0; b < bucket_count_; ++b) {
      bucket_begin_[b + 1] = bucket_begin_[b] + counts[b];
    }
    return {};
  }

  // Every block reserves its range in each bucket, then fills it. The order within a bucket depends
  // on the threads; sorting makes it deterministic.
  Status FillBuckets(bool consume) {
    SLIM_ASSIGN(entries_, PageBuffer::Allocate(bucket_begin_.back() * sizeof(Entry)));
    Entry* const entries = reinterpret_cast<Entry*>(entries_.data());
    std::vector<std::atomic<std::uint64_t>> next(bucket_count_);
    for (std::size_t b = 0; b < bucket_count_; ++b) next[b] = bucket_begin_[b];
    return ParallelFor(graph_.blocks.size(), rules_.threads, [&](std::size_t i) -> Status {
      SLIM_TRY(CheckGoesOn());
      EdgeBlock& block = graph_.blocks[i];
      std::vector<std::uint64_t> at(bucket_count_);
      ForEachArc(block, [&](VertexId owner, VertexId, std::size_t) { ++at[BucketOf(owner)]; });
      for (std::size_t b = 0; b < bucket_count_; ++b) {
        if (at[b] != 0) at[b] = next[b].fetch_add(at[b], std::memory_order_relaxed);
      }
      ForEachArc(block, [&](VertexId owner, VertexId neighbour, std::size_t edge) {
        const Arc arc = Arc{owner} << 32 | neighbour;
        Entry& entry = entries[at[BucketOf(owner)]++];
        if constexpr (kWeighted) {
          entry.hi = arc;
          entry.lo = OrderedWeight(block, edge);
        } else {
          entry = arc;
        }
      });
      if (consume) block = EdgeBlock();
      return {};
    });
  }

  std::uint64_t OrderedWeight(const EdgeBlock& block, std::size_t edge) const {
    const WeightBits bits = block.weights()[edge];
    if (block.decimal()) return OrderedDouble(std::bit_cast<double>(bits));
    const auto integer = static_cast<std::int64_t>(bits);
    return decimal_ ? OrderedDouble(static_cast<double>(integer)) : OrderedInteger(integer);
  }

  Status SortAndEmit(const ListSink& sink) {
    built_.offsets.assign(std::size_t{vertices_} + 1, 0);
    std::vector<std::size_t> kept(bucket_count_);
    InOrder in_order(bucket_count_, [&](std::size_t b) -> Status {
      SLIM_TRY(EmitBucket(b, kept[b], sink));
      if (rules_.progress) rules_.progress(bucket_begin_[b + 1], bucket_begin_.back());
      return {};
    });
    return ParallelFor(bucket_count_, rules_.threads, [&](std::size_t b) -> Status {
      SLIM_TRY(CheckGoesOn());
      kept[b] = SortBucket(b);
      return in_order.Finish(b);
    });
  }

  std::span<Entry> Bucket(std::size_t b) const {
    return {reinterpret_cast<Entry*>(entries_.data()) + bucket_begin_[b],
            bucket_begin_[b + 1] - bucket_begin_[b]};
  }

  // Sorts the bucket, drops duplicates and counts degrees in offsets[v + 1]. Returns the number of
  // entries that remain.
  std::size_t SortBucket(std::size_t b) {
    const std::span<Entry> bucket = Bucket(b);
    hwy::Sorter()(bucket.data(), bucket.size(), hwy::SortAscending());
    std::size_t kept = 0;
    std::uint64_t distinct = 0;
    std::uint64_t distinct_loops = 0;
    std::uint64_t kept_loops = 0;
    Arc previous = 0;
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const Arc arc = KeyOf(bucket[i]);
      const bool first = i == 0 || arc != previous;
      previous = arc;
      const bool loop = (arc >> 32) == (arc & 0xFFFFFFFF);
      distinct += first;
      distinct_loops += first && loop;
      if (!first && !rules_.keep_duplicates) continue;
      kept_loops += loop;
      ++built_.offsets[(arc >> 32) + 1];
      bucket[kept++] = bucket[i];
    }
    distinct_arcs_ += distinct;
    distinct_loops_ += distinct_loops;
    kept_loops_ += kept_loops;
    return kept;
  }

  // Packs the neighbours at the front of the bucket's own memory, passes them and a copy of the
  // weights to `sink`, and frees the bucket.
  Status EmitBucket(std::size_t b, std::size_t kept, const ListSink& sink) {
    const std::span<Entry> bucket = Bucket(b);
    const VertexId first = static_cast<VertexId>(b << shift_);
    const std::uint64_t end = std::min<std::uint64_t>((b + 1) << shift_, vertices_);
    for (std::uint64_t v = first; v < end; ++v) built_.offsets[v + 1] += built_.offsets[v];

    std::vector<std::byte> weights(kept * WeightBytes(rules_.weight_type));
    if constexpr (kWeighted) {
      for (std::size_t i = 0; i < kept; ++i) StoreWeight(bucket[i].lo, i, weights.data());
    }
    std::byte* const packed = reinterpret_cast<std::byte*>(bucket.data());
    for (std::size_t i = 0; i < kept; ++i) {
      const auto neighbour = static_cast<VertexId>(KeyOf(bucket[i]));
      std::memcpy(packed + i * sizeof neighbour, &neighbour, sizeof neighbour);
    }
    SLIM_TRY(sink({reinterpret_cast<const VertexId*>(packed), kept}, weights));
    entries_.Release(bucket_begin_[b] * sizeof(Entry), bucket.size_bytes());
    return {};
  }

  void StoreWeight(std::uint64_t ordered, std::size_t index, std::byte* weights) const {
    const auto store = [&](auto value) {
      std::memcpy(weights + index * sizeof value, &value, sizeof value);
    };
    switch (rules_.weight_type) {
      case WeightType::kNone:
        break;
      case WeightType::kInt32:
        store(static_cast<std::int32_t>(IntegerFromOrdered(ordered)));
        break;
      case WeightType::kInt64:
        store(IntegerFromOrdered(ordered));
        break;
      case WeightType::kFloat32:
        store(static_cast<float>(DoubleFromOrdered(ordered)));
        break;
      case WeightType::kFloat64:
        store(DoubleFromOrdered(ordered));
        break;
    }
  }

  RawGraph& graph_;
  const VertexId vertices_;
  const Direction direction_;
  const BuildRules& rules_;
  bool both_ = false;
  bool decimal_ = false;
  unsigned shift_ = 0;
  std::size_t bucket_count_ = 0;
  std::vector<std::uint64_t> bucket_begin_;
  PageBuffer entries_;
  BuiltLists built_;
  std::atomic<std::uint64_t> self_loops_ = 0;
  std::atomic<std::uint64_t> distinct_arcs_ = 0;
  std::atomic<std::uint64_t> distinct_loops_ = 0;
  std::atomic<std::uint64_t> kept_loops_ = 0;
};

}  // namespace

Result<BuiltLists> BuildLists(RawGraph& graph, VertexId vertices, Direction direction,
                              const BuildRules& rules, bool consume, const ListSink& sink) {
  if (rules.weight_type == WeightType::kNone) {
    return Builder<false>(graph, vertices, direction, rules).Build(consume, sink);
  }
  return Builder<true>(graph, vertices, direction, rules).Build(consume, sink);
}

}  // namespace slimgraph::internal
