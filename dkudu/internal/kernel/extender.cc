#include "dkudu/internal/kernel/extender.h"

#include <algorithm>
#include <bit>

namespace slimgraph::dkudu {
namespace {

// A chunk takes no more records than this while engines are idle, because work that is in a chunk
// cannot be offered any more.
constexpr std::size_t kShareableRecords = 1024;

}  // namespace

Extender::Chunk::Chunk(const ChunkRoom& its_room, std::size_t sets_of_record,
                       FetchedLists list_batch)
    : arena(its_room.set_elements), batch(std::move(list_batch)), room(its_room) {
  // A page that is reserved but never written takes no memory.
  records.reserve(room.records);
  lists.reserve(room.records);
  sets.reserve(room.records * sets_of_record);
}

void Extender::Chunk::Clear() {
  records.clear();
  arena.Clear();
  batch.Clear();
  set_elements = 0;
}

Extender::Extender(const MiningGraph& graph, const Plan& plan, ListFetch& fetch, ListCache* cache,
                   Reuse reuse, std::uint64_t chunk_bytes, EmbeddingSink sink)
    : graph_(graph),
      plan_(plan),
      fetch_(fetch),
      sink_(std::move(sink)),
      levels_(plan.listed()),
      marks_(graph.vertices()),
      candidates_(std::size_t{1} << plan.suffix.classes.size()) {
  const std::uint64_t bytes_of_chunk = BytesOfChunk(chunk_bytes, graph, plan);
  for (unsigned level = 0; level < plan.listed(); ++level) {
    const bool waits = FetchesLists(graph, plan.levels[level]);
    const ChunkRoom room = ChunkRoom::Within(bytes_of_chunk, graph, plan.levels[level]);
    std::vector<Chunk>& of_level = levels_[level].chunks;
    for (int i = 0; i < (waits ? 2 : 1); ++i) {
      of_level.emplace_back(room, plan.levels[level].sets.size(),
                            FetchedLists(graph, fetch, cache, reuse, room.lists));
    }
    if (!waits) continue;
    of_level[0].batch.SetEarlier(&of_level[1].batch);
    of_level[1].batch.SetEarlier(&of_level[0].batch);
  }
  const std::size_t longest = graph.sums().most + kSetSlack;
  scratch_.reserve(longest);
  for (Candidates& set : candidates_) set.scratch.reserve(longest);
}

Status Extender::Run(NextTask next_task, WorkOffers& offers, Endpoint& endpoint) {
  next_task_ = std::move(next_task);
  offers_ = &offers;
  endpoint_ = &endpoint;
  Status done = RunAll();
  if (done) return {};
  fetch_.GiveUp();
  offers.GiveUp();
  return done;
}

Status Extender::RunAll() {
  SLIM_TRY(Extend(0));
  std::vector<std::uint64_t> words;
  while (true) {
    SLIM_ASSIGN(const auto level, offers_->Take(*endpoint_, words));
    if (!level) return {};
    if (!stopped_) SLIM_TRY(Resume(static_cast<unsigned>(*level), words));
  }
}

// Extends every record of the parents' chunk.
Status Extender::Extend(unsigned number) {
  Level& level = levels_[number];
  level.parent = 0;
  level.position = 0;
  level.parents_end =
      number == 0 ? 0 : static_cast<std::uint32_t>(levels_[number - 1].current().records.size());
  level.last_end = kAll;
  return ProcessLevel(number);
}

// Processes the level from its current position to its end.
Status Extender::ProcessLevel(unsigned number) {
  Level& level = levels_[number];
  level.at = 0;
  SLIM_ASSIGN(bool more, FillAndFetch(number, level.current()));
  while (more && !stopped_) {
    if (offers_->cancelled()) return Job::CancelledStatus();
    if (offers_->wants_offers()) OfferPart(number);
    if (level.chunks.size() == 1) {
      SLIM_TRY(ProcessChunk(number));
      SLIM_ASSIGN(more, FillAndFetch(number, level.current()));
      continue;
    }
    SLIM_ASSIGN(more, FillAndFetch(number, level.chunks[1 - level.at]));
    SLIM_TRY(ProcessChunk(number));
    level.at = 1 - level.at;
  }
  // When the sink ends the search, the lists of the next chunk are still being fetched.
  if (more && level.chunks.size() > 1) return AwaitLists(number);
  return {};
}

// Fills the chunk and starts to fetch its lists; returns false if nothing is left to fill it with.
Result<bool> Extender::FillAndFetch(unsigned level, Chunk& chunk) {
  chunk.Clear();
  if (level == 0) {
    SLIM_ASSIGN(const bool any, FillRoots(chunk));
    if (!any) return false;
  } else if (!Fill(level, chunk)) {
    return false;
  }
  if (plan_.levels[level].needs_list) chunk.batch.Start();
  return true;
}

// Waits for the chunk's lists and makes the sets that extend its embeddings.
Status Extender::Prepare(unsigned level) {
  path_[level] = kNone;
  SLIM_TRY(AwaitLists(level));
  MakeSets(level);
  return {};
}

Status Extender::ProcessChunk(unsigned level) {
  SLIM_TRY(Prepare(level));
  if (level + 1 < plan_.listed()) return Extend(level + 1);
  if (sink_) return ListAll();
  CountAll();
  return {};
}

// Adds roots of the current task; claims the next task when it is used up.
Result<bool> Extender::FillRoots(Chunk& chunk) {
  std::size_t& done = levels_[0].position;
  if (!task_ || done == task_->count) {
    SLIM_ASSIGN(task_, next_task_());
    if (!task_) return false;
    done = 0;
  }
  chunk.task = *task_;
  RecordBaseSizes(0);
  for (; done < task_->count; ++done) {
    const auto index = static_cast<VertexId>(task_->first + done);
    if (!AddRecord(0, chunk, graph_.vertex(task_->home, index))) break;
  }
  return true;
}

// Adds records until the chunk is full or no parent has any more; returns false if none was added.
bool Extender::Fill(unsigned number, Chunk& chunk) {
  const PlanLevel& plan = plan_.levels[number];
  Level& level = levels_[number];
  for (; level.parent < level.parents_end; ++level.parent, level.position = 0) {
    const List candidates = CandidatesOf(number, level.parent);
    const PositionRange range = RangeOf(number, level.parent, candidates.size());
    RecordBaseSizes(number);
    level.position = std::max(level.position, range.begin);
    for (; level.position < range.end; ++level.position) {
      const VertexId v = candidates[level.position];
      if (IsTaken(v, plan.may_be_inside)) continue;
      if (!AddRecord(number, chunk, v)) return true;
    }
  }
  return !chunk.records.empty();
}

// The candidates that extend a record of the level below. Leaves the path at this record.
List Extender::CandidatesOf(unsigned number, std::uint32_t parent) {
  const PlanLevel& plan = plan_.levels[number];
  SetPath(number - 1, parent);
  return AboveAll(Resolve(plan.candidates), plan.above);
}

// The range of the candidates that this engine processes.
Extender::PositionRange Extender::RangeOf(unsigned number, std::uint32_t parent,
                                          std::size_t candidates) const {
  const Level& level = levels_[number];
  PositionRange range{0, candidates};
  const RootTask& task = levels_[0].current().task;
  if (number == 1) {
    range = {candidates * task.slice / task.slices, candidates * (task.slice + 1) / task.slices};
  }
  if (parent + 1 == level.parents_end) range.end = std::min(range.end, level.last_end);
  return range;
}

// Returns false if the chunk has no room for the record. The first record always fits.
bool Extender::AddRecord(unsigned number, Chunk& chunk, VertexId v) {
  const PlanLevel& plan = plan_.levels[number];
  const bool fetches = plan.needs_list && !graph_.is_own(v);
  if (chunk.records.size() == chunk.room.records) return false;
  if (chunk.records.size() >= kShareableRecords && offers_->has_idle_engine()) return false;
  if (fetches && !chunk.batch.HasRoomFor(v)) return false;
  if (!base_sizes_.empty()) {
    const std::uint64_t elements = SetElements(number, graph_.degree(v));
    if (chunk.set_elements + elements > chunk.room.set_elements) return false;
    chunk.set_elements += elements;
  }
  chunk.records.push_back(
      {v, levels_[number].parent, fetches ? chunk.batch.Add(v) : FetchedLists::Ticket{kNone}});
  return true;
}

// Must be called before records are added that extend the current path. Stores the sizes of the
// sets from which the records' sets will be made.
void Extender::RecordBaseSizes(unsigned level) {
  base_sizes_.clear();
  const auto& sets = plan_.levels[level].sets;
  const bool any = std::any_of(sets.begin(), sets.end(), [](const SetStep& step) {
    return step.operation != SetOperation::kList;
  });
  if (!any) return;
  for (const SetStep& step : sets) {
    const bool elsewhere = step.operation != SetOperation::kList && step.base.level < level;
    base_sizes_.push_back(elsewhere ? Resolve(step.base).size() : ~std::uint64_t{0});
  }
}

// An upper bound: a set is no longer than the set it is made from.
std::uint64_t Extender::SetElements(unsigned level, std::uint64_t degree) const {
  std::uint64_t elements = 0;
  const auto& sets = plan_.levels[level].sets;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].operation == SetOperation::kList) continue;
    const bool shrinks = sets[i].operation == SetOperation::kIntersect;
    elements +=
        shrinks || sets[i].base.level == level ? std::min(base_sizes_[i], degree) : base_sizes_[i];
  }
  return elements;
}

Status Extender::AwaitLists(unsigned level) {
  if (!plan_.levels[level].needs_list) return {};
  Chunk& chunk = levels_[level].current();
  SLIM_TRY(chunk.batch.Finish());
  chunk.lists.resize(chunk.records.size());
  for (std::size_t i = 0; i < chunk.records.size(); ++i) {
    const Record& record = chunk.records[i];
    chunk.lists[i] =
        record.ticket == kNone ? graph_.own(record.vertex) : chunk.batch.Get(record.ticket);
  }
  return {};
}

void Extender::MakeSets(unsigned level) {
  const auto& steps = plan_.levels[level].sets;
  if (steps.empty()) return;
  Chunk& chunk = levels_[level].current();
  chunk.sets.resize(chunk.records.size() * steps.size());
  for (std::uint32_t record = 0; record < chunk.records.size(); ++record) {
    SetPath(level, record);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const SetStep& step = steps[i];
      List& set = chunk.sets[record * steps.size() + i];
      const List operand = AboveAll(Operand(step), step.above);
      if (step.operation == SetOperation::kList) {
        set = operand;
        continue;
      }
      const List base = AboveAll(Resolve(step.base), step.above);
      const bool intersect = step.operation == SetOperation::kIntersect;
      VertexId* const into =
          chunk.arena.Reserve(intersect ? std::min(base.size(), operand.size()) : base.size());
      const std::size_t size =
          intersect ? Intersect(base, operand, into) : Subtract(base, operand, into);
      chunk.arena.Keep(size);
      set = List(into, size);
    }
  }
}

void Extender::SetPath(unsigned level, std::uint32_t record) {
  while (path_[level] != record) {
    path_[level] = record;
    const Record& one = levels_[level].current().records[record];
    vertex_[level] = one.vertex;
    if (level == 0) return;
    record = one.parent;
    --level;
  }
}

List Extender::AboveAll(List list, PatternMask levels) const {
  if (levels == 0) return list;
  VertexId low = 0;
  for (; levels != 0; levels &= static_cast<PatternMask>(levels - 1)) {
    low = std::max(low, vertex_[static_cast<unsigned>(std::countr_zero(levels))]);
  }
  return Above(list, low);
}

bool Extender::IsTaken(VertexId v, PatternMask levels) const {
  for (; levels != 0; levels &= static_cast<PatternMask>(levels - 1)) {
    if (vertex_[static_cast<unsigned>(std::countr_zero(levels))] == v) return true;
  }
  return false;
}

}  // namespace slimgraph::dkudu
