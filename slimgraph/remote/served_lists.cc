#include "slimgraph/remote/served_lists.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/graph/share_array.h"
#include "slimgraph/graph/shared_graph.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kPieceArcs = 1 << 19;

struct Totals {
  EdgeOffset first_arc = 0;  // in the file
  EdgeOffset arcs = 0;
  std::uint64_t bytes = 0;
};

// Fills the table of places from the file's offsets.
Result<Totals> FindPlaces(const GraphSource& file, const VertexPart& part, Direction direction,
                          const ListCode& code, std::span<PlaceGroup> places) {
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
      PlaceGroup& group = places[at / PlaceGroup::kLists];
      if (at % PlaceGroup::kLists == 0) {
        group.first_byte = totals.bytes;
        group.first_arc = totals.arcs;
      }
      group.lengths[at % PlaceGroup::kLists] = static_cast<std::uint32_t>(length);
      totals.bytes += code.Bytes(length);
      totals.arcs += length;
    }
  }
  return totals;
}

// Codes the lists of places[begin .. end).
Status CodeGroups(const GraphSource& file, const VertexPart& part, Direction direction,
                  const ListCode& code, const Totals& totals, const ServedLists& served,
                  std::size_t begin, std::size_t end, const ListWatch& watch) {
  const EdgeOffset first = served.places[begin].first_arc;
  const EdgeOffset behind = end < served.places.size() ? served.places[end].first_arc : totals.arcs;
  std::vector<VertexId> ids(behind - first);
  SLIM_TRY(
      file.ReadElements(file.neighbours(direction), totals.first_arc + first, std::span(ids), 1));
  std::span<const VertexId> rest(ids);
  for (std::size_t g = begin; g < end; ++g) {
    std::byte* into = served.lists.data() + served.places[g].first_byte;
    for (VertexId i = 0; i < PlaceGroup::kLists; ++i) {
      const std::uint32_t length = served.places[g].lengths[i];
      const auto list = rest.first(length);
      if (!code.CanEncode(list)) {
        return InputError("{}: the list of vertex {} does not ascend, or leads out of the graph",
                          file.path(), part.first + g * PlaceGroup::kLists + i);
      }
      code.Encode(list, into);
      into += code.Bytes(length);
      rest = rest.subspan(length);
    }
  }
  watch(ids);
  return {};
}

// Where to cut the groups, so that pieces have about as many arcs.
std::vector<std::size_t> Cuts(std::span<const PlaceGroup> places) {
  std::vector<std::size_t> cuts{0};
  for (std::size_t g = 1; g < places.size(); ++g) {
    if (places[g].first_arc - places[cuts.back()].first_arc >= kPieceArcs) cuts.push_back(g);
  }
  if (!places.empty()) cuts.push_back(places.size());
  return cuts;
}

}  // namespace

Result<ServedLists> LoadServedLists(Cluster& cluster, const GraphSource& file,
                                    const VertexPart& part, Direction direction, bool weights,
                                    std::uint32_t socket, const ListWatch& watch) {
  SLIM_CHECK(part.stride == 1);
  Fabric& fabric = cluster.fabric();
  const ListCode code(file.vertices());
  ServedLists served;
  ServedRegions& regions = served.regions;
  SLIM_ASSIGN(served.places,
              ShareArray<PlaceGroup>(fabric, PlaceGroups(part.count), socket, regions.places));
  SLIM_ASSIGN(const Totals totals, FindPlaces(file, part, direction, code, served.places));
  const std::uint64_t list_bytes = totals.bytes == 0 ? 0 : totals.bytes + ListCode::kSlackBytes;
  SLIM_ASSIGN(served.lists, ShareArray<std::byte>(fabric, list_bytes, socket, regions.lists));
  const std::size_t threads = LoadingThreads(cluster);
  if (weights) {
    const std::size_t weight_bytes = WeightBytes(file.weight_type());
    SLIM_ASSIGN(served.weights,
                ShareArray<std::byte>(fabric, totals.arcs * weight_bytes, socket, regions.weights));
    SLIM_TRY(file.Read(file.weights(direction), totals.first_arc * weight_bytes, served.weights,
                       threads));
  }
  const std::vector<std::size_t> cuts = Cuts(served.places);
  SLIM_TRY(ParallelFor(cuts.size() - 1, threads, [&](std::size_t i) {
    return CodeGroups(file, part, direction, code, totals, served, cuts[i], cuts[i + 1], watch);
  }));
  return served;
}

}  // namespace slimgraph
