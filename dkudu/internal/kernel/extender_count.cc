// The last levels of an embedding: either counted without listing, or listed.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dkudu/internal/kernel/extender.h"

namespace slimgraph::dkudu {
namespace {

// From this many siblings on, marking the set that they share is faster than intersecting it.
constexpr std::uint32_t kMarkedSiblings = 3;

// A list this many times longer than the marked set is searched instead.
constexpr std::size_t kCountSearchRatio = 16;

}  // namespace

void Extender::CountAll() {
  const auto& records = levels_[plan_.listed() - 1].current().records;
  const auto total = static_cast<std::uint32_t>(records.size());
  const PlanLevel& last = plan_.levels[plan_.listed()];
  const bool single = plan_.suffix.classes.size() == 1;
  const bool may_mark =
      single && last.last_step && last.last_step->operation == SetOperation::kIntersect;
  for (std::uint32_t first = 0; first < total;) {
    std::uint32_t end = first + 1;
    while (end < total && records[end].parent == records[first].parent) ++end;
    SetPath(plan_.listed() - 1, first);
    const bool marked = may_mark && end - first >= kMarkedSiblings;
    const List shared = marked ? Resolve(last.candidates) : List();
    marks_.Set(shared);
    for (; first < end; ++first) {
      SetPath(plan_.listed() - 1, first);
      count_ += single ? Choose(CountLast(last, marked), plan_.suffix.levels) : CountSuffix();
    }
    marks_.Unset(shared);
  }
}

// The number of candidates for the last level, without vertices that the embedding already has.
std::size_t Extender::CountLast(const PlanLevel& level, bool marked) const {
  const List base = AboveAll(Resolve(level.candidates), level.above);
  if (!level.last_step) return base.size() - TakenAmong(level, base);
  const List list = AboveAll(Operand(*level.last_step), level.above);
  const bool intersect = level.last_step->operation == SetOperation::kIntersect;
  std::size_t size = 0;
  if (!intersect) {
    size = Subtract(base, list, nullptr);
  } else if (marked && list.size() < kCountSearchRatio * base.size()) {
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

std::size_t Extender::TakenAmong(const PlanLevel& level, List set) const {
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

// The formula is in plan/suffix.h.
WideCount Extender::CountSuffix() {
  const Suffix& suffix = plan_.suffix;
  double most = 1;
  for (std::size_t i = 0; i < suffix.classes.size(); ++i) {
    const auto& [number, size] = suffix.classes[i];
    const PlanLevel& level = plan_.levels[number];
    Candidates& set = candidates_[std::size_t{1} << i];
    set.list = LastSet(level, set.scratch);
    set.count = set.list.size() - TakenAmong(level, set.list);
    if (set.count < size) return 0;
    most *= std::pow(static_cast<double>(set.count), size);
  }
  // Above this, the terms subtracted for vertices chosen twice cannot bring the count below 2^64.
  constexpr double kTooMany = 0x1p112;
  if (most > kTooMany) return WideCount{1} << 64;
  for (const Suffix::Intersection& intersection : suffix.intersections) {
    candidates_[intersection.classes].count = CountIntersection(intersection);
  }
  __int128 sum = 0;
  for (const Suffix::Term& term : suffix.terms) {
    __int128 product = term.factor;
    for (const ClassMask block : term.blocks) product *= candidates_[block].count;
    sum += product;
  }
  return static_cast<WideCount>(sum / suffix.orders);
}

std::size_t Extender::CountIntersection(const Suffix::Intersection& intersection) {
  const ClassMask last = std::bit_floor(intersection.classes);
  const List base = candidates_[intersection.classes & ~last].list;
  const List more = candidates_[last].list;
  Candidates& into = candidates_[intersection.classes];
  const std::size_t room = std::min(base.size(), more.size()) + kSetSlack;
  if (intersection.listed && into.scratch.size() < room) into.scratch.resize(room);
  std::size_t size = Intersect(base, more, intersection.listed ? into.scratch.data() : nullptr);
  if (intersection.listed) into.list = List(into.scratch.data(), size);
  PatternMask may_be_inside = 0xFF;
  for (ClassMask left = intersection.classes; left != 0; left &= static_cast<ClassMask>(left - 1)) {
    const auto number = static_cast<std::size_t>(std::countr_zero(left));
    may_be_inside &= plan_.levels[plan_.suffix.classes[number].level].may_be_inside;
  }
  for (; may_be_inside != 0; may_be_inside &= static_cast<PatternMask>(may_be_inside - 1)) {
    const VertexId v = vertex_[static_cast<unsigned>(std::countr_zero(may_be_inside))];
    if (Contains(base, v) && Contains(more, v)) --size;
  }
  return size;
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

}  // namespace slimgraph::dkudu
