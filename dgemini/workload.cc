#include "dgemini/workload.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "dgemini/internal/reduction_server.h"
#include "slimgraph/graph/share_array.h"

namespace slimgraph::dgemini {
namespace {

using ReaderSet = BasicNodeSet<2 * kMaxNodes / 64>;

// Sets a bit. With one thread it does not test the bit first, because that branch is hard to
// predict.
void Mark(std::size_t bit, std::span<std::uint64_t> words, std::size_t threads) {
  const std::uint64_t mark = std::uint64_t{1} << (bit % 64);
  if (threads == 1) {
    words[bit / 64] |= mark;
    return;
  }
  const std::atomic_ref<std::uint64_t> word(words[bit / 64]);
  if ((word.load(std::memory_order_relaxed) & mark) == 0) {
    word.fetch_or(mark, std::memory_order_relaxed);
  }
}

}  // namespace

Result<std::unique_ptr<Workload>> Workload::Load(Cluster& cluster, const GraphSource& file,
                                                 const WorkloadNeeds& needs,
                                                 const std::function<void(MemoryPlan&)>& announce) {
  std::unique_ptr<Workload> work(new Workload);
  work->vertices_ = file.vertices();
  work->arcs_ = file.arcs();
  work->self_ = cluster.self();
  work->nodes_ = cluster.topology().nodes();
  work->compute_ = cluster.topology().compute();
  work->threads_ = cluster.threads();
  work->cache_ = needs.cache;
  work->readers_ = WorkloadReaders(cluster.topology(), needs.cache);
  work->directed_ = file.directed();
  work->in_ = file.directed() ? Direction::kIn : Direction::kOut;
  work->weight_bytes_ = needs.weights ? WeightBytes(file.weight_type()) : 0;
  if (needs.pull_in && !file.has(work->in_)) {
    return InputError(
        "{} has no incoming lists: use --mode push, or convert it without --no-reverse",
        file.path());
  }
  if (needs.cache.level == CacheLevel::kNaive && needs.cache.side == MemorySide::kServe) {
    return cluster.Refuse(
        UsageError("--cache naive reads one list after the other, so memory nodes cannot serve: "
                   "give --memory-side strict")
            .value());
  }
  SLIM_TRY(AgreeOnFile(cluster, file, SocketCount()));
  const auto* const standing = dynamic_cast<const StandingGraph*>(&file);
  work->stands_ = standing != nullptr;
  SLIM_ASSIGN(const WorkloadSizes sizes, standing != nullptr
                                             ? work->DivideStanding(cluster, *standing, needs)
                                             : work->Divide(cluster, file, needs));
  const WorkDivision& division = work->division_;
  const Status room = CheckEdgeBudget(cluster.topology(), file, division, needs, sizes);
  if (!room) return cluster.Refuse(room.error());
  MemoryPlan plan = PlanWorkload(cluster, file, division, needs, sizes);
  announce(plan);
  SLIM_TRY(AgreeThatFits(cluster, plan));
  work->FindSlots();
  SLIM_TRY(work->ShareMarks(cluster, needs, standing != nullptr && standing->summarized()));
  work->MakeServer(cluster, needs);
  SLIM_TRY(standing != nullptr ? work->ServeStanding(cluster, *standing, needs)
                               : work->LoadLists(cluster, file, needs, sizes));
  SLIM_TRY(cluster.all().Barrier());
  if (cluster.computes()) {
    SLIM_TRY(work->Delegate(cluster, needs, sizes));
    work->CutBlocks();
  }
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    const Marks& marks = work->marks_[static_cast<int>(direction)];
    if (!marks.wanted) continue;
    const bool referenced = direction == Direction::kOut && needs.pull_out;
    SLIM_TRY(marks.at_homes ? work->FindNeedsAtHomes(cluster, direction, referenced)
                            : work->FindNeedsAtReaders(cluster, direction));
  }
  SLIM_TRY(cluster.all().Barrier());
  return work;
}

Result<WorkloadSizes> Workload::Divide(Cluster& cluster, const GraphSource& file,
                                       const WorkloadNeeds& needs) {
  const Topology& topology = cluster.topology();
  const std::uint32_t pieces = WorkDivision::Pieces(topology, needs.cache.delegation);
  SLIM_ASSIGN(partition_, CollectiveBalance(cluster, file, Direction::kOut, SocketCount() * pieces,
                                            ChunkPartition::DefaultAlpha(topology.nodes())));
  division_ = WorkDivision(*partition_, topology, SocketCount(), pieces);
  return MeasureWorkload(cluster, file, division_, LoadedDirections(needs));
}

std::vector<Direction> Workload::LoadedDirections(const WorkloadNeeds& needs) const {
  if (needs.pull_in && in_ == Direction::kIn) return {Direction::kOut, Direction::kIn};
  return {Direction::kOut};
}

// Marks are needed only for directions in which vertices pull, and only if there are other readers.
Status Workload::ShareMarks(Cluster& cluster, const WorkloadNeeds& needs, bool summarized) {
  if (readers_ < 2) return {};
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    const bool out = direction == Direction::kOut;
    if (!(needs.pull_in && direction == in_) && !(needs.pull_out && out)) continue;
    Marks& marks = marks_[static_cast<int>(direction)];
    marks.wanted = true;
    marks.at_homes = !directed_ || (summarized && !out);
    const std::size_t words = marks.at_homes ? WordsOf(self_).count * readers_
                                             : BitmapWords() * division_.marks_of(self_);
    SLIM_ASSIGN(marks.words, ShareArray<std::uint64_t>(cluster.fabric(), words, 0, marks.region));
    if (marks.at_homes || readers_ == compute_) continue;
    SLIM_ASSIGN(marks.own,
                ShareArray<std::uint64_t>(cluster.fabric(), cluster.computes() ? BitmapWords() : 0,
                                          0, marks.own_region));
  }
  return {};
}

Workload::Words Workload::WordsOf(NodeId node) const {
  const VertexPart part = partition_->part(node);
  if (part.count == 0) return {0, 0};
  const std::size_t first = part.first / 64;
  return {first, (std::size_t{part.first} + part.count - 1) / 64 + 1 - first};
}

// The readers whose lists contain v: those of its neighbours in `list`, which is v's list of the
// other direction. A long list mostly has neighbours of all nodes, so it is sampled first. v's own
// worker counts as one of them, so that the loop ends early.
template <typename Nodes>
Nodes Workload::ReferencingNodes(VertexId v, std::span<const VertexId> list,
                                 const Nodes& all) const {
  constexpr std::size_t kFew = 16;
  Nodes referencing;
  const bool reduces = readers_ > compute_;
  const auto add = [&](NodeId at_home, NodeId working) {
    referencing.Add(working);
    if (!reduces) return;
    referencing.Add(static_cast<NodeId>(at_home < compute_ ? OwnListsOf(at_home) : at_home));
  };
  add(worker(v), worker(v));
  const auto look = [&](VertexId u) { add(slots_[slot(u)].home, worker(u)); };
  if (list.size() > kFew) {
    for (std::size_t i = 0; i < kFew; ++i) look(list[i * list.size() / kFew]);
  }
  for (std::size_t i = 0; i < list.size() && referencing != all; i += kFew) {
    for (const VertexId u : list.subspan(i, std::min(kFew, list.size() - i))) look(u);
  }
  return referencing;
}

template <typename Nodes>
ListObserver Workload::MakeNodeMarkingObserver(const Marks& marks, std::size_t threads) const {
  return [this, words = marks.words, threads, own = WordsOf(self_),
          all = Nodes::First(static_cast<NodeId>(readers_))](VertexId v,
                                                             std::span<const VertexId> list) {
    const std::size_t bit = v - own.first * 64;
    ReferencingNodes(v, list, all).ForEach([&](NodeId reader) {
      Mark(bit, words.subspan(reader * own.count), threads);
    });
  };
}

ListObserver Workload::MakeMarkingObserver(Direction direction, std::size_t threads) const {
  const Marks& marks = marks_[static_cast<int>(direction)];
  if (!marks.wanted) return {};
  const auto words = marks.words;
  if (marks.at_homes) {
    return readers_ <= SmallNodeSet::kRoom ? MakeNodeMarkingObserver<SmallNodeSet>(marks, threads)
                                           : MakeNodeMarkingObserver<ReaderSet>(marks, threads);
  }
  if (division_.marks_of(self_) == 1) {
    return [words, threads](VertexId, std::span<const VertexId> list) {
      for (const VertexId v : list) Mark(v, words, threads);
    };
  }
  return [this, words, threads](VertexId source, std::span<const VertexId> list) {
    const std::size_t number = slot(source) - division_.begin_of(self_);
    const auto bitmap = words.subspan(number * BitmapWords(), BitmapWords());
    for (const VertexId v : list) Mark(v, bitmap, threads);
  };
}

void Workload::MakeServer(Cluster& cluster, const WorkloadNeeds& needs) {
  if (readers_ > compute_) {
    reductions_ = std::make_unique<Exchange>(cluster, Exchange::kReductionHandler, nodes_);
  }
  if (needs.cache.side != MemorySide::kServe) return;
  if (cluster.computes()) {
    answers_ = std::make_unique<ListAnswers>(cluster.fabric());
  } else {
    server_ = std::make_unique<ListServer>(cluster.fabric());
  }
}

Status Workload::LoadLists(Cluster& cluster, const GraphSource& file, const WorkloadNeeds& needs,
                           const WorkloadSizes& sizes) {
  const WorkSlot nothing{};
  const bool serves = !cluster.computes();
  const std::size_t mine = division_.count_of(self_);
  const std::size_t served_slots = division_.most_of_memory_nodes(cluster.topology());
  const std::size_t threads = LoadingThreads(cluster);
  for (const Direction direction : LoadedDirections(needs)) {
    auto& [own, served] = stored_[static_cast<int>(direction)];
    const ListObserver mark = MakeMarkingObserver(direction, threads);
    own.reserve(mine);
    served.reserve(served_slots);
    for (std::size_t i = 0; i < std::max(mine, served_slots); ++i) {
      const std::size_t number = division_.begin_of(self_) + i;
      const WorkSlot& slot = i < mine ? division_.slots()[number] : nothing;
      // This collective call comes first, so that memory nodes encode while compute nodes load.
      if (i < served_slots) {
        const WorkSlot& theirs = serves ? slot : nothing;
        SLIM_ASSIGN(auto coded, LoadServedLists(cluster, file, theirs.part, direction,
                                                needs.weights, theirs.socket, mark));
        served.push_back(coded);
        if (server_) server_->Add(served.back(), theirs.part.count, ListCode(vertices_));
      }
      if (serves || i >= mine) continue;
      SLIM_ASSIGN(auto lists,
                  PrivateLists::Load(file, slot.part, sizes.of(direction, number).arcs, direction,
                                     needs.weights, slot.socket, threads, mark));
      own.push_back(std::move(lists));
    }
  }
  return {};
}

bool Workload::HasSlotsOfOthers(NodeId home) const {
  for (std::size_t slot = division_.begin_of(home); slot < division_.end_of(home); ++slot) {
    if (slots_[slot].worker != self_) return true;
  }
  return false;
}

std::span<std::uint64_t> Workload::NeedsOf(Reader reader, Direction direction,
                                           const Segment& segment) {
  auto& needed = needed_[static_cast<int>(direction)];
  return std::span(needed).subspan(reader * needs_words_ + segment.needs_at,
                                   segment.words_end() - segment.first_word());
}

// A word at the end of a segment may also have bits of another segment.
void Workload::DropBitsOfOthers(Direction direction) {
  if (needed_[static_cast<int>(direction)].empty()) return;
  for (Reader reader = 0; reader < readers_; ++reader) {
    for (const Segment& segment : segments_) {
      const auto words = NeedsOf(reader, direction, segment);
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] &= segment.bits_of(segment.first_word() + i);
      }
    }
  }
}

// A delegate collects the marks of its memory nodes. Then each compute node reads which vertices of
// its share the other compute nodes have marked.
Status Workload::FindNeedsAtReaders(Cluster& cluster, Direction direction) {
  const auto& [region, marks, wanted, at_homes, own_region, own] =
      marks_[static_cast<int>(direction)];
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  if (cluster.computes()) {
    if (!own.empty()) std::ranges::copy(marks, own.begin());
    std::vector<std::uint64_t> theirs(marks.size());
    for (std::size_t number = 0; number < division_.slots().size(); ++number) {
      const WorkSlot& slot = division_.slots()[number];
      if (slot.worker != self_ || slot.home == self_) continue;
      const std::size_t at_home = number - division_.begin_of(slot.home);
      const std::size_t bitmap = division_.marks_of(slot.home) == 1 ? 0 : at_home;
      if (bitmap == 0 && at_home > 0) continue;  // it was read with the node's first slot
      StartReading(endpoint, slot.home, region, bitmap * BitmapWords(), theirs);
      SLIM_TRY(AwaitReads(endpoint));
      for (std::size_t i = 0; i < marks.size(); ++i) marks[i] |= theirs[i];
    }
  }
  SLIM_TRY(cluster.all().Barrier());
  if (!cluster.computes()) return {};
  if (direction == Direction::kOut) referenced_.assign(marks.begin(), marks.end());
  return ReadMarksOfReaders(endpoint, direction);
}

Status Workload::ReadMarksOfReaders(Endpoint& endpoint, Direction direction) {
  const auto& [region, marks, wanted, at_homes, own_region, own] =
      marks_[static_cast<int>(direction)];
  needed_[static_cast<int>(direction)].resize(readers_ * needs_words_);
  for (Reader reader = 0; reader < readers_; ++reader) {
    if (!IsOther(reader)) continue;
    for (const Segment& segment : segments_) {
      const auto needs = NeedsOf(reader, direction, segment);
      if (reader < compute_ || reader >= nodes_) {
        StartReading(endpoint, static_cast<NodeId>(reader % nodes_),
                     reader < compute_ ? region : own_region, segment.first_word(), needs);
        continue;
      }
      std::vector<std::uint64_t> theirs(needs.size());
      for (std::size_t i = 0; i < division_.marks_of(static_cast<NodeId>(reader)); ++i) {
        StartReading(endpoint, static_cast<NodeId>(reader), region,
                     i * BitmapWords() + segment.first_word(), theirs);
        SLIM_TRY(AwaitReads(endpoint));
        for (std::size_t word = 0; word < needs.size(); ++word) needs[word] |= theirs[word];
      }
    }
  }
  SLIM_TRY(AwaitReads(endpoint));
  DropBitsOfOthers(direction);
  return {};
}

// Each node knows which readers' lists contain which of its vertices. A compute node reads all of
// that from its own part and its memory nodes. If `referenced`, it also reads from all other nodes
// which of their vertices its own lists contain.
Status Workload::FindNeedsAtHomes(Cluster& cluster, Direction direction, bool referenced) {
  if (!cluster.computes()) return {};
  const RegionId region = marks_[static_cast<int>(direction)].region;
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  const Topology& topology = cluster.topology();
  needed_[static_cast<int>(direction)].resize(readers_ * needs_words_);
  for (Reader reader = 0; reader < readers_; ++reader) {
    for (const Segment& segment : segments_) {
      if (!IsOther(reader)) continue;
      const auto [first, count] = WordsOf(segment.home);
      StartReading(endpoint, segment.home, region, reader * count + segment.first_word() - first,
                   NeedsOf(reader, direction, segment));
    }
  }
  // By node, since nodes may have a word in common.
  std::vector<std::vector<std::uint64_t>> theirs(referenced ? topology.nodes() : 0);
  for (NodeId node = 0; node < theirs.size(); ++node) {
    if (!HasSlotsOfOthers(node)) continue;
    theirs[node].resize(WordsOf(node).count);
    StartReading(endpoint, node, region, self_ * theirs[node].size(), theirs[node]);
  }
  SLIM_TRY(AwaitReads(endpoint));
  DropBitsOfOthers(direction);
  if (referenced) referenced_.resize((std::size_t{vertices_} + 63) / 64);
  for (NodeId node = 0; node < theirs.size(); ++node) {
    std::uint64_t* const into = referenced_.data() + WordsOf(node).first;
    for (std::size_t i = 0; i < theirs[node].size(); ++i) into[i] |= theirs[node][i];
  }
  return {};
}

void Workload::StartReading(Endpoint& endpoint, NodeId from, RegionId region,
                            std::size_t first_word, std::span<std::uint64_t> into) {
  if (into.empty()) return;
  endpoint.Read(from, region, first_word * sizeof into[0], std::as_writable_bytes(into));
}

Status Workload::AwaitReads(Endpoint& endpoint) {
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot read the marks of other nodes: {}", OutcomeName(outcome));
}

Status Workload::ServeWhile(const std::function<Status()>& wait) {
  if (reductions_)
    SLIM_TRY(compute_ > self_ ? EndReductions(*reductions_, compute_) : ReduceLists(*this));
  return server_ ? server_->ServeWhile(wait) : wait();
}

std::vector<Workload::ServedSlot> Workload::served_slots(Direction direction) const {
  std::vector<ServedSlot> slots;
  const auto& served = stored_[static_cast<int>(direction)].served;
  const std::size_t begin = division_.begin_of(self_);
  for (std::size_t i = 0; i < division_.count_of(self_) && !served.empty(); ++i) {
    const WorkSlot& slot = division_.slots()[begin + i];
    if (stands_) {
      slots.push_back({slot.worker, slot.part, &served[0], partition_->part(self_).first});
    } else {
      slots.push_back({slot.worker, slot.part, &served[i], slot.part.first});
    }
  }
  return slots;
}

WeightRange Workload::OwnWeightRange(WeightType type) const {
  WeightRange range = standing_weights_;
  if (stands_) return range;
  const auto add = [&](Bytes weights) {
    const WeightRange more = RangeOf(type, weights);
    range = {std::min(range.least, more.least), std::max(range.most, more.most)};
  };
  const StoredLists& stored = stored_[static_cast<int>(Direction::kOut)];
  for (const PrivateLists& lists : stored.own) add(lists.spans().weights);
  for (const ServedLists& lists : stored.served) add(lists.weights);
  return range;
}

void Workload::SetAdmission(Admission admission) {
  for (const auto& lists : delegated_) {
    if (lists->cache() != nullptr) lists->cache()->SetAdmission(admission);
  }
}

std::uint64_t Workload::remote_arcs() const {
  std::uint64_t arcs = 0;
  for (const auto& lists : delegated_) arcs += lists->part().arcs;
  return arcs;
}

std::uint64_t Workload::index_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lists : delegated_) bytes += lists->index_bytes();
  return bytes;
}

}  // namespace slimgraph::dgemini
