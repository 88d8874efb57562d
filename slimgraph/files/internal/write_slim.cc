#include "slimgraph/files/internal/write_slim.h"

#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/files/internal/build_lists.h"
#include "slimgraph/files/internal/id_map.h"
#include "slimgraph/files/internal/slim_writer.h"

namespace slimgraph::internal {
namespace {

// Writes one direction: the neighbours while they are built, then the weights, then the offsets.
Result<BuiltLists> WriteLists(SlimWriter& writer, RawGraph& graph, VertexId vertices,
                              Direction direction, const BuildRules& rules, bool consume) {
  const auto kind = [&](SectionKind out) {
    const std::uint32_t step = direction == Direction::kOut ? 0 : 3;
    return static_cast<SectionKind>(static_cast<std::uint32_t>(out) + step);
  };
  std::vector<PageBuffer> weights;  // grow no faster than the edges are freed
  writer.Begin(kind(SectionKind::kOutNeighbours), sizeof(VertexId));
  SLIM_ASSIGN(BuiltLists built,
              BuildLists(graph, vertices, direction, rules, consume,
                         [&](std::span<const VertexId> neighbours, Bytes bytes) -> Status {
                           if (!bytes.empty()) {
                             SLIM_ASSIGN(PageBuffer copy, PageBuffer::Allocate(bytes.size()));
                             std::copy(bytes.begin(), bytes.end(), copy.data());
                             weights.push_back(std::move(copy));
                           }
                           return writer.Append(std::as_bytes(neighbours));
                         }));
  SLIM_TRY(writer.End());
  if (rules.weight_type != WeightType::kNone) {
    const std::size_t bytes = WeightBytes(rules.weight_type);
    writer.Begin(kind(SectionKind::kOutWeights), static_cast<std::uint32_t>(bytes));
    for (PageBuffer& part : weights) {
      SLIM_TRY(writer.Append(part.as<const std::byte>()));
      part = PageBuffer();
    }
    SLIM_TRY(writer.End());
  }
  writer.Begin(kind(SectionKind::kOutOffsets), sizeof(EdgeOffset));
  SLIM_TRY(writer.Append(std::as_bytes(std::span(built.offsets))));
  SLIM_TRY(writer.End());
  return built;
}

// An error if the memory for building is clearly not available, before the kernel kills a process.
// Building takes 8 bytes per arc, or 16 with weights, minus the memory of edges that it frees.
Status CheckRoom(const RawGraph& graph, VertexId vertices, const WriteRules& rules) {
  const std::uint64_t arcs = graph.edges() * (rules.directed ? 1 : 2);
  const std::uint64_t needed = arcs * (graph.weighted ? 16 : 8);
  std::uint64_t freed = 0;
  for (const EdgeBlock& block : graph.blocks) freed += block.memory_bytes();
  const bool consumes = !rules.directed || !rules.reverse_lists;
  const std::uint64_t more = !consumes ? needed : needed > freed ? needed - freed : 0;
  const std::uint64_t offsets = (std::uint64_t{vertices} + 1) * sizeof(EdgeOffset);
  return CheckMemory(more + offsets, fmt::format("converting {}", rules.name));
}

}  // namespace

Result<ConvertReport> WriteSlim(RawGraph graph, const WriteRules& rules) {
  const std::uint64_t start_ns = NowNs();
  if (rules.ranked && rules.directed) {
    return UsageError(
        "--coded keeps lists for mining, and patterns are mined in undirected graphs: leave it "
        "out, or make the graph undirected");
  }
  ConvertReport report;
  report.out = rules.out;
  report.edges_read = graph.edges();
  SLIM_ASSIGN(SlimWriter writer, SlimWriter::Create(rules.out));
  SLIM_ASSIGN(const WeightType smallest, ExactWeightType(graph, rules.name));
  const WeightType weight_type = rules.weight_type.value_or(smallest);
  SLIM_ASSIGN(OriginalIds ids, MakeIdsDense(graph, rules.name, rules.threads));
  SLIM_ASSIGN(ids, Reorder(graph, std::move(ids), rules.order, rules.threads));
  graph.vertices = {};
  SLIM_TRY(CheckRoom(graph, ids.count(), rules));

  BuildRules build;
  build.directed = rules.directed;
  build.keep_self_loops = rules.keep_self_loops;
  build.keep_duplicates = rules.keep_duplicates;
  build.weight_type = weight_type;
  build.threads = rules.threads;
  build.progress = rules.progress;
  build.cancelled = rules.cancelled;
  const bool reverse = rules.directed && rules.reverse_lists;
  SLIM_ASSIGN(const BuiltLists out,
              WriteLists(writer, graph, ids.count(), Direction::kOut, build, !reverse));
  if (reverse) {
    SLIM_TRY(WriteLists(writer, graph, ids.count(), Direction::kIn, build, true));
  }
  SLIM_TRY(writer.AppendIds(ids));
  SlimHeader header = {};
  header.flags = (rules.directed ? kSlimDirected : 0u) |
                 (rules.keep_self_loops && out.self_loops > 0 ? kSlimSelfLoops : 0u) |
                 (rules.keep_duplicates && out.duplicates > 0 ? kSlimDuplicates : 0u);
  header.weight_type = weight_type;
  header.edges = out.edges;
  header.vertices = ids.count();
  header.first_original_id = ids.first();
  header.arcs = out.offsets.back();
  if (rules.ranked && ids.count() > 0) {
    SLIM_ASSIGN(const SlimFile written, writer.Reread(header, rules.out));
    SLIM_ASSIGN(const RankedSections ranked, rules.ranked(written, rules.threads));
    SLIM_TRY(writer.AppendRanked(ranked));
    report.coded_bytes = ranked.list_bytes;
  }
  SLIM_ASSIGN(report.file_bytes, writer.Finish(header));

  report.vertices = ids.count();
  report.edges = out.edges;
  report.directed = rules.directed;
  report.weight_type = weight_type;
  report.self_loops = out.self_loops;
  report.self_loops_kept = rules.keep_self_loops;
  report.duplicates = out.duplicates;
  report.duplicates_kept = rules.keep_duplicates;
  report.peak_bytes = PeakMemoryBytes();
  report.build_s = SecondsSince(start_ns);
  return report;
}

}  // namespace slimgraph::internal
