// Work that one engine offers to another: an embedding, and which candidates remain to extend it.
// The engine that takes the work fetches the lists and makes the sets again.
#include <algorithm>

#include "dkudu/internal/kernel/extender.h"

namespace slimgraph::dkudu {

// The work that remains at the end of a level, in words: the first candidate, the end of the
// candidates, then the vertices of the levels below. It may be expressed as candidates of the level
// below the one on which it was found.
struct Extender::Remainder {
  unsigned level;
  std::vector<std::uint64_t> words;
  // Where the level on which it was found ends once this work is given away.
  std::uint32_t parents_end;
  std::size_t last_end;
};

void Extender::OfferPart(unsigned deepest) {
  const auto path = path_;
  const auto vertex = vertex_;
  for (unsigned number = 1; number <= deepest; ++number) {
    path_.fill(kNone);  // the levels inspected need not belong to one embedding
    const auto last = LastPartOf(number);
    if (!last) continue;
    if (offers_->Offer(*endpoint_, last->level, std::as_bytes(std::span(last->words)))) {
      levels_[number].parents_end = last->parents_end;
      levels_[number].last_end = last->last_end;
    }
    break;
  }
  path_ = path;
  vertex_ = vertex;
}

// Takes about half of the level's remaining work, but no more than the extensions of one embedding.
std::optional<Extender::Remainder> Extender::LastPartOf(unsigned number) {
  const Level& level = levels_[number];
  if (level.parent >= level.parents_end) return std::nullopt;
  const std::uint32_t last = level.parents_end - 1;
  const auto remainder = [&](unsigned at, std::size_t begin, std::size_t end) {
    Remainder part{at, {begin, end}, level.parents_end, level.last_end};
    part.words.insert(part.words.end(), vertex_.begin(), vertex_.begin() + at);
    return part;
  };
  if (last == level.parent) {
    const std::size_t size = CandidatesOf(number, last).size();
    const PositionRange range = RangeOf(number, last, size);
    const std::size_t next = std::max(level.position, range.begin);
    if (next + 1 >= range.end) return std::nullopt;
    Remainder half = remainder(number, next + (range.end - next) / 2, range.end);
    half.last_end = half.words[0];
    return half;
  }
  if (number == 1) {
    const std::size_t size = CandidatesOf(number, last).size();
    Remainder root = remainder(number, 0, size);
    root.parents_end = last;
    root.last_end = kAll;
    return root;
  }
  const auto& parents = levels_[number - 1].current().records;
  std::uint32_t first = last;
  const std::uint32_t middle = last - (last - level.parent - 1) / 2;
  while (first > middle && parents[first - 1].parent == parents[last].parent) --first;
  const List siblings = CandidatesOf(number - 1, parents[last].parent);
  const auto position = [&](std::uint32_t record) {
    const VertexId v = parents[record].vertex;
    return static_cast<std::size_t>(std::lower_bound(siblings.begin(), siblings.end(), v) -
                                    siblings.begin());
  };
  Remainder those = remainder(number - 1, position(first), position(last) + 1);
  those.parents_end = first;
  those.last_end = kAll;
  return those;
}

Status Extender::Resume(unsigned number, std::span<const std::uint64_t> words) {
  path_.fill(kNone);
  levels_[0].chunks[0].task = {};
  for (unsigned below = 0; below < number; ++below) {
    SLIM_TRY(SetOnlyRecord(below, static_cast<VertexId>(words[2 + below])));
  }
  Level& level = levels_[number];
  level.parent = 0;
  level.position = words[0];
  level.parents_end = 1;
  level.last_end = words[1];
  return ProcessLevel(number);
}

// Makes v the only record of its level, with no further work on that level.
Status Extender::SetOnlyRecord(unsigned number, VertexId v) {
  Level& level = levels_[number];
  level.at = 0;
  level.parent = level.parents_end = 0;
  Chunk& chunk = level.current();
  chunk.Clear();
  if (number > 0) SetPath(number - 1, 0);
  RecordBaseSizes(number);
  AddRecord(number, chunk, v);
  if (plan_.levels[number].needs_list) chunk.batch.Start();
  return Prepare(number);
}

}  // namespace slimgraph::dkudu
