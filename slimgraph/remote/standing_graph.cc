#include "slimgraph/remote/standing_graph.h"

#include <cstring>
#include <sstream>

#include "slimgraph/base/check.h"
#include "slimgraph/files/both_directions.h"
#include "slimgraph/files/unit_weights.h"

namespace slimgraph {
namespace {

constexpr VertexId kWord = 64;
constexpr int kFactsVersion = 5;

constexpr SectionKind kTold[] = {SectionKind::kOutOffsets,   SectionKind::kOutNeighbours,
                                 SectionKind::kOutWeights,   SectionKind::kInOffsets,
                                 SectionKind::kInNeighbours, SectionKind::kInWeights,
                                 SectionKind::kOriginalIds};

std::vector<Direction> DirectionsOf(const GraphSource& graph) {
  if (graph.directed() && graph.has(Direction::kIn)) return {Direction::kOut, Direction::kIn};
  return {Direction::kOut};
}

// Whole words of bitmaps, if the graph is large enough for that.
VertexId StepOf(VertexId vertices, NodeId parts) {
  return vertices / kWord / kWord >= parts ? kWord : OffsetGroup::kLists;
}

// Null: the file itself.
Result<std::unique_ptr<GraphSource>> ViewOf(const SlimFile& file, std::string_view view) {
  if (view.empty()) return nullptr;
  if (view == kUnitView) return std::make_unique<UnitWeights>(file);
  if (view != kBothView) return EnvironmentError("there is no view '{}' of a graph", view);
  SLIM_ASSIGN(BothDirections both, BothDirections::Of(file));
  return std::make_unique<BothDirections>(std::move(both));
}

std::string Facts(const GraphSource& file, std::string_view view, const std::string& path,
                  VertexId step, const ChunkPartition& partition,
                  const std::vector<EdgeOffset>& arcs) {
  const SlimHeader& header = file.header();
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", kFactsVersion, view, path, file.path());
  text += fmt::format("{} {} {} {} {} {} {} {} {}", header.version, header.flags,
                      static_cast<std::uint32_t>(header.weight_type), header.vertices, header.edges,
                      header.arcs, header.first_original_id, header.checksums_checksum, step);
  for (const SectionKind kind : kTold) text += fmt::format(" {}", file.section_bytes(kind));
  text += fmt::format(" {}", partition.nodes());
  for (NodeId part = 0; part < partition.nodes(); ++part) {
    const VertexPart vertices = partition.part(part);
    text += fmt::format(" {} {} {}", vertices.first, vertices.count, arcs[part]);
  }
  return text;
}

Status CodePart(const GraphSource& file, const VertexPart& part, Direction direction,
                std::size_t threads, const ListObserver& watch,
                std::vector<std::unique_ptr<SharedMemory>>& memories) {
  const bool weights = file.weight_type() != WeightType::kNone;
  const auto make = [&](ListMemory, std::uint64_t bytes) -> Result<MutableBytes> {
    SLIM_ASSIGN(memories.emplace_back(), SharedMemory::Create(bytes));
    return MutableBytes(memories.back()->base(), bytes);
  };
  const std::size_t first = memories.size();
  SLIM_TRY(CodeLists(file, part, direction, weights, threads, watch, make));
  // So no process that maps it later can change it.
  for (std::size_t i = first; i < memories.size(); ++i) SLIM_TRY(memories[i]->Seal());
  return {};
}

// Whether such a graph has a NeighbourSummary. Without incoming lists nobody pulls.
bool IsSummarized(const GraphSource& graph, NodeId parts) {
  return (!graph.directed() || graph.has(Direction::kIn)) &&
         parts <= NeighbourSummary::kMostSegments;
}

// `weights`: those of a part, in one direction.
Result<std::unique_ptr<SharedMemory>> MakeRange(WeightType type, const SharedMemory& weights) {
  SLIM_ASSIGN(auto memory, SharedMemory::Create(sizeof(WeightRange)));
  const WeightRange range = RangeOf(type, {weights.base(), weights.bytes()});
  std::memcpy(memory->base(), &range, sizeof range);
  SLIM_TRY(memory->Seal());
  return memory;
}

// The words of the vertices of a part.
Result<std::unique_ptr<SharedMemory>> MakeWords(const VertexPart& part) {
  // A memory cannot be empty.
  return SharedMemory::Create(std::max<std::uint64_t>(part.count, 1) *
                              sizeof(NeighbourSummary::Word));
}

}  // namespace

Result<StandingPart> LoadStandingPart(const std::string& path, const std::string& shown,
                                      NodeId part, NodeId parts, std::size_t threads,
                                      std::string_view view) {
  SLIM_ASSIGN(const SlimFile slim, SlimFile::Open(path, shown));
  SLIM_ASSIGN(const auto viewed, ViewOf(slim, view));
  const GraphSource& file = viewed ? *viewed : static_cast<const GraphSource&>(slim);
  const VertexId step = StepOf(file.vertices(), parts);
  SLIM_ASSIGN(const std::vector<EdgeOffset> offsets,
              ChunkPartition::ReadOffsets(file, Direction::kOut, step, 0, 1, threads));
  const ChunkPartition partition(file.vertices(), offsets, step, parts, 1,
                                 ChunkPartition::DefaultAlpha(parts));
  std::vector<EdgeOffset> arcs;
  for (NodeId i = 0; i < parts; ++i) {
    const VertexPart vertices = partition.part(i);
    const auto before = [&](VertexId v) { return offsets[(std::size_t{v} + step - 1) / step]; };
    arcs.push_back(before(vertices.first + vertices.count) - before(vertices.first));
  }
  StandingPart made;
  made.facts = Facts(file, view, path, step, partition, arcs);
  std::vector<VertexPart> all;
  for (NodeId i = 0; i < parts; ++i) all.push_back(partition.part(i));
  const VertexPart& own = all[part];
  std::unique_ptr<SharedMemory> words;
  ListObserver summarize;
  if (IsSummarized(file, parts)) {
    SLIM_ASSIGN(words, MakeWords(own));
    auto* const first = reinterpret_cast<NeighbourSummary::Word*>(words->base());
    summarize = [summary = NeighbourSummary(all, step), first, own](
                    VertexId v, std::span<const VertexId> list) {
      first[v - own.first] = summary.Of(list);
    };
  }
  for (const Direction direction : DirectionsOf(file)) {
    const bool out = direction == Direction::kOut;
    SLIM_TRY(
        CodePart(file, own, direction, threads, out ? summarize : ListObserver(), made.memories));
  }
  if (file.weight_type() != WeightType::kNone) {
    const auto& weights = made.memories[static_cast<std::size_t>(ListMemory::kWeights)];
    SLIM_ASSIGN(made.memories.emplace_back(), MakeRange(file.weight_type(), *weights));
  }
  if (words) {
    SLIM_TRY(words->Seal());
    made.memories.push_back(std::move(words));
  }
  return made;
}

// The file is opened when a list is first read.
class StandingGraph::WithDirections : public GraphSource {
 public:
  explicit WithDirections(const StandingGraph& view) : GraphSource(view), view_(view) {
    header_.flags |= kSlimDirected;
    header_.arcs /= 2;
  }
  bool has(SectionKind kind) const override {
    return kind == SectionKind::kInOffsets || kind == SectionKind::kInNeighbours || view_.has(kind);
  }
  std::uint64_t section_bytes(SectionKind kind) const override {
    if (kind == SectionKind::kOriginalIds) return view_.section_bytes(kind);
    if (!has(kind)) return 0;
    const bool offsets = kind == SectionKind::kOutOffsets || kind == SectionKind::kInOffsets;
    return offsets ? (std::uint64_t{vertices()} + 1) * sizeof(EdgeOffset)
                   : arcs() * sizeof(VertexId);
  }
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads) const override {
    SLIM_TRY(view_.Open());
    return view_.file_->Read(kind, first_byte, into, threads);
  }
  Result<OriginalIds> ReadOriginalIds() const override { return view_.ReadOriginalIds(); }

 private:
  const StandingGraph& view_;
};

Result<std::unique_ptr<StandingGraph>> StandingGraph::Open(
    const std::string& facts, std::vector<std::unique_ptr<SharedMemory>> memories) {
  std::unique_ptr<StandingGraph> graph(new StandingGraph);
  SLIM_TRY(graph->ReadFacts(facts));
  const std::size_t lists = (graph->weighted() ? 3 : 2) * DirectionsOf(*graph).size();
  const bool summarized = graph->summarized();
  if (!memories.empty() &&
      memories.size() != lists + (graph->weighted() ? 1 : 0) + (summarized ? 1 : 0)) {
    return EnvironmentError("the pool's memory of {} is not what its facts say", graph->path());
  }
  graph->memories_ = std::move(memories);
  if (graph->view_ == kBothView) graph->with_directions_ = std::make_unique<WithDirections>(*graph);
  return graph;
}

Status StandingGraph::ReadFacts(const std::string& facts) {
  std::istringstream in(facts);
  int version = 0;
  std::string line;
  in >> version;
  std::getline(in, line);
  std::getline(in, view_);
  std::getline(in, file_path_);
  std::getline(in, path_);
  std::uint32_t weight_type = 0;
  NodeId parts = 0;
  in >> header_.version >> header_.flags >> weight_type >> header_.vertices >> header_.edges >>
      header_.arcs >> header_.first_original_id >> header_.checksums_checksum >> step_;
  header_.weight_type = static_cast<WeightType>(weight_type);
  for (const SectionKind kind : kTold) {
    in >> header_.sections[static_cast<std::size_t>(kind)].bytes;
  }
  in >> parts;
  if (!in || version != kFactsVersion || parts == 0 || parts > kMaxNodes) {
    return EnvironmentError("the pool describes its graph as another version of slimgraph does");
  }
  for (NodeId i = 0; i < parts; ++i) {
    Part& part = parts_.emplace_back();
    in >> part.vertices.first >> part.vertices.count >> part.arcs;
  }
  return in ? Status() : EnvironmentError("the pool's description of its graph is cut off");
}

NeighbourSummary StandingGraph::summary() const {
  std::vector<VertexPart> parts;
  for (const Part& part : parts_) parts.push_back(part.vertices);
  return {parts, step_};
}

bool StandingGraph::summarized() const { return IsSummarized(*this, parts()); }

std::span<const NeighbourSummary::Word> StandingGraph::summary_words() const {
  if (memories_.empty() || !summarized()) return {};
  const SharedMemory& words = *memories_.back();
  return {reinterpret_cast<const NeighbourSummary::Word*>(words.base()),
          words.bytes() / sizeof(NeighbourSummary::Word)};
}

const SharedMemory* StandingGraph::memory(Direction direction, ListMemory which) const {
  if (memories_.empty() || (which == ListMemory::kWeights && !weighted())) return nullptr;
  return memories_[MemoryNumber(direction, which)].get();
}

std::size_t StandingGraph::MemoryNumber(Direction direction, ListMemory which) const {
  const std::size_t each = weighted() ? 3 : 2;
  const std::size_t first = direction == Direction::kIn && directed() ? each : 0;
  return first + static_cast<std::size_t>(which);
}

ServedLists StandingGraph::own_lists(Direction direction) const {
  ServedLists lists;
  const SharedMemory* const offsets = memory(direction, ListMemory::kOffsets);
  if (offsets == nullptr) return lists;
  lists.offsets = std::span(reinterpret_cast<OffsetGroup*>(offsets->base()),
                            offsets->bytes() / sizeof(OffsetGroup));
  const SharedMemory& coded = *memory(direction, ListMemory::kLists);
  lists.lists = MutableBytes(coded.base(), coded.bytes());
  if (const auto* const weights = memory(direction, ListMemory::kWeights)) {
    lists.weights = MutableBytes(weights->base(), weights->bytes());
  }
  return lists;
}

WeightRange StandingGraph::weight_range() const {
  WeightRange range;
  if (memories_.empty() || !weighted()) return range;
  const SharedMemory& memory = *memories_[3 * DirectionsOf(*this).size()];
  std::memcpy(&range, memory.base(), sizeof range);
  return range;
}

std::uint64_t StandingGraph::original_id_bytes() const {
  if (!has(SectionKind::kOriginalIds)) return 0;
  return vertices() * (sizeof(std::uint64_t) + (header_.ids_ascend() ? 0 : sizeof(VertexId)));
}

bool StandingGraph::has(SectionKind kind) const {
  return kind == SectionKind::kOutOffsets || section_bytes(kind) > 0;
}

std::uint64_t StandingGraph::section_bytes(SectionKind kind) const {
  return header_.sections[static_cast<std::size_t>(kind)].bytes;
}

Status StandingGraph::Open() const {
  const std::lock_guard lock(mutex_);
  if (file_) return {};
  SLIM_ASSIGN(SlimFile file, SlimFile::Open(file_path_, path_));
  if (file.identity() != identity()) {
    return InputError(
        "{} has changed since it was loaded into the pool: drop the graph and load it again",
        path_);
  }
  auto opened = std::make_unique<SlimFile>(std::move(file));
  SLIM_ASSIGN(viewed_, ViewOf(*opened, view_));
  file_ = std::move(opened);
  return {};
}

Status StandingGraph::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                           std::size_t threads) const {
  SLIM_TRY(Open());
  const GraphSource& source = viewed_ ? *viewed_ : static_cast<const GraphSource&>(*file_);
  return source.Read(kind, first_byte, into, threads);
}

Result<OriginalIds> StandingGraph::ReadOriginalIds() const {
  if (!has(SectionKind::kOriginalIds)) {
    return OriginalIds(header_.first_original_id, vertices());
  }
  SLIM_TRY(Open());
  return file_->ReadOriginalIds();
}

}  // namespace slimgraph
