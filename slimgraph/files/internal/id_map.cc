#include "slimgraph/files/internal/id_map.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/internal/vertex_order.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph::internal {
namespace {

constexpr std::size_t kBatchVertices = 1 << 17;

Status CheckCount(std::uint64_t count, const std::string& name) {
  if (count <= kMaxVertices) return {};
  return InputError("{}: {} vertices are too many: at most {} are supported", name,
                    FormatCount(count), FormatCount(kMaxVertices));
}

template <typename Visit>
void ForEachEdge(const EdgeBlock& block, Visit visit) {
  if (block.wide()) {
    for (WideEdge& edge : block.wide_edges()) visit(edge);
  } else {
    for (NarrowEdge& edge : block.narrow()) visit(edge);
  }
}

// Replaces every id by rank(id), in place. Narrow edges are smaller than wide ones, so writing them
// at the front of the same memory never overwrites an edge that is still to be read.
template <typename Rank>
Status Renumber(RawGraph& graph, std::size_t threads, const Rank& rank) {
  return ParallelFor(graph.blocks.size(), threads, [&](std::size_t i) -> Status {
    EdgeBlock& block = graph.blocks[i];
    NarrowEdge* out = block.narrow_data();
    ForEachEdge(block, [&](const auto& edge) {
      *out++ = NarrowEdge{rank(edge.src), rank(edge.dst)};
    });
    if (block.wide()) block.BecomeNarrow();
    return {};
  });
}

struct IdRange {
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  bool empty() const { return low > high; }
  void Add(std::uint64_t id) {
    low = std::min(low, id);
    high = std::max(high, id);
  }
};

Result<IdRange> FindRange(const RawGraph& graph, std::size_t threads) {
  IdRange all;
  for (const std::uint64_t id : graph.vertices) all.Add(id);
  Mutex mutex;
  SLIM_TRY(ParallelFor(graph.blocks.size(), threads, [&](std::size_t i) -> Status {
    IdRange range;
    ForEachEdge(graph.blocks[i], [&](const auto& edge) {
      range.Add(edge.src);
      range.Add(edge.dst);
    });
    const std::lock_guard lock(mutex);
    if (!range.empty()) {
      all.Add(range.low);
      all.Add(range.high);
    }
    return {};
  }));
  return all;
}

// One bit for each id between the lowest and the highest, and for each word the number of bits that
// are set before it.
class IdBitmap {
 public:
  explicit IdBitmap(IdRange range) : low_(range.low), words_((range.high - range.low) / 64 + 1) {}

  void Set(std::uint64_t id) {
    const std::uint64_t bit = id - low_;
    std::atomic_ref<std::uint64_t> word(words_[bit / 64]);
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    if ((word.load(std::memory_order_relaxed) & mask) == 0) {
      word.fetch_or(mask, std::memory_order_relaxed);
    }
  }

  std::uint64_t CountRanks() {
    ranks_.resize(words_.size());
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      ranks_[i] = static_cast<VertexId>(count);
      count += static_cast<std::uint64_t>(std::popcount(words_[i]));
    }
    return count;
  }

  VertexId Rank(std::uint64_t id) const {
    const std::uint64_t bit = id - low_;
    const std::uint64_t before = (std::uint64_t{1} << (bit % 64)) - 1;
    return ranks_[bit / 64] + static_cast<VertexId>(std::popcount(words_[bit / 64] & before));
  }

  std::vector<std::uint64_t> Ids(std::uint64_t count) const {
    std::vector<std::uint64_t> ids;
    ids.reserve(count);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        ids.push_back(low_ + i * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
      }
    }
    return ids;
  }

 private:
  std::uint64_t low_;
  std::vector<std::uint64_t> words_;
  std::vector<VertexId> ranks_;
};

Result<OriginalIds> ByBitmap(RawGraph& graph, IdRange range, const std::string& name,
                             std::size_t threads) {
  IdBitmap bitmap(range);
  for (const std::uint64_t id : graph.vertices) bitmap.Set(id);
  SLIM_TRY(ParallelFor(graph.blocks.size(), threads, [&](std::size_t i) -> Status {
    ForEachEdge(graph.blocks[i], [&](const auto& edge) {
      bitmap.Set(edge.src);
      bitmap.Set(edge.dst);
    });
    return {};
  }));
  const std::uint64_t count = bitmap.CountRanks();
  SLIM_TRY(CheckCount(count, name));
  if (count == range.high - range.low + 1) {
    const bool dense_already = range.low == 0;
    const bool wide = std::any_of(graph.blocks.begin(), graph.blocks.end(),
                                  [](const EdgeBlock& block) { return block.wide(); });
    if (!dense_already || wide) {
      SLIM_TRY(Renumber(graph, threads,
                        [&](std::uint64_t id) { return static_cast<VertexId>(id - range.low); }));
    }
    return OriginalIds(range.low, static_cast<VertexId>(count));
  }
  SLIM_TRY(Renumber(graph, threads, [&](std::uint64_t id) { return bitmap.Rank(id); }));
  return OriginalIds(bitmap.Ids(count));
}

// Collects distinct ids from many threads. Its memory stays close to that of the distinct ids.
class DistinctIds {
 public:
  // `ids` must ascend and be distinct.
  void Add(std::span<const std::uint64_t> ids) {
    const std::lock_guard lock(mutex_);
    pending_.insert(pending_.end(), ids.begin(), ids.end());
    if (pending_.size() > std::max(kMinPending, sorted_.size() / 2)) Merge();
  }

  std::vector<std::uint64_t> Take() {
    Merge();
    sorted_.shrink_to_fit();
    return std::move(sorted_);
  }

 private:
  static constexpr std::size_t kMinPending = 1 << 17;

  void Merge() {
    hwy::Sorter()(pending_.data(), pending_.size(), hwy::SortAscending());
    const auto middle = static_cast<std::ptrdiff_t>(sorted_.size());
    sorted_.insert(sorted_.end(), pending_.begin(), pending_.end());
    std::inplace_merge(sorted_.begin(), sorted_.begin() + middle, sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    pending_.clear();
  }

  Mutex mutex_;
  std::vector<std::uint64_t> sorted_;
  std::vector<std::uint64_t> pending_;
};

// Ascending ids with an index by their leading bits, so that a binary search has few steps.
class IdIndex {
 public:
  explicit IdIndex(std::span<const std::uint64_t> ids) : ids_(ids), low_(ids.front()) {
    const std::uint64_t width = ids.back() - low_;
    const auto bits = static_cast<unsigned>(std::bit_width(width));
    const auto index_bits = static_cast<unsigned>(std::bit_width(ids.size()));
    shift_ = bits > index_bits ? bits - index_bits : 0;
    first_.resize((width >> shift_) + 2);
    for (const std::uint64_t id : ids) ++first_[((id - low_) >> shift_) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }

  VertexId Rank(std::uint64_t id) const {
    const std::uint64_t slot = (id - low_) >> shift_;
    const auto begin = ids_.begin();
    const auto at = std::lower_bound(begin + first_[slot], begin + first_[slot + 1], id);
    return static_cast<VertexId>(at - begin);
  }

 private:
  std::span<const std::uint64_t> ids_;
  std::uint64_t low_;
  unsigned shift_ = 0;
  std::vector<VertexId> first_;
};

Result<OriginalIds> BySorting(RawGraph& graph, const std::string& name, std::size_t threads) {
  DistinctIds distinct;
  const auto add = [&](std::vector<std::uint64_t>& ids) {
    hwy::Sorter()(ids.data(), ids.size(), hwy::SortAscending());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    distinct.Add(ids);
    ids.clear();
  };
  for (std::size_t at = 0; at < graph.vertices.size(); at += kBatchVertices) {
    const std::size_t end = std::min(at + kBatchVertices, graph.vertices.size());
    std::vector<std::uint64_t> ids(graph.vertices.begin() + static_cast<std::ptrdiff_t>(at),
                                   graph.vertices.begin() + static_cast<std::ptrdiff_t>(end));
    add(ids);
  }
  SLIM_TRY(ParallelFor(graph.blocks.size(), threads, [&](std::size_t i) -> Status {
    std::vector<std::uint64_t> ids;
    ForEachEdge(graph.blocks[i], [&](const auto& edge) {
      ids.push_back(edge.src);
      ids.push_back(edge.dst);
    });
    add(ids);
    return {};
  }));
  std::vector<std::uint64_t> ids = distinct.Take();
  SLIM_TRY(CheckCount(ids.size(), name));
  const IdIndex index(ids);
  SLIM_TRY(Renumber(graph, threads, [&](std::uint64_t id) { return index.Rank(id); }));
  return OriginalIds(std::move(ids));
}

}  // namespace

Result<OriginalIds> MakeIdsDense(RawGraph& graph, const std::string& name, std::size_t threads) {
  if (graph.declared_count) {
    SLIM_TRY(CheckCount(*graph.declared_count, name));
    if (graph.declared_ids) return std::move(*graph.declared_ids);
    return OriginalIds(graph.first_id, static_cast<VertexId>(*graph.declared_count));
  }
  SLIM_ASSIGN(const IdRange range, FindRange(graph, threads));
  if (range.empty()) return OriginalIds(0, 0);
  // Use a bitmap if it is small compared with the edges. It takes less than 0.2 bytes for each id
  // of the range; an edge takes at least 8 bytes.
  const std::uint64_t mentions = 2 * graph.edges() + graph.vertices.size();
  const std::uint64_t affordable = 4 * mentions + (1 << 20);
  if (range.high - range.low < affordable) return ByBitmap(graph, range, name, threads);
  return BySorting(graph, name, threads);
}

Result<OriginalIds> Reorder(RawGraph& graph, OriginalIds ids, VertexOrder order,
                            std::size_t threads) {
  if (ids.count() == 0 || (order == VertexOrder::kIds && ids.ascending())) return ids;
  const std::vector<VertexId> in_order = VerticesInOrder(graph, ids, order);  // old dense ids
  std::vector<std::uint64_t> names(ids.count());
  std::vector<VertexId> new_ids(ids.count());  // by old dense id
  for (VertexId i = 0; i < ids.count(); ++i) {
    names[i] = ids[in_order[i]];
    new_ids[in_order[i]] = i;
  }
  SLIM_TRY(Renumber(graph, threads, [&](std::uint64_t id) { return new_ids[id]; }));
  return *OriginalIds::InAnyOrder(std::move(names));
}

}  // namespace slimgraph::internal
