// A table of fixed-size records, partitioned over all nodes by key, in memory that all nodes can
// access.
//
// A node's part is a hash table with cluster chaining. A bucket is two cache lines: seven slots
// (the key and the tuple's offset) and a link to the next bucket. So a remote lookup usually takes
// one one-sided read. Only the home changes its buckets.
//
// A tuple belongs to its key for good. Deleting a record only marks it absent. A lookup of a key
// that never existed may insert a placeholder, a tuple without a record. So the concurrency control
// protects the key's absence like any value. (Protocols that validate their reads by a word need no
// placeholder: they validate the bucket's count of changes.) So a location stays valid until a
// sweep (txnlayer/internal/engine/sweep.cc), which removes all tuples without a record. No
// transaction is under way then. A sweep keeps the largest timestamps and write count of the tuples
// that it removed. Later tuples of the part begin with those.
//
// A tuple consists of the protocol's metadata words, the key, and one or more versions of the
// record. A version is a word and the record. The lowest bit of the word says whether the record
// exists. The bits above count the tuple's writes and serve as its incarnation.
//
// With read timestamps (tuple_times.h), a read-only transaction that finds no tuple of a key leaves
// its time in one of a few words that all keys share by their hash, and so does a transaction that
// validates an absence. A tuple that is inserted later begins with those times.
//
// A table may grow. Its memory is reserved for as many tuples as the node could ever hold, and
// takes physical memory only where it was touched. `room()` limits the tuples meanwhile. A sweep
// that has removed few tuples raises it on all nodes together, and spreads the keys over more
// buckets.
//
// With replicas, a node also holds copies of other nodes' partitions: its copy of rank k is of the
// partition k nodes before it. A copy is a separate hash table whose tuples are never locked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/words.h"
#include "slimgraph/fabric/fabric.h"
#include "txnlayer/internal/store/buckets.h"
#include "txnlayer/internal/store/hash.h"
#include "txnlayer/internal/store/key_tree.h"
#include "txnlayer/internal/store/old_versions.h"
#include "txnlayer/internal/store/tuple_header.h"
#include "txnlayer/internal/store/tuple_times.h"

namespace slimgraph::txn {

using Key = std::uint64_t;
using TableId = std::uint16_t;
using Rank = std::uint32_t;  // of a copy; 0: the primary's own partition

constexpr std::uint32_t kMaxRecordBytes = 2048;
constexpr std::size_t kMaxMetadataWords = 7;

// The bits of a version's word: the record exists; and the unit in which writes are counted.
constexpr std::uint64_t kExistsBit = 1;
constexpr std::uint64_t kOneWrite = 2;

// The shape of a protocol's tuples, and the metadata of a tuple that no transaction has used.
struct TupleShape {
  std::uint32_t metadata_words = 1;
  std::uint32_t versions = 1;
  Timestamps timestamps = Timestamps::kNone;
  std::uint32_t times_at = 0;  // the number of the first of the TimeWords; 0: there are none
  std::uint64_t fresh[kMaxMetadataWords] = {};
};

// The largest room of a table that is limited by its node's memory alone.
constexpr std::uint64_t kAsManyAsFit = ~std::uint64_t{0};

struct TableSpec {
  std::string name;
  std::uint32_t record_bytes = 8;
  std::uint64_t tuples_per_node = 1;  // the room at first
  // The largest room of a part; 0: the room at first. Tables::Add replaces kAsManyAsFit.
  std::uint64_t most_tuples = 0;
  unsigned home_shift = 0;  // keys that are equal above these bits share a node
  // The number of tuples for which the hash table is sized and lookups are fastest; 0: for
  // tuples_per_node.
  std::uint64_t expected_tuples = 0;
  // Keys that differ only in this many low bits lie in adjacent buckets. For keys that are assigned
  // consecutively and used together.
  unsigned neighbour_bits = 0;
  // The pages of this many tuples are touched when the table is made. A later first touch costs a
  // page fault, which takes longer than the access.
  std::uint64_t prefaulted_tuples = 0;
  // No transaction writes it, and each node may have a copy under keys of its own. So durable logs
  // do not depend on what it contains.
  bool constant = false;
  // Its owner can make it anew from other tables. So durable logs leave it out.
  bool derived = false;
  // Nodes find tuples of their own in a tree (key_tree.h). Only one-sided lookups use the hash.
  bool by_tree = false;
};

class Table {
 public:
  // Collective, with the same specification on all nodes, which read each other's parts by the
  // layout of their own. `replicas`: the number of nodes that hold each partition.
  static Result<std::unique_ptr<Table>> Make(Fabric& fabric, TableId id, const TableSpec& spec,
                                             const TupleShape& shape, std::uint32_t replicas = 1);

  TableId id() const { return id_; }
  const TableSpec& spec() const { return spec_; }
  RegionId region(Rank rank = 0) const { return parts_[rank]->region; }
  // The partition of the key, which is the number of the node that holds it while that node lives.
  NodeId Home(Key key) const {
    const Key group = key >> spec_.home_shift;
    const bool power_of_two = (nodes_ & (nodes_ - 1)) == 0;
    return static_cast<NodeId>(power_of_two ? group & (nodes_ - 1) : group % nodes_);
  }

  // --- the layout of tuples and buckets
  std::uint64_t key_at() const { return shape_.metadata_words * kWordBytes; }
  std::uint64_t version_at(std::size_t version) const {
    return key_at() + kWordBytes + version * version_bytes();
  }
  // The size of a version: its word and the record, rounded up to whole words.
  std::uint64_t version_bytes() const { return version_bytes_; }
  // The size of the key and one version. They are adjacent in tuples that have only one version.
  std::uint64_t image_bytes() const { return kWordBytes + version_bytes_; }
  std::uint64_t BucketOf(Key key) const {
    const std::uint64_t group = (Mix(key >> neighbour_bits_) & 0xFFFF'FFFF) * starts_ >> 32;
    const std::uint64_t neighbour = key & ((std::uint64_t{1} << neighbour_bits_) - 1);
    return (group + neighbour / kMeanTuples) * sizeof(Bucket);
  }
  const TupleShape& shape() const { return shape_; }
  bool timed() const { return shape_.times_at != 0; }
  // Whether transactions leave their times in what they read.
  bool leaves_times() const { return shape_.timestamps == Timestamps::kDst; }
  std::uint64_t time_at(TimeWord word) const {
    return (shape_.times_at + static_cast<std::uint64_t>(word)) * kWordBytes;
  }
  // The size of the TimeWords, which lie right before the key; 0: there are none.
  std::uint64_t time_bytes() const { return timed() ? kTimeBytes : 0; }
  // Of timed tables: the offset of the words kClaimed and kMarked of an absent key.
  std::uint64_t AbsenceAt(Key key) const {
    return absences_at_ + Mix(key) % kAbsences * 2 * kWordBytes;
  }
  // Where the tuples' old versions are; null: not kept. Set once, before any use.
  const OldVersions* old_versions() const { return old_versions_; }
  bool keeps_versions() const { return old_versions_ != nullptr; }
  void KeepVersionsIn(const OldVersions& old_versions) { old_versions_ = &old_versions; }

  // --- this node's parts. Thread-safe, and safe beside other nodes' one-sided operations.
  std::byte* memory(Rank rank = 0) const { return parts_[rank]->memory.data(); }
  std::uint64_t Find(Key key, Rank rank = 0) const;  // the tuple's offset, or 0
  // The offset of the count of changes of the key's chain, and its value. Read it before Find().
  std::uint64_t ChangesAt(Key key) const { return BucketOf(key) + offsetof(Bucket, changes); }
  std::uint64_t ChangesOf(Key key, Rank rank) const {
    return ChainOf(*parts_[rank], key).changes();
  }
  // How many records each part of this node may have. `most_room()`: the most that SetRoom() takes.
  std::uint64_t room() const { return room_.load(std::memory_order_relaxed); }
  std::uint64_t most_room() const { return std::max(spec_.tuples_per_node, spec_.most_tuples); }
  bool grows() const { return most_room() > spec_.tuples_per_node; }
  // The memory of one tuple and of its share of the buckets.
  static std::uint64_t TupleBytes(const TableSpec& spec, const TupleShape& shape);
  std::uint64_t tuple_bytes() const { return stride_ + sizeof(Bucket) / kMeanTuples; }
  // More room, with the same buckets: lookups become slower, but nothing moves. From any thread.
  void AddRoom(std::uint64_t room) {
    for (std::uint64_t now = room_; now < room && !room_.compare_exchange_weak(now, room);) {
    }
  }
  // When nothing runs, with the same value on all nodes: also sizes the buckets for that room. All
  // parts must be swept next.
  void SetRoom(std::uint64_t room);
  // Returns the tuple of the key, and inserts one if there is none; 0 when the table is full.
  // Placeholders (kPlaceholder) have reserved room in addition to the records' room, so that
  // transactions can still look for absent keys in a full table.
  enum class TupleKind : std::uint8_t { kRecord, kPlaceholder };
  std::uint64_t FindOrInsert(Key key, Rank rank = 0, TupleKind what = TupleKind::kRecord);
  // Prefetch the cache lines that FindOrInsert() or the protocol will access.
  void PrefetchBucket(Key key, Rank rank) const {
    __builtin_prefetch(memory(rank) + BucketOf(key));
    __builtin_prefetch(memory(rank) + BucketOf(key) + kCacheLineBytes);
  }
  void PrefetchTuple(std::uint64_t offset, Rank rank) const {
    const std::byte* const tuple = memory(rank) + offset;
    const std::uint64_t bytes = std::min(stride_, kMostPrefetchedBytes);
    for (std::uint64_t at = 0; at < bytes; at += kCacheLineBytes) __builtin_prefetch(tuple + at);
  }
  // Whether all of these keys, no two of which are alike, fit into a part that is empty.
  bool TakesAll(std::span<const Key> keys) const;
  // When nothing runs: inserts an initial record. False when the table is full.
  bool Load(Key key, Bytes record, Rank rank = 0, std::uint64_t word = kExistsBit);
  // When nothing runs: removes the tuples for which `keep` returns false, and moves the others
  // together, in the same order. Tuples inserted later begin with the metadata `fresh` and the
  // version word `fresh_word`. Returns the number of removed tuples.
  std::uint64_t Sweep(Rank rank, const std::function<bool(const std::byte*)>& keep,
                      const std::uint64_t* fresh, std::uint64_t fresh_word);
  // The metadata of newly inserted tuples.
  const std::uint64_t* fresh(Rank rank) const { return parts_[rank]->fresh; }
  std::uint64_t fresh_word(Rank rank) const { return parts_[rank]->fresh_word; }
  std::uint64_t tuples(Rank rank = 0) const { return parts_[rank]->tuples; }
  // The memory of the tuples and of their share of the buckets.
  std::uint64_t used_bytes(Rank rank = 0) const { return tuples(rank) * tuple_bytes(); }
  // When nothing runs: removes all tuples from all parts. Callers must forget all locations.
  void Clear();
  // The touched pages of this node's memory, copies included.
  std::uint64_t resident_bytes() const;
  // The offset of tuple `index`, from 0 to tuples() - 1.
  std::uint64_t TupleOffset(std::uint64_t index) const { return first_tuple_ + index * stride_; }

 private:
  static constexpr std::uint64_t kMostPrefetchedBytes = 512;
  static constexpr std::uint64_t kMeanTuples = 4;  // per bucket
  static constexpr std::uint64_t kAbsences = 4096;
  // How much of each of its areas a part uses.
  struct Extent {
    std::uint64_t buckets = 0;
    std::uint64_t overflow = 0;
    std::uint64_t tuples = 0;
  };
  // A partition, or a copy of one.
  struct Part {
    RegionId region = 0;
    MutableBytes memory;
    Mutex insert_mutex;
    std::uint64_t overflow_used = 0;
    std::atomic<std::uint64_t> tuples{0};
    Extent touched;  // before the last sweep
    std::uint64_t fresh[kMaxMetadataWords] = {};
    std::uint64_t fresh_word = 0;
    KeyTree tree;  // empty unless by_tree
  };

  Table(Fabric& fabric, TableId id, TableSpec spec, const TupleShape& shape);
  BucketChain ChainOf(const Part& part, Key key) const {
    return {part.memory.data(), BucketOf(key)};
  }
  bool Link(Part& part, BucketChain chain, const BucketChain::Spot& spot, Key key,
            std::uint64_t tuple) const;
  void Prefault();
  std::uint64_t BucketsFor(std::uint64_t tuples) const { return tuples / kMeanTuples + 1; }
  void SetBuckets(std::uint64_t buckets);
  // What the part uses now or has used since its pages were last returned to the system.
  Extent Touched(const Part& part) const;

  Fabric& fabric_;
  const NodeId nodes_;
  TableId id_;
  TableSpec spec_;
  TupleShape shape_;
  std::uint64_t version_bytes_ = 0;
  unsigned neighbour_bits_ = 0;
  std::atomic<std::uint64_t> room_{0};
  std::uint64_t expected_ = 0;      // tuples, with the room at first
  std::uint64_t side_by_side_ = 1;  // the buckets of a group of neighbours
  std::uint64_t buckets_ = 0;       // fewer than 2^32
  std::uint64_t starts_ = 0;        // buckets at which a group of neighbours can begin
  // The areas of a part: as many buckets as there may ever be; extra buckets, linked into chains
  // when needed; the times of absent keys; and tuples.
  std::uint64_t most_buckets_ = 0;
  std::uint64_t overflow_ = 0;
  std::uint64_t absences_at_ = 0;
  std::uint64_t first_tuple_ = 0;
  std::uint64_t stride_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;  // by rank
  const OldVersions* old_versions_ = nullptr;
};

}  // namespace slimgraph::txn
