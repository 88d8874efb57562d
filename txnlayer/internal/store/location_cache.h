// The locations of other nodes' tuples, so that a repeated lookup needs no remote access. Owned by
// one thread; 4-way set-associative within a byte budget, oldest entry evicted first. A location
// stays valid (table.h) until a sweep, or until the partition gets another primary.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/types.h"
#include "txnlayer/internal/store/hash.h"
#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

class LocationCache {
 public:
  // With 0 bytes, or when the allocation fails, the cache keeps nothing. It uses huge pages because
  // its sets are accessed in random order.
  explicit LocationCache(std::uint64_t budget_bytes)
      : memory_(PageBuffer::Allocate(std::bit_floor(budget_bytes / sizeof(Set)) * sizeof(Set),
                                     PageBuffer::Pages::kHuge)
                    .value_or(PageBuffer())),
        sets_(memory_.as<Set>()) {}

  void Clear() { std::fill(sets_.begin(), sets_.end(), Set()); }

  std::uint64_t bytes() const { return sets_.size() * sizeof(Set); }

  // Returns the tuple's offset, or 0.
  std::uint64_t Find(TableId table, Key key) const {
    if (sets_.empty()) return 0;
    for (const Entry& entry : SetOf(table, key).entries) {
      if (entry.key == key && entry.table == table) return entry.offset;
    }
    return 0;
  }

  void Prefetch(TableId table, Key key) const {
    if (!sets_.empty()) __builtin_prefetch(&SetOf(table, key));
  }

  void Insert(TableId table, Key key, std::uint64_t offset) {
    if (sets_.empty() || Find(table, key) != 0) return;
    Entry* const entries = const_cast<Set&>(SetOf(table, key)).entries;
    std::copy_backward(entries, entries + kWays - 1, entries + kWays);
    entries[0] = {key, offset & kOffsetMask, table};
  }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr unsigned kOffsetBits = 48;
  static constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;
  struct Entry {
    Key key = 0;
    std::uint64_t offset : kOffsetBits = 0;  // 0: empty entry
    std::uint64_t table : 64 - kOffsetBits = 0;
  };
  // One cache line, newest entry first.
  struct alignas(kCacheLineBytes) Set {
    Entry entries[kWays];
  };
  static_assert(sizeof(Set) == kCacheLineBytes);

  const Set& SetOf(TableId table, Key key) const {
    return sets_[Mix(key + (std::uint64_t{table} << 48)) & (sets_.size() - 1)];
  }

  PageBuffer memory_;
  const std::span<Set> sets_;
};

}  // namespace slimgraph::txn
