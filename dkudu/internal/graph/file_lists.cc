#include "dkudu/internal/graph/file_lists.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <limits>

#include "dkudu/internal/kernel/bit_matrix.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"

namespace slimgraph::dkudu {
namespace {

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

FileLists::FileLists(const GraphSource& file, ListPart part, std::span<const VertexId> rank_of,
                     const VertexPart& range, std::size_t threads, DealtOut wanted)
    : file_(file),
      part_(part),
      rank_of_(rank_of),
      range_(range),
      wanted_(wanted),
      threads_(threads),
      next_(range.first),
      entries_(threads) {
  SLIM_CHECK(range.stride == 1 && threads > 0, "a stride of {}, {} threads", range.stride, threads);
  sides_.push_back({Direction::kOut, {}, {}});
  if (file.directed()) sides_.push_back({Direction::kIn, {}, {}});
}

std::uint64_t FileLists::Bytes(const GraphSource& file, std::size_t threads) {
  return (file.directed() ? 2 : 1) * ((kPieceVertices + 1) * sizeof(EdgeOffset) +
                                      (kStepArcs + threads * kStepArcs / 4) * sizeof(VertexId));
}

Status FileLists::ReadStep() {
  const VertexId end = range_.first + range_.count;
  step_ = next_;
  cuts_.assign(1, step_);
  const std::size_t here = sides_[0].offsets.size();  // offsets of the window, one more than lists
  if (here == 0 || step_ < window_ || step_ - window_ >= here - 1) {
    window_ = step_;
    const std::size_t count = std::min<std::size_t>(kPieceVertices, end - window_);
    for (Side& side : sides_) {
      side.offsets.resize(count + 1);
      SLIM_TRY(file_.ReadElements(file_.offsets(side.direction), window_, std::span(side.offsets),
                                  threads_));
    }
  }
  const std::size_t first = step_ - window_;
  const std::size_t count = sides_[0].offsets.size() - 1;
  std::size_t last = first + 1;
  const auto fits = [&](const Side& side) { return side.ArcsOf(first, last + 1) <= kStepArcs; };
  while (last < count && std::all_of(sides_.begin(), sides_.end(), fits)) ++last;
  for (Side& side : sides_) {
    side.neighbours.resize(side.ArcsOf(first, last));
    SLIM_TRY(file_.ReadElements(file_.neighbours(side.direction), side.offsets[first],
                                std::span(side.neighbours), threads_));
  }
  next_ = window_ + static_cast<VertexId>(last);
  // Pieces of equally many vertices and outgoing arcs.
  const auto cost = [&](std::size_t i) { return sides_[0].ArcsOf(first, i) + (i - first); };
  for (std::size_t piece = 1, i = first; piece <= pieces(); ++piece) {
    while (i < last && cost(i) * pieces() < cost(last) * piece) ++i;
    cuts_.push_back(window_ + static_cast<VertexId>(piece == pieces() ? last : i));
  }
  return {};
}

std::span<VertexId> FileLists::Entries(std::size_t piece, VertexId dense) {
  constexpr std::size_t kAhead = 24;  // ranks are scattered in memory, so they are prefetched
  const std::size_t number = dense - window_;
  // The neighbours of the step from this list on.
  const auto from_here = [&](const Side& side) {
    return List(side.neighbours).subspan(side.ArcsOf(step_ - window_, number));
  };
  const List neighbours = from_here(sides_[0]);
  const List out = neighbours.first(sides_[0].ArcsOf(number, number + 1));
  std::vector<VertexId>& entries = entries_[piece];
  std::size_t count = 0;
  if (!file_.directed()) {
    if (entries.size() < out.size()) entries.resize(out.size());
    // A list of the file ascends by dense id, so duplicates are adjacent.
    VertexId last = dense;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i + kAhead < neighbours.size()) {
        __builtin_prefetch(&rank_of_[neighbours[i + kAhead]]);
      }
      const VertexId w = out[i];
      entries[count] = rank_of_[w];
      count += static_cast<std::size_t>(w != dense) & static_cast<std::size_t>(w != last);
      last = w;
    }
    return std::span(entries).first(count);
  }
  const List in = from_here(sides_[1]).first(sides_[1].ArcsOf(number, number + 1));
  if (entries.size() < out.size() + in.size()) entries.resize(out.size() + in.size());
  for (std::size_t o = 0, i = 0; o < out.size() || i < in.size();) {
    const bool arc = i == in.size() || (o < out.size() && out[o] <= in[i]);
    const VertexId w = arc ? out[o] : in[i];
    while (o < out.size() && out[o] == w) ++o;
    while (i < in.size() && in[i] == w) ++i;
    if (w != dense) entries[count++] = 2 * rank_of_[w] + (arc ? 1 : 0);
  }
  return std::span(entries).first(count);
}

template <typename Each>
Status FileLists::VisitStep(Each visit) {
  return ParallelFor(pieces(), threads_, [&](std::size_t piece) -> Status {
    for (VertexId dense = cuts_[piece]; dense < cuts_[piece + 1]; ++dense) {
      if (wanted_.Has(rank_of_[dense])) visit(piece, dense, Entries(piece, dense));
    }
    return {};
  });
}

Result<FileLists::Sizes> FileLists::Measure() {
  Sizes sizes{.lengths = std::vector<std::uint32_t>(range_.count), .sums = {}};
  std::vector<DegreeSums> sums(pieces());
  for (next_ = range_.first; next_ < range_.first + range_.count;) {
    SLIM_TRY(ReadStep());
    SLIM_TRY(VisitStep([&](std::size_t piece, VertexId dense, List entries) {
      const VertexId rank = rank_of_[dense];
      std::uint64_t above = 0;
      for (const VertexId entry : entries) above += entry >> EntryBits(part_) > rank ? 1 : 0;
      sums[piece].Add(SumsOf(entries.size(), above));
      sizes.lengths[dense - range_.first] =
          static_cast<std::uint32_t>(part_ == ListPart::kUpper ? above : entries.size());
    }));
  }
  for (const DegreeSums& of_piece : sums) sizes.sums.Add(of_piece);
  next_ = range_.first;
  return sizes;
}

Result<bool> FileLists::VisitNext(const Visit& visit) {
  if (next_ == range_.first + range_.count) return false;
  SLIM_TRY(ReadStep());
  SLIM_TRY(VisitStep([&](std::size_t piece, VertexId dense, std::span<VertexId> entries) {
    const VertexId rank = rank_of_[dense];
    if (part_ == ListPart::kUpper) {
      std::size_t count = 0;
      for (const VertexId w : entries) {
        entries[count] = w;
        count += w > rank ? 1 : 0;
      }
      entries = entries.first(count);
    }
    Sort(entries);
    visit(piece, rank, entries);
  }));
  return true;
}

}  // namespace slimgraph::dkudu
