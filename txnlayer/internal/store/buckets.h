// The buckets of a part of a table (table.h): a hash table with cluster chaining. One thread at a
// time inserts, beside lookups of this node's threads and other nodes' one-sided reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "slimgraph/base/types.h"
#include "slimgraph/base/words.h"

namespace slimgraph::txn {

struct Bucket {
  static constexpr std::size_t kSlots = 7;
  // The home stores the key before the tuple's word, but a one-sided read may return the two words
  // in any order. So a reader of a slot that is being filled may see key 0. A bit in the tuple's
  // word tells whether the key is really 0. (No other key can be mistaken.)
  struct Slot {
    // A free bit, as tuples are aligned to cache lines.
    static constexpr std::uint64_t kKeyIsZero = 1;
    std::uint64_t key;
    std::uint64_t tuple;  // offset in the region, and that bit; 0: free

    static std::uint64_t TupleWord(std::uint64_t key, std::uint64_t offset) {
      return key == 0 ? offset | kKeyIsZero : offset;
    }
    // Returns the offset of the tuple of `wanted`, or 0.
    std::uint64_t TupleOf(std::uint64_t wanted) const {
      return key == wanted && tuple == TupleWord(wanted, tuple) ? tuple & ~kKeyIsZero : 0;
    }
  };
  Slot slots[kSlots];
  std::uint64_t next;  // offset of the next bucket; 0: none
  // Used in the first bucket of a chain: counts the begin and the end of every insertion into the
  // chain, and is odd during one. A reader that sees an even count and then finds no tuple of a key
  // knows that there is none until the count changes.
  std::uint64_t changes;
};
static_assert(sizeof(Bucket) == 2 * kCacheLineBytes);

// The chain of buckets that begins at `first`, an offset in `memory`.
class BucketChain {
 public:
  BucketChain(std::byte* memory, std::uint64_t first) : memory_(memory), first_(first) {}

  // The offset of the key's tuple, or 0.
  std::uint64_t Find(std::uint64_t key) const {
    for (std::uint64_t at = first_;;) {
      Bucket& bucket = BucketAt(at);
      for (Bucket::Slot& slot : bucket.slots) {
        const std::uint64_t tuple = SharedWord(slot.tuple).load(std::memory_order_acquire);
        if (tuple == 0) return 0;  // slots fill in order
        const Bucket::Slot found{SharedWord(slot.key).load(std::memory_order_relaxed), tuple};
        if (const std::uint64_t offset = found.TupleOf(key)) return offset;
      }
      at = SharedWord(bucket.next).load(std::memory_order_acquire);
      if (at == 0) return 0;
    }
  }
  // The count of changes. Read it before Find().
  std::uint64_t changes() const { return SharedWord(BucketAt(first_).changes).load(); }

  // --- for the thread that inserts
  // The slot of a key, or where it is to be inserted.
  struct Spot {
    Bucket* bucket = nullptr;
    std::size_t slot = 0;     // Bucket::kSlots: the bucket is full
    std::uint64_t tuple = 0;  // the key's tuple, or 0
  };
  Spot FindSpot(std::uint64_t key) const {
    Bucket* bucket = &BucketAt(first_);
    while (true) {
      for (std::size_t slot = 0; slot < Bucket::kSlots; ++slot) {
        const std::uint64_t word = Own(bucket->slots[slot].tuple);
        if (word == 0) return {bucket, slot, 0};
        const Bucket::Slot found{Own(bucket->slots[slot].key), word};
        if (const std::uint64_t tuple = found.TupleOf(key)) return {bucket, slot, tuple};
      }
      const std::uint64_t next = Own(bucket->next);
      if (next == 0) return {bucket, Bucket::kSlots, 0};
      bucket = &BucketAt(next);
    }
  }
  // Puts the key into its slot, or into the bucket at the offset that new_bucket() returns when the
  // chain is full. False: it has returned 0. A tuple is complete before its slot is filled, and a
  // bucket is filled before it is linked. complete() and added() are called before and after that,
  // while the count of changes is odd. complete() may still change the tuple.
  template <typename Complete, typename NewBucket, typename Added>
  bool Link(const Spot& spot, std::uint64_t key, std::uint64_t tuple, const Complete& complete,
            const NewBucket& new_bucket, const Added& added) {
    Bucket& first = BucketAt(first_);
    const std::uint64_t before = Own(first.changes);
    // Sequentially consistent, as locks of tuples are. A transaction that has read that the key is
    // absent locks its writes before it validates the count. One that inserts the key does so
    // before it validates those records. So at least one of them notices the other.
    SharedWord(first.changes).store(before + 1);
    complete();
    const bool linked = LinkAt(spot, key, tuple, new_bucket);
    if (linked) added();
    SharedWord(first.changes).store(before + 2, std::memory_order_release);
    return linked;
  }

 private:
  Bucket& BucketAt(std::uint64_t offset) const {
    return *reinterpret_cast<Bucket*>(memory_ + offset);
  }
  // A word that no other thread changes now.
  static std::uint64_t Own(std::uint64_t& word) {
    return SharedWord(word).load(std::memory_order_relaxed);
  }
  template <typename NewBucket>
  bool LinkAt(const Spot& spot, std::uint64_t key, std::uint64_t tuple,
              const NewBucket& new_bucket) {
    const std::uint64_t word = Bucket::Slot::TupleWord(key, tuple);
    if (spot.slot < Bucket::kSlots) {
      SharedWord(spot.bucket->slots[spot.slot].key).store(key, std::memory_order_relaxed);
      SharedWord(spot.bucket->slots[spot.slot].tuple).store(word, std::memory_order_release);
      return true;
    }
    const std::uint64_t next = new_bucket();
    if (next == 0) return false;
    Bucket& fresh = BucketAt(next);
    SharedWord(fresh.slots[0].key).store(key, std::memory_order_relaxed);
    SharedWord(fresh.slots[0].tuple).store(word, std::memory_order_relaxed);
    SharedWord(spot.bucket->next).store(next, std::memory_order_release);
    return true;
  }

  std::byte* memory_;
  std::uint64_t first_;
};

}  // namespace slimgraph::txn
