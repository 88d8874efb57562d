// The last levels of an embedding: counted without being listed, or listed.
#include <algorithm>
#include <bit>

#include "dkudu/kernel/extender.h"

namespace slimgraph {
namespace {

// Siblings from which on marking the set that they share pays.
constexpr std::uint32_t kMarkedSiblings = 3;

// A list so much longer than the marked set is searched instead.
constexpr std::size_t kSearchRatio = 16;

}  // namespace

void Extender::CountAll() {
  const auto& records = levels_[plan_.listed() - 1].current().records;
  const auto total = static_cast<std::uint32_t>(records.size());
  const PlanLevel& last = plan_.levels[plan_.listed()];
  const bool may_mark = plan_.suffix != Suffix::kPair && last.last_step &&
                        last.last_step->operation == SetOperation::kIntersect;
  for (std::uint32_t first = 0; first < total;) {
    std::uint32_t end = first + 1;
    while (end < total && records[end].parent == records[first].parent) ++end;
    SetPath(plan_.listed() - 1, first);
    const bool marked = may_mark && end - first >= kMarkedSiblings;
    const List shared = marked ? Resolve(last.candidates) : List();
    marks_.Set(shared);
    for (; first < end; ++first) {
      SetPath(plan_.listed() - 1, first);
      count_ += plan_.suffix == Suffix::kPair
                    ? CountPair()
                    : Choose(CountLast(last, marked), plan_.suffix_levels);
    }
    marks_.Unset(shared);
  }
}

// The candidates for the last level, but for vertices that are taken.
std::size_t Extender::CountLast(const PlanLevel& level, bool marked) const {
  const List base = AboveAll(Resolve(level.candidates), level.above);
  if (!level.last_step) return base.size() - Overcount(level, base);
  const List list = AboveAll(Operand(*level.last_step), level.above);
  const bool intersect = level.last_step->operation == SetOperation::kIntersect;
  std::size_t size = 0;
  if (!intersect) {
    size = Subtract(base, list, nullptr);
  } else if (marked && list.size() < kSearchRatio * base.size()) {
    size = marks_.Count(list);
  } else {
    size = Intersect(base, list, nullptr);
  }
  for (PatternMask left = level.may_be_inside; left != 0;
       left &= static_cast<PatternMask>(left - 1)) {
    const VertexId v = vertex_[static_cast<unsigned>(std::countr_zero(left))];
    if (Contains(base, v) && Contains(list, v) == intersect) --size;
  }
  return size;
}

std::size_t Extender::Overcount(const PlanLevel& level, List set) const {
  std::size_t taken = 0;
  for (PatternMask left = level.may_be_inside; left != 0;
       left &= static_cast<PatternMask>(left - 1)) {
    taken += Contains(set, vertex_[static_cast<unsigned>(std::countr_zero(left))]) ? 1 : 0;
  }
  return taken;
}

List Extender::LastSet(const PlanLevel& level, std::vector<VertexId>& scratch) const {
  const List base = AboveAll(Resolve(level.candidates), level.above);
  if (!level.last_step) return base;
  const List list = Operand(*level.last_step);
  if (scratch.size() < base.size() + kSetSlack) scratch.resize(base.size() + kSetSlack);
  const std::size_t size = level.last_step->operation == SetOperation::kIntersect
                               ? Intersect(base, list, scratch.data())
                               : Subtract(base, list, scratch.data());
  return List(scratch.data(), size);
}

// |A| |B| - |A and B|, of sets without the vertices that are taken.
WideCount Extender::CountPair() {
  const PlanLevel& first = plan_.levels[plan_.listed()];
  const PlanLevel& second = plan_.levels[plan_.listed() + 1];
  const List a = LastSet(first, scratch_);
  const List b = LastSet(second, other_scratch_);
  std::size_t both = Intersect(a, b, nullptr);
  for (PatternMask left = first.may_be_inside & second.may_be_inside; left != 0;
       left &= static_cast<PatternMask>(left - 1)) {
    const VertexId v = vertex_[static_cast<unsigned>(std::countr_zero(left))];
    both -= Contains(a, v) && Contains(b, v) ? 1 : 0;
  }
  const WideCount as = a.size() - Overcount(first, a);
  return as * (b.size() - Overcount(second, b)) - both;
}

Status Extender::ListAll() {
  const auto total =
      static_cast<std::uint32_t>(levels_[plan_.listed() - 1].current().records.size());
  const PlanLevel& last = plan_.levels[plan_.listed()];
  std::array<VertexId, kMaxPatternVertices> embedding = {};
  for (std::uint32_t record = 0; record < total && !stopped_; ++record) {
    SetPath(plan_.listed() - 1, record);
    for (unsigned t = 0; t < plan_.listed(); ++t) embedding[plan_.levels[t].vertex] = vertex_[t];
    for (const VertexId v : LastSet(last, scratch_)) {
      if (IsTaken(v, last.may_be_inside)) continue;
      embedding[last.vertex] = v;
      SLIM_ASSIGN(const bool more, sink_(std::span(embedding).first(plan_.levels.size())));
      if (!more) {
        stopped_ = true;
        break;
      }
      ++count_;
    }
  }
  return {};
}

}  // namespace slimgraph
