// Loads a .slim file beyond its header: partitions, sizes, and the lists of every part. The
// checksums are made to match, so any other mistake of a writer is possible. A file that is not
// refused must be a graph in which every neighbour is a vertex and every list is within its part.
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "dkudu/internal/graph/ranked_file.h"
#include "dkudu/ranked_lists.h"
#include "slimgraph/files/csr.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/memory_plan.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/support/slim_checksums.h"

namespace slimgraph {
namespace {

// Loads the part and checks it. Returns false if it was refused.
bool LoadPart(const SlimFile& file, const VertexPart& part, Direction direction) {
  const auto arcs = CountArcs(file, part, direction);
  if (!arcs) return false;
  SLIM_CHECK(*arcs <= file.arcs());
  std::vector<EdgeOffset> offsets(std::size_t{part.count} + 1);
  std::vector<VertexId> neighbours(*arcs);
  std::vector<std::byte> weights(*arcs * WeightBytes(file.weight_type()));
  const auto loaded = LoadLists(file, part, direction, {offsets, neighbours, weights}, 1,
                                [&](VertexId v, std::span<const VertexId> list) {
                                  SLIM_CHECK(part.contains(v));
                                  for (const VertexId u : list) SLIM_CHECK(u < file.vertices());
                                });
  if (!loaded) return false;
  for (std::size_t i = 0; i < part.count; ++i) SLIM_CHECK(offsets[i] <= offsets[i + 1]);
  SLIM_CHECK(offsets.back() == *arcs);
  for (const VertexId v : neighbours) SLIM_CHECK(v < file.vertices());
  return true;
}

template <typename Partition>
void LoadParts(const SlimFile& file, const Partition& partition, Direction direction) {
  const GraphNeeds needs{.out_lists = true, .in_lists = file.has(Direction::kIn), .weights = true};
  const auto sizes = PartSizes(file, partition, needs);
  if (sizes) (void)PlanMemory(file, *sizes, needs);
  for (NodeId node = 0; node < partition.nodes(); ++node) {
    for (std::uint32_t socket = 0; socket < partition.sockets(); ++socket) {
      LoadPart(file, partition.part(node, socket), direction);
    }
  }
}

// D-Kudu's lists in the file, if it has them.
void LoadRanked(const SlimFile& file) {
  (void)dkudu::CheckRankedLists(file, 1);
  for (const auto part : {dkudu::ListPart::kUpper, dkudu::ListPart::kAll}) {
    if (!dkudu::RankedFile::Has(file, part)) return;
    const auto ranked = dkudu::RankedFile::Open(file, part, 1);
    if (!ranked) return;
    for (const NodeId homes : {1U, 3U, 4U}) {
      for (NodeId home = 0; home < homes; ++home) {
        (void)ranked->VisitLists({home, homes}, 1, [&](VertexId rank, Bytes, dkudu::List list) {
          SLIM_CHECK(rank % homes == home && list.size() == ranked->length(rank));
          for (const VertexId other : list) SLIM_CHECK(other < file.vertices() && other != rank);
        });
      }
    }
  }
}

void LoadIt(const std::string& path) {
  const auto file = SlimFile::Open(path);
  if (!file) return;
  (void)file->ReadOriginalIds();
  // MiningGraph refuses other graphs before it orders their vertices.
  if (file->vertices() > 0 && file->has(Direction::kIn)) (void)dkudu::DegreeOrder::Of(*file);
  LoadRanked(*file);
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    if (!file->has(direction)) continue;
    if (const auto lists = ReadCsr(*file, direction)) {
      for (const VertexId v : lists->neighbours) SLIM_CHECK(v < file->vertices());
    }
    for (const NodeId nodes : {1U, 3U}) {
      const auto chunks = ChunkPartition::Balance(*file, direction, nodes, 2, 1.0, 1);
      if (chunks) LoadParts(*file, *chunks, direction);
      LoadParts(*file, HashPartition(file->vertices(), nodes, 2), direction);
    }
  }
}

}  // namespace
}  // namespace slimgraph

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = ::memfd_create("fuzz.slim", 0);
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  std::vector<std::uint8_t> file(data, data + size);
  slimgraph::UpdateChecksums(file);
  if (::ftruncate(fd, 0) != 0) return 0;
  if (::pwrite(fd, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size())) return 0;
  slimgraph::LoadIt(path);
  return 0;
}
