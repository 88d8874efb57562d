#include "txnlayer/graph/edge_block.h"

#include <algorithm>

namespace slimgraph::txn {

EdgeEntry* EdgeBlock::Find(VertexName neighbour, GraphTime at) const {
  for (std::uint32_t i = count(); i-- > 0;) {
    EdgeEntry& one = entry(i);
    if (one.neighbour == neighbour && one.time <= at) return &one;
  }
  return nullptr;
}

EdgeEntry& EdgeBlock::Append(const EdgeEntry& from, const std::byte* properties_from) {
  EdgeEntry& to = entry(header().count++);
  std::memmove(static_cast<void*>(&to), &from, sizeof from);
  const std::size_t bytes = stride_ - sizeof(EdgeEntry);
  if (properties_from == nullptr) {
    std::memset(properties(to), 0, bytes);
  } else {
    std::memmove(properties(to), properties_from, bytes);
  }
  return to;
}

EdgeEntry* EdgeBlock::Put(VertexName neighbour, bool alive, bool in_base) {
  EdgeEntry* const last = Find(neighbour);
  const int before = last == nullptr ? 0 : Counts(*last);
  EdgeEntry* mine = last;
  if (last == nullptr || last->time != kTimePending) {
    if (count() == capacity_) return nullptr;
    const bool keeps = last != nullptr && last->alive != 0;
    mine = &Append({neighbour, kTimePending, 0, in_base ? 1U : 0U},
                   keeps ? properties(*last) : nullptr);
  } else if (last->alive == 0) {
    std::memset(properties(*last), 0, stride_ - sizeof(EdgeEntry));
  }
  mine->alive = alive ? 1 : 0;
  header().degree_change += Counts(*mine) - before;
  return mine;
}

// Of each neighbour the entry that `oldest_seen` sees stays, and all that are younger. Where that
// one says that there is no edge, nor in the base, it says nothing.
void EdgeBlock::Forget(GraphTime oldest_seen) {
  const std::uint32_t before = count();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < before; ++i) {
    const EdgeEntry& one = entry(i);
    bool useless = one.time <= oldest_seen && one.alive == 0 && one.in_base == 0;
    for (std::uint32_t j = i + 1; j < before && !useless; ++j) {
      const EdgeEntry& later = entry(j);
      useless = later.neighbour == one.neighbour && later.time <= oldest_seen;
    }
    if (useless) continue;
    if (kept != i) std::memmove(static_cast<void*>(&entry(kept)), &one, stride_);
    ++kept;
  }
  if (kept == before) return;
  header().count = kept;
  const GraphTime from = std::min(oldest_seen, written_at());
  header().complete_from = std::max(header().complete_from, from);
}

void EdgeBlock::SplitInto(std::span<EdgeBlock> below, unsigned depth) {
  for (std::uint32_t i = 0; i < count(); ++i) {
    const EdgeEntry& one = entry(i);
    EdgeBlock& into = below[(BlockOf(one.neighbour, depth + 1) - 1) % kFanOut];
    const EdgeEntry* const last = into.Find(one.neighbour);
    into.header().degree_change += Counts(one) - (last == nullptr ? 0 : Counts(*last));
    into.Append(one, properties(one));
  }
  for (EdgeBlock& block : below) {
    block.header().written_at = written_at();
    block.header().complete_from = complete_from();
  }
  header().count = 0;
  header().degree_change = 0;
  SetKind(BlockKind::kSplit);
}

void EdgeBlock::Stamp(GraphTime time) {
  for (std::uint32_t i = count(); i-- > 0;) {
    if (entry(i).time == kTimePending) entry(i).time = time;
  }
  header().written_at = time;
}

}  // namespace slimgraph::txn
