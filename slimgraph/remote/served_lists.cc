#include "slimgraph/remote/served_lists.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/graph/share_array.h"
#include "slimgraph/graph/shared_graph.h"

namespace slimgraph {
namespace {

struct Totals {
  EdgeOffset first_arc = 0;  // in the file
  EdgeOffset arcs = 0;
  std::uint64_t bytes = 0;
};

// Fills the table of list positions from the file's offsets.
Result<Totals> ComputeOffsets(const GraphSource& file, const VertexPart& part, Direction direction,
                              const ListCode& code, std::span<OffsetGroup> groups) {
  constexpr VertexId kPiece = 1 << 16;
  Totals totals;
  std::vector<EdgeOffset> offsets;
  for (VertexId done = 0; done < part.count; done += kPiece) {
    const VertexId count = std::min(kPiece, part.count - done);
    offsets.resize(count + std::size_t{1});
    SLIM_TRY(file.ReadElements(file.offsets(direction), std::uint64_t{part.first} + done,
                               std::span(offsets), 1));
    if (done == 0) totals.first_arc = offsets[0];
    for (VertexId i = 0; i < count; ++i) {
      const VertexId at = done + i;
      const EdgeOffset length = offsets[i + std::size_t{1}] - offsets[i];
      if (offsets[i + std::size_t{1}] > file.arcs() ||
          length > std::numeric_limits<std::uint32_t>::max()) {
        return InputError("{}: the offsets of its lists are wrong at vertex {}", file.path(),
                          part.first + at);
      }
      OffsetGroup& group = groups[at / OffsetGroup::kLists];
      if (at % OffsetGroup::kLists == 0) {
        group.first_byte = totals.bytes;
        group.first_arc = totals.arcs;
      }
      group.lengths[at % OffsetGroup::kLists] = static_cast<std::uint32_t>(length);
      totals.bytes += code.Bytes(length);
      totals.arcs += length;
    }
  }
  return totals;
}

// Reads the arcs first .. end-1 in the order of the file, each block of the file once.
class NeighbourStream {
 public:
  NeighbourStream(const GraphSource& file, Direction direction, EdgeOffset first, EdgeOffset end)
      : file_(file), direction_(direction), next_(first), end_(end) {}

  // The next `count` neighbours; they are valid until the next call.
  Result<std::span<const VertexId>> Take(std::size_t count) {
    while (filled_ - taken_ < count) SLIM_TRY(ReadBlock());
    const auto ids = std::span<const VertexId>(ids_).subspan(taken_, count);
    taken_ += count;
    return ids;
  }

 private:
  Status ReadBlock() {
    constexpr std::uint64_t kBlock = kSlimBlockBytes / sizeof(VertexId);
    std::copy(ids_.begin() + taken_, ids_.begin() + filled_, ids_.begin());
    filled_ -= std::exchange(taken_, 0);
    const std::size_t more = std::min(kBlock - next_ % kBlock, end_ - next_);
    if (filled_ + more > ids_.size()) ids_.resize(filled_ + more);
    const auto into = std::span(ids_).subspan(filled_, more);
    SLIM_TRY(file_.ReadElements(file_.neighbours(direction_), next_, into, 1));
    filled_ += more;
    next_ += more;
    return {};
  }

  const GraphSource& file_;
  Direction direction_;
  EdgeOffset next_;  // the next arc to read from the file
  EdgeOffset end_;
  std::vector<VertexId> ids_;  // taken_ .. filled_-1 are read but not taken yet
  std::size_t taken_ = 0;
  std::size_t filled_ = 0;
};

// Encodes the lists of served.offsets[begin .. end).
Status CodeGroups(const GraphSource& file, const VertexPart& part, Direction direction,
                  const ListCode& code, const Totals& totals, const ServedLists& served,
                  std::size_t begin, std::size_t end, const ListObserver& watch) {
  if (begin == end) return {};
  const EdgeOffset first = served.offsets[begin].first_arc;
  const EdgeOffset behind =
      end < served.offsets.size() ? served.offsets[end].first_arc : totals.arcs;
  NeighbourStream stream(file, direction, totals.first_arc + first, totals.first_arc + behind);
  for (std::size_t g = begin; g < end; ++g) {
    std::byte* into = served.lists.data() + served.offsets[g].first_byte;
    for (VertexId i = 0; i < OffsetGroup::kLists; ++i) {
      const std::uint32_t length = served.offsets[g].lengths[i];
      SLIM_ASSIGN(const auto list, stream.Take(length));
      if (!code.CanEncode(list)) {
        return InputError("{}: the list of vertex {} does not ascend, or has invalid ids",
                          file.path(), part.first + g * OffsetGroup::kLists + i);
      }
      if (watch && length > 0) {
        watch(part.first + static_cast<VertexId>(g * OffsetGroup::kLists) + i, list);
      }
      code.Encode(list, into);
      into += code.Bytes(length);
    }
  }
  return {};
}

// Cuts the groups into `pieces` consecutive pieces with about equally many arcs. Piece i has the
// groups cuts[i] .. cuts[i + 1]-1.
std::vector<std::size_t> Cuts(std::span<const OffsetGroup> groups, EdgeOffset arcs,
                              std::size_t pieces) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < pieces; ++i) {
    const auto at = std::partition_point(
        groups.begin(), groups.end(),
        [&](const OffsetGroup& group) { return group.first_arc * pieces < arcs * i; });
    cuts.push_back(static_cast<std::size_t>(at - groups.begin()));
  }
  cuts.push_back(groups.size());
  return cuts;
}

}  // namespace

Result<ServedLists> CodeLists(const GraphSource& file, const VertexPart& part, Direction direction,
                              bool weights, std::size_t threads, const ListObserver& watch,
                              const MakeListMemory& make) {
  SLIM_CHECK(part.stride == 1);
  const ListCode code(file.vertices());
  ServedLists served;
  const std::uint64_t groups = OffsetGroups(part.count);
  SLIM_ASSIGN(const MutableBytes offsets, make(ListMemory::kOffsets, groups * sizeof(OffsetGroup)));
  served.offsets = std::span(reinterpret_cast<OffsetGroup*>(offsets.data()), groups);
  SLIM_ASSIGN(const Totals totals, ComputeOffsets(file, part, direction, code, served.offsets));
  const std::uint64_t list_bytes = totals.bytes == 0 ? 0 : totals.bytes + ListCode::kSlackBytes;
  SLIM_ASSIGN(served.lists, make(ListMemory::kLists, list_bytes));
  if (weights) {
    const std::size_t weight_bytes = WeightBytes(file.weight_type());
    SLIM_ASSIGN(served.weights, make(ListMemory::kWeights, totals.arcs * weight_bytes));
    SLIM_TRY(file.Read(file.weights(direction), totals.first_arc * weight_bytes, served.weights,
                       threads));
  }
  const std::vector<std::size_t> cuts = Cuts(served.offsets, totals.arcs, threads);
  SLIM_TRY(ParallelFor(threads, threads, [&](std::size_t i) {
    return CodeGroups(file, part, direction, code, totals, served, cuts[i], cuts[i + 1], watch);
  }));
  return served;
}

Status VisitLists(const ServedLists& served, VertexId first, const ListCode& code,
                  std::size_t threads, const ListObserver& watch,
                  const std::function<bool(VertexId v)>& wanted) {
  if (served.offsets.empty()) return {};
  const OffsetGroup& last = served.offsets.back();
  EdgeOffset arcs = last.first_arc;
  for (const std::uint32_t length : last.lengths) arcs += length;
  const std::vector<std::size_t> cuts = Cuts(served.offsets, arcs, threads);
  return ParallelFor(threads, threads, [&](std::size_t piece) -> Status {
    std::vector<VertexId> list;
    for (std::size_t g = cuts[piece]; g < cuts[piece + 1]; ++g) {
      const std::byte* from = served.lists.data() + served.offsets[g].first_byte;
      for (VertexId i = 0; i < OffsetGroup::kLists; ++i) {
        const std::uint32_t length = served.offsets[g].lengths[i];
        if (length == 0) continue;
        const std::byte* const coded = from;
        from += code.Bytes(length);
        const VertexId v = first + static_cast<VertexId>(g * OffsetGroup::kLists) + i;
        if (wanted && !wanted(v)) continue;
        list.resize(length);
        if (!code.Decode(coded, list))
          return EnvironmentError("the list of vertex {} is damaged", v);
        watch(v, list);
      }
    }
    return {};
  });
}

Result<ServedLists> LoadServedLists(Cluster& cluster, const GraphSource& file,
                                    const VertexPart& part, Direction direction, bool weights,
                                    std::uint32_t socket, const ListObserver& watch) {
  ServedRegions regions;
  const auto share = [&](ListMemory memory, std::uint64_t bytes) -> Result<MutableBytes> {
    RegionId& id = memory == ListMemory::kOffsets ? regions.offsets
                   : memory == ListMemory::kLists ? regions.lists
                                                  : regions.weights;
    return ShareArray<std::byte>(cluster.fabric(), bytes, socket, id);
  };
  SLIM_ASSIGN(ServedLists served,
              CodeLists(file, part, direction, weights, LoadingThreads(cluster), watch, share));
  served.regions = regions;
  return served;
}

}  // namespace slimgraph
