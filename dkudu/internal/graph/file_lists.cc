#include "dkudu/internal/graph/file_lists.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <limits>

#include "dkudu/internal/kernel/bit_matrix.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::uint64_t kPieceArcs = 1 << 20;

// One direction's lists in the piece of the file that is being read.
struct Side {
  Direction direction;
  std::vector<EdgeOffset> offsets;
  std::vector<VertexId> neighbours;

  EdgeOffset ArcsOf(std::size_t first, std::size_t end) const {
    return offsets[end] - offsets[first];
  }
  List Of(std::size_t i, std::size_t first) const {
    return List(neighbours).subspan(offsets[i] - offsets[first], ArcsOf(i, i + 1));
  }
};

// Calls visit(dense id, out list, in list) for every vertex of the file for which wanted(dense id)
// holds. In an undirected graph the in list is empty. The vertices of a home are scattered over the
// file, so every node streams through the whole file.
template <typename Wanted, typename Visit>
Status ForEachList(const GraphSource& file, Wanted wanted, Visit visit) {
  std::vector<Side> sides = {{Direction::kOut, {}, {}}};
  if (file.directed()) sides.push_back({Direction::kIn, {}, {}});
  for (std::size_t start = 0; start < file.vertices(); start += kPieceVertices) {
    const std::size_t count = std::min<std::size_t>(kPieceVertices, file.vertices() - start);
    for (Side& side : sides) {
      side.offsets.resize(count + 1);
      SLIM_TRY(file.ReadElements(file.offsets(side.direction), start, std::span(side.offsets), 1));
    }
    for (std::size_t first = 0; first < count;) {
      std::size_t last = first + 1;
      const auto fits = [&](const Side& side) {
        return side.ArcsOf(first, last + 1) <= kPieceArcs;
      };
      while (last < count && std::all_of(sides.begin(), sides.end(), fits)) ++last;
      for (Side& side : sides) {
        side.neighbours.resize(side.ArcsOf(first, last));
        SLIM_TRY(file.ReadElements(file.neighbours(side.direction), side.offsets[first],
                                   std::span(side.neighbours), 1));
      }
      for (std::size_t i = first; i < last; ++i) {
        const auto v = static_cast<VertexId>(start + i);
        if (!wanted(v)) continue;
        visit(v, sides[0].Of(i, first), sides.size() < 2 ? List() : sides[1].Of(i, first));
      }
      first = last;
    }
  }
  return {};
}

// Highway's sorter has a cost of its own that short lists are not worth.
void Sort(std::span<VertexId> entries) {
  constexpr std::size_t kShort = 16;
  if (entries.size() <= kShort) return std::sort(entries.begin(), entries.end());
  hwy::Sorter()(entries.data(), entries.size(), hwy::SortAscending());
}

// The sums of a vertex with so many neighbours.
DegreeSums SumsOf(std::uint64_t degree, std::uint64_t above) {
  DegreeSums sums{
      .arcs = degree, .most = degree, .most_above = above, .matrix_bytes = BitMatrix::Bytes(above)};
  if (degree < 2) return sums;
  sums.pairs = static_cast<unsigned __int128>(degree) * (degree - 1) / 2;
  sums.triples = sums.pairs * (degree - 2) / 3;
  return sums;
}

}  // namespace

void DegreeSums::Add(const DegreeSums& other) {
  arcs += other.arcs;
  most = std::max(most, other.most);
  most_above = std::max(most_above, other.most_above);
  matrix_bytes += other.matrix_bytes;
  pairs += other.pairs;
  triples += other.triples;
}

ListPart PartFor(const GraphSource& file, ListPart part) {
  return part == ListPart::kArcs && !file.directed() ? ListPart::kAll : part;
}

Status CheckForMining(const GraphSource& file, ListPart part) {
  if (file.vertices() == 0) return InputError("{}: the graph is empty", file.path());
  if (!file.directed()) return {};
  if (part != ListPart::kArcs) {
    return InputError(
        "{} is directed, and patterns are mined in undirected graphs; make it one with: slimgraph "
        "convert {} OUT.slim --symmetrize",
        file.path(), file.path());
  }
  if (!file.has(Direction::kIn)) {
    return InputError("{} has no incoming lists: convert it without --no-reverse", file.path());
  }
  if (file.vertices() > std::numeric_limits<VertexId>::max() / 2) {
    return InputError("{}: more than 2^31 - 1 vertices of a directed graph", file.path());
  }
  return {};
}

VertexId FileLists::count() const { return (file_.vertices() + homes_ - 1 - home_) / homes_; }

std::uint64_t FileLists::Bytes(const GraphSource& file) {
  return (file.directed() ? 2 : 1) *
         ((kPieceVertices + 1) * sizeof(EdgeOffset) + kPieceArcs * sizeof(VertexId));
}

// The neighbours are without self-loops and duplicates, and in ascending order of their dense ids.
template <typename Visit>
Status FileLists::ForEachComplete(Visit visit) const {
  constexpr std::size_t kAhead = 24;  // ranks are scattered in memory, so they are prefetched
  std::vector<VertexId> entries;
  const auto mine = [&](VertexId dense) {
    return homes_ == 1 || rank_of_[dense] % homes_ == home_;
  };
  return ForEachList(file_, mine, [&](VertexId dense, List out, List in) {
    entries.resize(out.size() + in.size());
    std::size_t count = 0;
    // A list of the file ascends by dense id, so duplicates are adjacent.
    VertexId last = dense;
    for (std::size_t i = 0; i < out.size() && !file_.directed(); ++i) {
      if (i + kAhead < out.size()) __builtin_prefetch(&rank_of_[out[i + kAhead]]);
      const VertexId w = out[i];
      entries[count] = rank_of_[w];
      count += static_cast<std::size_t>(w != dense) & static_cast<std::size_t>(w != last);
      last = w;
    }
    for (std::size_t o = 0, i = 0; file_.directed() && (o < out.size() || i < in.size());) {
      const bool arc = i == in.size() || (o < out.size() && out[o] <= in[i]);
      const VertexId w = arc ? out[o] : in[i];
      while (o < out.size() && out[o] == w) ++o;
      while (i < in.size() && in[i] == w) ++i;
      if (w != dense) entries[count++] = 2 * rank_of_[w] + (arc ? 1 : 0);
    }
    visit(rank_of_[dense], std::span(entries).first(count));
  });
}

Result<FileLists::Sizes> FileLists::Measure() const {
  Sizes sizes{.lengths = std::vector<std::uint32_t>(count()), .sums = {}};
  const auto measure = [&](VertexId v, List entries) {
    std::uint64_t above = 0;
    for (const VertexId entry : entries) above += entry >> EntryBits(part_) > v ? 1 : 0;
    sizes.sums.Add(SumsOf(entries.size(), above));
    sizes.lengths[v / homes_] =
        static_cast<std::uint32_t>(part_ == ListPart::kUpper ? above : entries.size());
  };
  SLIM_TRY(ForEachComplete(measure));
  return sizes;
}

Status FileLists::ForEach(const std::function<void(VertexId, List)>& visit) const {
  return ForEachComplete([&](VertexId v, std::span<VertexId> entries) {
    if (part_ == ListPart::kUpper) {
      std::size_t count = 0;
      for (const VertexId w : entries) {
        entries[count] = w;
        count += w > v ? 1 : 0;
      }
      entries = entries.first(count);
    }
    Sort(entries);
    visit(v / homes_, entries);
  });
}

}  // namespace slimgraph::dkudu
