// How a job takes up a graph that stands in a pool: the memory nodes serve the pool's memory as it
// is, and the compute nodes divide its vertices among them.
#include <algorithm>
#include <cmath>

#include "dgemini/workload.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/graph/shared_graph.h"

namespace slimgraph::dgemini {
namespace {

// A cut between compute nodes may be this far from the best one, as a part of a share, if it is
// then between segments of the graph's summary.
constexpr double kCutTolerance = 0.02;

// The lists of one part, in groups of eight, as a sequence of costs.
class PartCosts {
 public:
  PartCosts(const StandingGraph& graph, NodeId number, double alpha)
      : groups_(graph.own_lists(Direction::kOut).offsets),
        number_(number),
        part_(graph.part(number)),
        step_(graph.step()),
        alpha_(alpha),
        all_(CostOf(graph, number, alpha)) {}

  // The cost of all lists of the part.
  static double CostOf(const StandingGraph& graph, NodeId number, double alpha) {
    return static_cast<double>(graph.arcs_of(number)) + alpha * graph.part(number).count;
  }

  // The first multiple of the graph's step at which the cost of the lists before it reaches
  // `target`; or a segment's begin, or the part's end, if that differs by no more than `tolerance`.
  VertexId CutAt(double target, double tolerance, const NeighbourSummary& summary) const {
    const std::size_t first = number_ * summary.per_part();
    for (std::size_t segment = first; segment < first + summary.per_part(); ++segment) {
      const VertexId begin = summary.begin(segment);
      if (begin == summary.end(segment)) continue;
      if (std::abs(CostBefore(begin - part_.first) - target) <= tolerance) return begin;
    }
    if (all_ - target <= tolerance) return part_.first + part_.count;
    return CutAt(target);
  }

 private:
  VertexId CutAt(double target) const {
    VertexId low = 0;
    VertexId high = (part_.count + step_ - 1) / step_;
    while (low < high) {
      const VertexId middle = low + (high - low) / 2;
      if (CostBefore(middle * step_) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return part_.first + std::min(low * step_, part_.count);
  }

  double CostBefore(VertexId local) const {
    return static_cast<double>(groups_[local / OffsetGroup::kLists].first_arc) + alpha_ * local;
  }

  std::span<const OffsetGroup> groups_;
  std::size_t number_;
  VertexPart part_;
  VertexId step_;
  double alpha_;
  double all_;
};

struct ListPosition {
  EdgeOffset arc;
  std::uint64_t byte;
};

// Where list number `list` of a part begins, or where the last one ends.
ListPosition PositionOf(const ServedLists& lists, VertexId list, const ListCode& code) {
  const std::size_t number =
      std::min<std::size_t>(list / OffsetGroup::kLists, lists.offsets.size() - 1);
  const OffsetGroup& group = lists.offsets[number];
  ListPosition at{.arc = group.first_arc, .byte = group.first_byte};
  for (std::size_t i = 0; i < list - number * OffsetGroup::kLists; ++i) {
    at.arc += group.lengths[i];
    at.byte += code.Bytes(group.lengths[i]);
  }
  return at;
}

// The size of the lists of `vertices`, a piece of `part`, whose lists are `lists`.
SlotSize MeasureStanding(const ServedLists& lists, const VertexPart& part,
                         const VertexPart& vertices, const ListCode& code) {
  const VertexId first = vertices.first - part.first;
  const VertexId last = first + vertices.count;
  const ListPosition begin = PositionOf(lists, first, code);
  const ListPosition end = PositionOf(lists, last, code);
  SlotSize size{.arcs = end.arc - begin.arc,
                .coded_bytes = end.byte - begin.byte,
                .longest = 0,
                .begin = {first, begin.arc, begin.byte}};
  for (VertexId i = first; i < last; ++i) {
    const OffsetGroup& group = lists.offsets[i / OffsetGroup::kLists];
    size.longest = std::max<EdgeOffset>(size.longest, group.lengths[i % OffsetGroup::kLists]);
  }
  return size;
}

// The segments of whose vertices a reader has all lists, and those of which it has some.
struct Has {
  NeighbourSummary::Word all = 0;
  NeighbourSummary::Word some = 0;
};

// A bit for each of up to 64 words that has bits of `mask`.
std::uint64_t BitsOf(std::span<const NeighbourSummary::Word> words, NeighbourSummary::Word mask) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    bits |= static_cast<std::uint64_t>((words[i] & mask) != 0) << i;
  }
  return bits;
}

// The bits of `vertices` among the 64 vertices from `first` on.
std::uint64_t BitsOf(const VertexPart& vertices, std::size_t first) {
  const std::size_t begin = std::clamp<std::size_t>(vertices.first, first, first + 64);
  const std::size_t end =
      std::clamp<std::size_t>(std::size_t{vertices.first} + vertices.count, begin, first + 64);
  const auto below = [first](std::size_t v) {
    return v - first == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (v - first)) - 1;
  };
  return below(end) & ~below(begin);
}

}  // namespace

Result<WorkloadSizes> Workload::DivideStanding(Cluster& cluster, const StandingGraph& graph,
                                               const WorkloadNeeds& needs) {
  const Topology& topology = cluster.topology();
  const NodeId compute = topology.compute();
  SLIM_CHECK(topology.nodes() == compute + graph.parts());
  const double alpha = ChunkPartition::DefaultAlpha(compute);
  const auto cost_of = [&](NodeId part) { return PartCosts::CostOf(graph, part, alpha); };
  std::vector<VertexId> starts(compute, 0);  // compute nodes have no part
  double total = 0;
  for (NodeId part = 0; part < graph.parts(); ++part) {
    starts.push_back(graph.part(part).first);
    total += cost_of(part);
  }
  starts.push_back(vertices_);
  partition_.emplace(std::move(starts));
  // The cut between two compute nodes is found by the node in whose part it is.
  const NodeId own_part = cluster.computes() ? graph.parts() : self_ - compute;
  std::vector<VertexId> mine;
  const NeighbourSummary summary = graph.summary();
  const double tolerance = graph.summarized() ? kCutTolerance * total / compute : 0;
  double before = 0;
  NodeId next = 1;  // the compute node whose first vertex is looked for
  for (NodeId part = 0; part < graph.parts(); before += cost_of(part), ++part) {
    const double end = before + cost_of(part);
    for (; next < compute; ++next) {
      const double target = total * next / compute;
      if (target >= end && part + 1 < graph.parts()) break;
      if (part != own_part) continue;
      const bool whole = needs.cache.delegation == Delegation::kNode;
      const bool nearer = target - before < end - target;
      const VertexPart& vertices = graph.part(part);
      mine.push_back(
          whole ? (nearer ? vertices.first : vertices.first + vertices.count)
                : PartCosts(graph, part, alpha).CutAt(target - before, tolerance, summary));
    }
  }
  SLIM_ASSIGN(const auto cuts_of, GatherByRank<VertexId>(cluster.all(), mine));
  std::vector<VertexId> cuts = {0};
  for (const auto& some : cuts_of) cuts.insert(cuts.end(), some.begin(), some.end());
  cuts.push_back(vertices_);
  SLIM_CHECK(cuts.size() == compute + std::size_t{1});
  division_ = WorkDivision::OfStandingGraph(topology, *partition_, cuts);
  std::vector<SlotSize> sizes;
  const ListCode code(vertices_);
  const std::vector<Direction> directions = LoadedDirections(needs);
  for (const Direction direction : directions) {
    const ServedLists lists = graph.own_lists(direction);
    for (std::size_t i = division_.begin_of(self_); i < division_.end_of(self_); ++i) {
      sizes.push_back(
          MeasureStanding(lists, partition_->part(self_), division_.slots()[i].part, code));
    }
  }
  SLIM_ASSIGN(WorkloadSizes all, GatherSizes(cluster, division_, directions, sizes));
  all.standing = true;
  all.summarized = graph.summarized();
  all.summary_suffices = all.summarized && std::ranges::all_of(cuts, [&](VertexId cut) {
                           return cut == vertices_ || summary.BeginsAt(cut);
                         });
  return all;
}

Status Workload::ServeStanding(Cluster& cluster, const StandingGraph& graph,
                               const WorkloadNeeds& needs) {
  const VertexPart part = partition_->part(self_);
  const std::size_t threads = LoadingThreads(cluster);
  const ListCode code(vertices_);
  standing_weights_ = graph.weight_range();
  for (const Direction direction : LoadedDirections(needs)) {
    auto& served = stored_[static_cast<int>(direction)].served;
    ServedLists& lists = served.emplace_back(graph.own_lists(direction));
    const auto share = [&](ListMemory which, RegionId& id) -> Status {
      SLIM_ASSIGN(const SharedRegion region,
                  cluster.fabric().ShareStanding(graph.memory(direction, which),
                                                 graph.MemoryNumber(direction, which)));
      id = region.id;
      return {};
    };
    SLIM_TRY(share(ListMemory::kOffsets, lists.regions.offsets));
    SLIM_TRY(share(ListMemory::kLists, lists.regions.lists));
    if (needs.weights) SLIM_TRY(share(ListMemory::kWeights, lists.regions.weights));
    if (cluster.computes()) continue;
    if (server_) server_->Add(lists, part.count, code);
    const ListObserver mark = MakeMarkingObserver(direction, threads);
    if (mark && !marks_[static_cast<int>(direction)].at_homes) {
      SLIM_TRY(VisitLists(lists, part.first, code, threads, mark));
    }
    if (direction == Direction::kOut) SLIM_TRY(MarkAtHomes(graph, threads));
  }
  return {};
}

Status Workload::MarkAtHomes(const StandingGraph& graph, std::size_t threads) const {
  const Marks& marks = marks_[static_cast<int>(in_)];
  if (!marks.wanted || !marks.at_homes) return {};
  std::function<bool(VertexId)> is_open;
  std::vector<std::uint64_t> open;
  if (graph.summarized()) {
    open = MarkBySummary(graph, threads);
    if (open.empty()) return {};
    is_open = [&open, first = WordsOf(self_).first * 64](VertexId v) {
      return (open[(v - first) / 64] >> (v - first) % 64 & 1) != 0;
    };
  }
  return VisitLists(graph.own_lists(Direction::kOut), partition_->part(self_).first,
                    ListCode(vertices_), threads, MakeMarkingObserver(in_, threads), is_open);
}

std::vector<std::uint64_t> Workload::MarkBySummary(const StandingGraph& graph,
                                                   std::size_t threads) const {
  std::vector<Has> readers(readers_);
  const NeighbourSummary summary = graph.summary();
  for (const WorkSlot& slot : division_.slots()) {
    for (std::size_t i = 0; i < summary.per_part(); ++i) {
      const std::size_t segment = (slot.home - compute_) * summary.per_part() + i;
      const VertexId begin = std::max(summary.begin(segment), slot.part.first);
      const VertexId end = std::min(summary.end(segment), slot.part.first + slot.part.count);
      if (begin >= end) continue;
      const NeighbourSummary::Word bit = NeighbourSummary::Word{1} << segment;
      const bool whole = begin == summary.begin(segment) && end == summary.end(segment);
      (whole ? readers[slot.worker].all : readers[slot.worker].some) |= bit;
      if (readers_ > compute_) readers[slot.home].all |= bit;
    }
  }
  const VertexPart part = partition_->part(self_);
  const Words own = WordsOf(self_);
  const auto own_slots =
      std::span(division_.slots()).subspan(division_.begin_of(self_), division_.count_of(self_));
  const auto marks = marks_[static_cast<int>(in_)].words;
  const auto mark_word = [&](std::size_t number) {
    const std::size_t base = (own.first + number) * 64;
    const std::size_t first = std::max<std::size_t>(base, part.first);
    const std::size_t end = std::min<std::size_t>(base + 64, std::size_t{part.first} + part.count);
    const auto words = graph.summary_words().subspan(first - part.first, end - first);
    const auto bits_of = [&](NeighbourSummary::Word mask) {
      return mask == 0 ? 0 : BitsOf(words, mask) << (first - base);
    };
    // A vertex with neighbours counts as one of its worker's, whatever they are (ReferencingNodes).
    const std::uint64_t linked = bits_of(~NeighbourSummary::Word{0});
    std::uint64_t open = 0;
    for (Reader reader = 0; reader < readers_; ++reader) {
      std::uint64_t has = bits_of(readers[reader].all);
      for (const WorkSlot& slot : own_slots) {
        if (slot.worker == reader) has |= linked & BitsOf(slot.part, base);
      }
      marks[reader * own.count + number] |= has;
      open |= bits_of(readers[reader].some) & ~has;
    }
    return open;
  };
  std::vector<std::uint64_t> open(own.count);
  // No piece fails.
  static_cast<void>(ParallelFor(threads, threads, [&](std::size_t piece) -> Status {
    for (std::size_t i = own.count * piece / threads; i < own.count * (piece + 1) / threads; ++i) {
      open[i] = mark_word(i);
    }
    return {};
  }));
  if (std::ranges::all_of(open, [](std::uint64_t word) { return word == 0; })) open.clear();
  return open;
}

}  // namespace slimgraph::dgemini
