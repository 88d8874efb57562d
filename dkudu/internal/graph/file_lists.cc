#include "dkudu/internal/graph/file_lists.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <limits>

#include "dkudu/internal/kernel/bit_matrix.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"

namespace slimgraph::dkudu {
namespace {

// The neighbours in a block of a file, which is read and verified as a whole.
constexpr EdgeOffset kBlockArcs = kSlimBlockBytes / sizeof(VertexId);

// Highway's sorter has a cost of its own that short lists are not worth.
void Sort(std::span<VertexId> entries) {
  constexpr std::size_t kShort = 16;
  if (entries.size() <= kShort) return std::sort(entries.begin(), entries.end());
  thread_local const hwy::Sorter sorter;
  sorter(entries.data(), entries.size(), hwy::SortAscending());
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

DegreeSums SumsOf(std::uint64_t degree, std::uint64_t above) {
  DegreeSums sums{
      .arcs = degree, .most = degree, .most_above = above, .matrix_bytes = BitMatrix::Bytes(above)};
  if (degree < 2) return sums;
  sums.pairs = static_cast<unsigned __int128>(degree) * (degree - 1) / 2;
  sums.triples = sums.pairs * (degree - 2) / 3;
  return sums;
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
  return (file.directed() ? 2 : 1) *
         ((kPieceVertices + 1) * sizeof(EdgeOffset) +
          (kStepArcs + kBlockArcs + threads * kStepArcs / 4) * sizeof(VertexId));
}

Status FileLists::Side::Read(const GraphSource& file, std::size_t begin, std::size_t end,
                             std::size_t threads) {
  const bool goes_on = first <= offsets[begin] && offsets[begin] <= first + count;
  const std::size_t used = goes_on ? offsets[begin] - first : count;
  std::copy_n(neighbours.data() + used, count - used, neighbours.data());
  count -= used;
  first = offsets[begin];
  if (first + count >= offsets[end]) return {};
  const EdgeOffset blocks = (offsets[end] + kBlockArcs - 1) / kBlockArcs;
  const std::size_t wanted = std::min(blocks * kBlockArcs, file.arcs()) - first;
  if (neighbours.size() < wanted) neighbours.resize(wanted);
  SLIM_TRY(file.ReadElements(file.neighbours(direction), first + count,
                             std::span(neighbours).subspan(count, wanted - count), threads));
  count = wanted;
  return {};
}

Status FileLists::ReadStep() {
  const VertexId end = range_.first + range_.count;
  cuts_.assign(1, next_);
  const std::size_t here = sides_[0].offsets.size();  // offsets of the window, one more than lists
  if (here == 0 || next_ < window_ || next_ - window_ >= here - 1) {
    window_ = next_;
    const std::size_t count = std::min<std::size_t>(kPieceVertices, end - window_);
    for (Side& side : sides_) {
      side.offsets.resize(count + 1);
      SLIM_TRY(file_.ReadElements(file_.offsets(side.direction), window_, std::span(side.offsets),
                                  threads_));
    }
  }
  const std::size_t first = next_ - window_;
  const std::size_t count = sides_[0].offsets.size() - 1;
  std::size_t last = first + 1;
  const auto fits = [&](const Side& side) { return side.ArcsOf(first, last + 1) <= kStepArcs; };
  while (last < count && std::all_of(sides_.begin(), sides_.end(), fits)) ++last;
  for (Side& side : sides_) SLIM_TRY(side.Read(file_, first, last, threads_));
  next_ = window_ + static_cast<VertexId>(last);
  // Pieces of equally many vertices and outgoing arcs.
  const auto cost = [&](std::size_t i) { return sides_[0].ArcsOf(first, i) + (i - first); };
  for (std::size_t piece = 1, i = first; piece <= pieces(); ++piece) {
    while (i < last && cost(i) * pieces() < cost(last) * piece) ++i;
    cuts_.push_back(window_ + static_cast<VertexId>(piece == pieces() ? last : i));
  }
  return {};
}

template <typename Each>
void FileLists::VisitEntries(VertexId dense, Each each) const {
  constexpr std::size_t kAhead = 24;  // ranks are scattered in memory, so they are prefetched
  const std::size_t number = dense - window_;
  const List neighbours = sides_[0].From(number);
  const List out = sides_[0].ListOf(number);
  if (!file_.directed()) {
    // A list of the file ascends by dense id, so duplicates are adjacent.
    VertexId last = dense;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i + kAhead < neighbours.size()) {
        __builtin_prefetch(&rank_of_[neighbours[i + kAhead]]);
      }
      const VertexId w = out[i];
      each(rank_of_[w], static_cast<std::size_t>(w != dense) & static_cast<std::size_t>(w != last));
      last = w;
    }
    return;
  }
  const List in = sides_[1].ListOf(number);
  for (std::size_t o = 0, i = 0; o < out.size() || i < in.size();) {
    const bool arc = i == in.size() || (o < out.size() && out[o] <= in[i]);
    const VertexId w = arc ? out[o] : in[i];
    while (o < out.size() && out[o] == w) ++o;
    while (i < in.size() && in[i] == w) ++i;
    each(2 * rank_of_[w] + (arc ? 1 : 0), std::size_t{w != dense});
  }
}

std::span<VertexId> FileLists::Entries(std::size_t piece, VertexId dense) {
  const std::size_t number = dense - window_;
  std::vector<VertexId>& entries = entries_[piece];
  std::size_t most = 0;
  for (const Side& side : sides_) most += side.ArcsOf(number, number + 1);
  if (entries.size() < most) entries.resize(most);
  const VertexId least = part_ == ListPart::kUpper ? rank_of_[dense] + 1 : 0;
  VertexId* next = entries.data();
  VisitEntries(dense, [&](VertexId entry, std::size_t counts) {
    *next = entry;
    next += counts & static_cast<std::size_t>(entry >= least);
  });
  return {entries.data(), next};
}

template <typename Each>
Status FileLists::VisitStep(Each visit) {
  return ParallelFor(pieces(), threads_, [&](std::size_t piece) -> Status {
    for (VertexId dense = cuts_[piece]; dense < cuts_[piece + 1]; ++dense) {
      if (wanted_.Has(rank_of_[dense])) visit(piece, dense);
    }
    return {};
  });
}

Result<FileLists::Sizes> FileLists::Measure() {
  Sizes sizes{.lengths = std::vector<std::uint32_t>(range_.count), .sums = {}};
  std::vector<DegreeSums> sums(pieces());
  for (next_ = range_.first; next_ < range_.first + range_.count;) {
    SLIM_TRY(ReadStep());
    SLIM_TRY(VisitStep([&](std::size_t piece, VertexId dense) {
      const VertexId rank = rank_of_[dense];
      std::uint64_t all = 0;
      std::uint64_t above = 0;
      VisitEntries(dense, [&](VertexId entry, std::size_t counts) {
        all += counts;
        above += counts & static_cast<std::size_t>(entry >> EntryBits(part_) > rank);
      });
      sums[piece].Add(SumsOf(all, above));
      sizes.lengths[dense - range_.first] =
          static_cast<std::uint32_t>(part_ == ListPart::kUpper ? above : all);
    }));
  }
  for (const DegreeSums& of_piece : sums) sizes.sums.Add(of_piece);
  next_ = range_.first;
  return sizes;
}

Result<bool> FileLists::VisitNext(const Visit& visit) {
  if (next_ == range_.first + range_.count) return false;
  SLIM_TRY(ReadStep());
  SLIM_TRY(VisitStep([&](std::size_t piece, VertexId dense) {
    const std::span<VertexId> entries = Entries(piece, dense);
    Sort(entries);
    visit(piece, rank_of_[dense], entries);
  }));
  return true;
}

}  // namespace slimgraph::dkudu
