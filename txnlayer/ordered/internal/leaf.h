// The keys from `low` on that are less than `high`, in order.
#pragma once

#include <algorithm>

#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

struct Leaf {
  static constexpr std::uint64_t kSlots = 16;

  Key low = 0;
  Key high = 0;  // the next leaf's least key; 0: this is the last leaf
  std::uint64_t count = 0;
  Key keys[kSlots] = {};

  bool last() const { return high == 0; }
  bool full() const { return count == kSlots; }
  bool Covers(Key key) const { return low <= key && (last() || key < high); }
  // The slot of the first key that is at least `key`.
  std::uint64_t SlotOf(Key key) const {
    return static_cast<std::uint64_t>(std::lower_bound(keys, keys + count, key) - keys);
  }
  bool Has(Key key) const {
    const std::uint64_t slot = SlotOf(key);
    return slot < count && keys[slot] == key;
  }
  // When there is room.
  void Add(Key key) {
    const std::uint64_t slot = SlotOf(key);
    std::copy_backward(keys + slot, keys + count, keys + count + 1);
    keys[slot] = key;
    ++count;
  }
  void Remove(Key key) {
    const std::uint64_t slot = SlotOf(key);
    std::copy(keys + slot + 1, keys + count, keys + slot);
    --count;
  }
  // Makes room for `key` in a full leaf: returns the next leaf, which has the upper keys. Keys that
  // come in rising order leave full leaves behind.
  Leaf SplitFor(Key key) {
    const bool rises = last() && key > keys[kSlots - 1];
    const std::uint64_t kept = rises ? kSlots : kSlots / 2;
    Leaf next{.low = rises ? key : keys[kept], .high = high, .count = kSlots - kept};
    std::copy(keys + kept, keys + kSlots, next.keys);
    high = next.low;
    count = kept;
    return next;
  }
};

}  // namespace slimgraph::txn
