// A table of fixed-size records, dealt out to all nodes by key, in memory that all nodes reach.
//
// A node's part is a hash table with cluster chaining: a bucket is two cache lines with seven slots
// (key, where the tuple lies) and a link to the next bucket, so that a lookup from afar is one
// one-sided read in the common case. Only the home changes its buckets. A tuple belongs to its key:
// deleting makes the record absent, and looking for a key that was never there may place a tuple
// without a record, so that its absence is protected like any value. (Protocols that look again
// at what they have read need no tuple for that, but look at the bucket.) So a location, once
// learnt, stays true, until a sweep (txnlayer/sweep.cc) takes away all tuples without a record, at
// a moment when no transaction is under way. What the next tuple of such a key must know of it is
// kept once for all: it begins where the largest of them has ended.
//
// A tuple is words of metadata, which are the protocol's, then the key, then one or more versions
// of the record; a version is a word and the record. The word says whether there is a record, in
// its lowest bit, and above it how often the tuple has been written: its incarnation.
//
// With replicas, a node also holds copies of other nodes' partitions: that of rank k is of the
// partition k nodes before it. A copy is a hash table of its own, with tuples that nobody has
// locked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/words.h"
#include "slimgraph/fabric/fabric.h"
#include "txnlayer/store/hash.h"

namespace slimgraph::txn {

using Key = std::uint64_t;
using TableId = std::uint16_t;
using Rank = std::uint32_t;  // of a copy; 0: the partition itself

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr std::uint32_t kMaxRecordBytes = 2048;
constexpr std::size_t kMaxMetadataWords = 6;

// The word of a version.
constexpr std::uint64_t kExistsBit = 1;
constexpr std::uint64_t kOneWrite = 2;

// What a protocol keeps in every tuple, and how it looks in a tuple that nobody has used.
struct TupleShape {
  std::uint32_t metadata_words = 1;
  std::uint32_t versions = 1;
  std::uint64_t fresh[kMaxMetadataWords] = {};
};

struct TableSpec {
  std::string name;
  std::uint32_t record_bytes = 8;
  std::uint64_t tuples_per_node = 1;
  unsigned home_shift = 0;  // keys that are equal above these bits share a node
  // For how many of them looking up one is fastest; 0: for all.
  std::uint64_t usual_tuples = 0;
  // Keys that differ in so many low bits alone are looked up side by side: for those that are given
  // out one after the other, and used together.
  unsigned neighbour_bits = 0;
  // For so many of them there is memory from the beginning. All other is taken when it is used
  // first, which takes longer than the use.
  std::uint64_t ready_tuples = 0;
};

struct Bucket {
  static constexpr std::size_t kSlots = 7;
  struct Slot {
    std::uint64_t key;
    std::uint64_t tuple;  // offset in the region; 0: free
  };
  Slot slots[kSlots];
  std::uint64_t next;  // offset of the next bucket; 0: none
  // Of the first of a chain: how often a tuple has been begun or ended to be put into the chain. So
  // who has read it when it was even, and then found no tuple of a key, knows that there is none
  // for as long as it stays the same.
  std::uint64_t changes;
};
static_assert(sizeof(Bucket) == 2 * kCacheLineBytes);

class Table {
 public:
  // Collective. `replicas`: how many nodes hold each partition.
  static Result<std::unique_ptr<Table>> Make(Fabric& fabric, TableId id, const TableSpec& spec,
                                             const TupleShape& shape, std::uint32_t replicas = 1);

  TableId id() const { return id_; }
  const TableSpec& spec() const { return spec_; }
  RegionId region(Rank rank = 0) const { return parts_[rank]->region; }
  // Which partition the key is of: that of this node, as long as it lives.
  NodeId Home(Key key) const {
    const Key group = key >> spec_.home_shift;
    const bool power_of_two = (nodes_ & (nodes_ - 1)) == 0;
    return static_cast<NodeId>(power_of_two ? group & (nodes_ - 1) : group % nodes_);
  }

  // --- where things lie
  std::uint64_t key_at() const { return shape_.metadata_words * kWordBytes; }
  std::uint64_t version_at(std::size_t version) const {
    return key_at() + kWordBytes + version * version_bytes();
  }
  // A version's bytes: its word and the record, in whole words.
  std::uint64_t version_bytes() const { return version_bytes_; }
  // The key and a version, which follows it where there is one only.
  std::uint64_t image_bytes() const { return kWordBytes + version_bytes_; }
  std::uint64_t BucketOf(Key key) const {
    const std::uint64_t group = (Mix(key >> neighbour_bits_) & 0xFFFF'FFFF) * starts_ >> 32;
    const std::uint64_t neighbour = key & ((std::uint64_t{1} << neighbour_bits_) - 1);
    return (group + neighbour / kMeanTuples) * sizeof(Bucket);
  }
  const TupleShape& shape() const { return shape_; }

  // --- of this node's parts. Thread-safe, and safe beside other nodes' operations.
  std::byte* memory(Rank rank = 0) const { return parts_[rank]->memory.data(); }
  std::uint64_t Find(Key key, Rank rank = 0) const;  // the tuple's offset, or 0
  // Where the changes of its chain are counted, and what they were before Find().
  std::uint64_t ChangesAt(Key key) const { return BucketOf(key) + offsetof(Bucket, changes); }
  std::uint64_t ChangesOf(Key key, Rank rank) const {
    return WordAt(memory(rank) + ChangesAt(key)).load();
  }
  // The tuple of the key, made if there is none; 0 when the table is full.
  std::uint64_t FindOrPlace(Key key, Rank rank = 0);
  // Ask the processor for what FindOrPlace, or the protocol, will look at.
  void PrefetchBucket(Key key, Rank rank) const {
    __builtin_prefetch(memory(rank) + BucketOf(key));
    __builtin_prefetch(memory(rank) + BucketOf(key) + kCacheLineBytes);
  }
  void PrefetchTuple(std::uint64_t offset, Rank rank) const {
    const std::byte* const tuple = memory(rank) + offset;
    const std::uint64_t bytes = std::min(stride_, kMostPrefetchedBytes);
    for (std::uint64_t at = 0; at < bytes; at += kCacheLineBytes) __builtin_prefetch(tuple + at);
  }
  // When nothing runs: a record that is there from the beginning. False when the table is full.
  bool Load(Key key, Bytes record, Rank rank = 0, std::uint64_t word = kExistsBit);
  // When nothing runs: tuples of which `keep` is false are there no more, the others lie close
  // together, in the same order. Tuples that are placed from here on have that metadata, and that
  // word of their versions. Returns how many are gone.
  std::uint64_t Sweep(Rank rank, const std::function<bool(const std::byte*)>& keep,
                      const std::uint64_t* fresh, std::uint64_t fresh_word);
  // What tuples begin with that are placed now.
  const std::uint64_t* fresh(Rank rank) const { return parts_[rank]->fresh; }
  std::uint64_t fresh_word(Rank rank) const { return parts_[rank]->fresh_word; }
  std::uint64_t tuples(Rank rank = 0) const { return parts_[rank]->tuples; }
  // What those take, with the way to them.
  std::uint64_t used_bytes(Rank rank = 0) const {
    return tuples(rank) * (stride_ + sizeof(Bucket) / kMeanTuples);
  }
  // When nothing runs: there are no tuples any more, in whatever part. Locations that were learnt
  // are to be forgotten.
  void Clear();
  // Of this node's memory, copies included: pages that have been touched.
  std::uint64_t resident_bytes() const;
  // The offset of each tuple in turn, from 0 to tuples() - 1.
  std::uint64_t TupleOffset(std::uint64_t index) const { return first_tuple_ + index * stride_; }

 private:
  static constexpr std::uint64_t kMostPrefetchedBytes = 512;
  static constexpr std::uint64_t kMeanTuples = 4;  // of a bucket
  // A partition, or the copy of one.
  struct Part {
    RegionId region = 0;
    MutableBytes memory;
    std::mutex placing;
    std::uint64_t overflow_used = 0;
    std::atomic<std::uint64_t> tuples{0};
    std::uint64_t fresh[kMaxMetadataWords] = {};
    std::uint64_t fresh_word = 0;
    Bucket* BucketAt(std::uint64_t offset) const {
      return reinterpret_cast<Bucket*>(memory.data() + offset);
    }
  };

  Table(Fabric& fabric, TableId id, TableSpec spec, const TupleShape& shape);
  // Where a key is, or, under the lock, belongs.
  struct Spot {
    Bucket* bucket = nullptr;
    std::size_t slot = 0;     // Bucket::kSlots: there is none left
    std::uint64_t tuple = 0;  // of the key, if it is there
  };
  Spot Look(const Part& part, Key key) const;
  bool Link(Part& part, const Spot& spot, Key key, std::uint64_t tuple);
  bool LinkAt(Part& part, const Spot& spot, Key key, std::uint64_t tuple);
  void MakeReady();

  Fabric& fabric_;
  const NodeId nodes_;
  TableId id_;
  TableSpec spec_;
  TupleShape shape_;
  std::uint64_t version_bytes_ = 0;
  unsigned neighbour_bits_ = 0;
  std::uint64_t buckets_ = 0;   // fewer than 2^32
  std::uint64_t starts_ = 0;    // of these: those with which neighbours begin
  std::uint64_t overflow_ = 0;  // more of them, to be linked
  std::uint64_t first_tuple_ = 0;
  std::uint64_t stride_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;  // by rank
};

}  // namespace slimgraph::txn
