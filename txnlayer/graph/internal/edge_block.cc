#include "txnlayer/graph/internal/edge_block.h"

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
  const int before = last == nullptr ? 0 : DegreeContribution(*last);
  EdgeEntry* mine = last;
  if (last == nullptr || last->time != kTimePending) {
    if (count() == capacity_) return nullptr;
    const bool keeps = last != nullptr && last->alive != 0;
    mine = &Append({neighbour & kMaxVertexName, 0, in_base, kTimePending},
                   keeps ? properties(*last) : nullptr);
  } else if (last->alive == 0) {
    std::memset(properties(*last), 0, stride_ - sizeof(EdgeEntry));
  }
  mine->alive = alive;
  header().degree_change += DegreeContribution(*mine) - before;
  return mine;
}

// For each neighbour, keeps the entry that a reader at the time `seen` sees, and the last committed
// entry: the next snapshot may be taken before this transaction commits, and sees that one. Drops
// an entry that such a reader sees as deleted if the base does not have the edge either.
void EdgeBlock::DropInvisible(GraphTime seen) {
  const std::uint32_t before = count();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < before; ++i) {
    const EdgeEntry& one = entry(i);
    bool useless = one.time <= seen && one.alive == 0 && one.in_base == 0;
    for (std::uint32_t j = i + 1; j < before && !useless; ++j) {
      const EdgeEntry& later = entry(j);
      useless = later.neighbour == one.neighbour && later.time != kTimePending &&
                (later.time <= seen || one.time > seen);
    }
    if (useless) continue;
    if (kept != i) std::memmove(static_cast<void*>(&entry(kept)), &one, stride_);
    ++kept;
  }
  header().count = static_cast<std::uint16_t>(kept);
}

void EdgeBlock::AppendCopy(const EdgeEntry& from, const std::byte* properties_from) {
  const EdgeEntry* const last = Find(from.neighbour);
  header().degree_change +=
      DegreeContribution(from) - (last == nullptr ? 0 : DegreeContribution(*last));
  Append(from, properties_from);
}

void EdgeBlock::SplitInto(std::span<EdgeBlock> below, unsigned depth) {
  for (std::uint32_t i = 0; i < count(); ++i) {
    const EdgeEntry& one = entry(i);
    EdgeBlock& into = below[(BlockOf(one.neighbour, depth + 1) - 1) % kFanOut];
    into.AppendCopy(one, properties(one));
  }
  for (EdgeBlock& block : below) block.header().written_at = written_at();
  header().count = 0;
  header().degree_change = 0;
  SetKind(BlockKind::kSplit);
}

void EdgeBlock::SetCommitTime(GraphTime time) {
  for (std::uint32_t i = count(); i-- > 0;) {
    if (entry(i).time == kTimePending) entry(i).time = time;
  }
  header().written_at = time;
}

}  // namespace slimgraph::txn
