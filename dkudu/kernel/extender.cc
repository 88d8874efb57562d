#include "dkudu/kernel/extender.h"

#include <algorithm>
#include <bit>

namespace slimgraph {

void Extender::Chunk::Clear() {
  records.clear();
  arena.Clear();
  batch.Clear();
  bytes = 0;
}

Extender::Extender(const MiningGraph& graph, const Plan& plan, Endpoint& endpoint, ListCache* cache,
                   Reuse reuse, std::uint64_t chunk_bytes, EmbeddingSink sink)
    : graph_(graph),
      plan_(plan),
      sink_(std::move(sink)),
      level_bytes_(chunk_bytes / plan.listed()),
      marks_(graph.vertices()) {
  for (unsigned level = 0; level < plan.listed(); ++level) {
    chunks_.emplace_back(ListBatch(graph, endpoint, cache, reuse));
  }
}

Status Extender::Run(const RootTask& task) {
  task_ = task;
  for (VertexId done = 0; done < task.count && !stopped_;) {
    Chunk& chunk = chunks_[0];
    chunk.Clear();
    FindRoomForSets(0);
    do {
      AddRecord(0, task.home + (task.first + done) * graph_.nodes(), kNone);
      ++done;
    } while (done < task.count && chunk.bytes < level_bytes_);
    SLIM_TRY(Extend(0));
  }
  return {};
}

// Works off the level's chunk.
Status Extender::Extend(unsigned level) {
  path_[level] = kNone;
  SLIM_TRY(FetchLists(level));
  MakeSets(level);
  if (level + 1 == plan_.listed()) {
    if (sink_) return ListAll();
    CountAll();
    return {};
  }
  chunks_[level + 1].parent = 0;
  chunks_[level + 1].position = 0;
  while (!stopped_ && Fill(level + 1)) SLIM_TRY(Extend(level + 1));
  return {};
}

// Adds records until the chunk is full or its parents are worked off; false if there are none.
bool Extender::Fill(unsigned level) {
  Chunk& chunk = chunks_[level];
  chunk.Clear();
  const PlanLevel& plan = plan_.levels[level];
  const auto parents = static_cast<std::uint32_t>(chunks_[level - 1].records.size());
  for (; chunk.parent < parents; ++chunk.parent, chunk.position = 0) {
    SetPath(level - 1, chunk.parent);
    List candidates = AboveAll(Resolve(plan.candidates), plan.above);
    if (level == 1 && task_.slices > 1) {
      const std::size_t begin = candidates.size() * task_.slice / task_.slices;
      const std::size_t end = candidates.size() * (task_.slice + 1) / task_.slices;
      candidates = candidates.subspan(begin, end - begin);
    }
    FindRoomForSets(level);
    for (; chunk.position < candidates.size(); ++chunk.position) {
      if (chunk.bytes >= level_bytes_ && !chunk.records.empty()) return true;
      const VertexId v = candidates[chunk.position];
      if (!IsTaken(v, plan.may_be_inside)) AddRecord(level, v, chunk.parent);
    }
  }
  return !chunk.records.empty();
}

void Extender::AddRecord(unsigned level, VertexId v, std::uint32_t parent) {
  Chunk& chunk = chunks_[level];
  const PlanLevel& plan = plan_.levels[level];
  Record record{v, parent, kNone};
  chunk.bytes += sizeof(Record) + plan.sets.size() * sizeof(List);
  if (plan.needs_list) {
    chunk.bytes += sizeof(List);
    if (!graph_.is_own(v)) {
      const std::uint64_t before = chunk.batch.bytes();
      record.ticket = chunk.batch.Add(v);
      chunk.bytes += chunk.batch.bytes() - before;
    }
  }
  if (!base_sizes_.empty()) chunk.bytes += RoomForSets(level, graph_.degree(v));
  chunk.records.push_back(record);
}

// Before records with the parent that the path stands at are added: how large the sets are from
// which theirs will be made.
void Extender::FindRoomForSets(unsigned level) {
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

// In bytes: a set is no longer than what it is made from.
std::uint64_t Extender::RoomForSets(unsigned level, std::uint64_t degree) const {
  std::uint64_t elements = 0;
  const auto& sets = plan_.levels[level].sets;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].operation == SetOperation::kList) continue;
    const bool shrinks = sets[i].operation == SetOperation::kIntersect;
    elements +=
        shrinks || sets[i].base.level == level ? std::min(base_sizes_[i], degree) : base_sizes_[i];
  }
  return elements * sizeof(VertexId);
}

Status Extender::FetchLists(unsigned level) {
  if (!plan_.levels[level].needs_list) return {};
  Chunk& chunk = chunks_[level];
  SLIM_TRY(chunk.batch.Fetch());
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
  Chunk& chunk = chunks_[level];
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
      VertexId* const into = chunk.arena.Reserve(
          kSetSlack + (intersect ? std::min(base.size(), operand.size()) : base.size()));
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
    const Record& one = chunks_[level].records[record];
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

}  // namespace slimgraph
