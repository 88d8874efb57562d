// A table whose keys are in order, so that transactions can scan ranges of them.
//
// The records lie in a table like any other, the rows. The keys lie in leaves, of up to sixteen
// keys each, which are records of a second table. A leaf has the keys from its least key on, up to
// but without the least key of the next leaf, which it names. A leaf that is full is split: a new
// leaf gets the upper half, and takes its place between it and the next one. A leaf that becomes
// empty is removed: the one before it takes over its range. So a leaf's least key never changes. It
// is the leaf's name, too.
//
// No phantoms. A scan reads the leaves of its range, and whoever inserts or removes a key writes
// its leaf. So a key cannot appear in a range, or vanish from it, without a conflict that the
// protocol sees, like any other conflict on a record.
//
// Finding a leaf takes no inner nodes: each node keeps a directory of the least keys it knows
// (internal/directory.h), about a byte for each key of the table. Where that is out of date, a leaf
// was split since then. Then the search comes to a leaf on the left of the right one, and follows
// the names of the next leaves. Or the directory names a leaf that the transaction does not see: it
// was removed, or its split was aborted, or is later than the transaction. Then the leaf before it
// takes its place.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/mix.h"
#include "txnlayer/ordered/internal/directory.h"
#include "txnlayer/ordered/internal/leaf.h"
#include "txnlayer/stepwise_fetch.h"

namespace slimgraph::txn {

struct OrderedSpec {
  std::string name;
  std::uint32_t record_bytes = 8;   // 0: there are only keys, as in an index
  std::uint64_t keys_per_node = 1;  // the room at first, on average
  // Keys that are equal above these bits share a node; so do most of their leaves.
  unsigned home_shift = 0;
  bool derived = false;  // see TableSpec
  bool by_tree = false;  // the rows; see TableSpec
};

// Tells whether two sets of keys are the same, in whatever order.
struct KeyDigest {
  std::uint64_t keys = 0;
  std::uint64_t sum = 0;
  void Add(Key key) {
    ++keys;
    sum += Mix64(key + 1);
  }
};

class OrderedTable {
 public:
  // Collective, before the engine's first run.
  static Result<std::unique_ptr<OrderedTable>> Make(Engine& engine, const OrderedSpec& spec);

  // Collective, when nothing runs: makes these the contents. Each node brings some of the keys, in
  // any order; no key comes twice. `fill` writes the record of a key, whose bytes are 0 at first,
  // on the node that holds it.
  using Fill = std::function<void(Key, std::byte* record)>;
  Status Load(std::vector<Key> keys, const Fill& fill = {});
  // Collective, when nothing runs: learns where all leaves begin. Load() has done so; needed when
  // the tables were filled otherwise.
  Status Learn();
  // Collective, when nothing runs: whether leaves and rows agree, and leaves cover all keys.
  // Returns which keys there are.
  Result<KeyDigest> Check();

  // --- In a transaction. `steps`: those of its attempt. Null or false: it was aborted.
  // Those of the keys from `first` to `last` that are there, in order; at most the first `most`.
  bool Keys(Transaction& transaction, StepwiseFetch& steps, Key first, Key last, std::size_t most,
            std::vector<Key>& keys);
  // The same with their records. access->key is the key.
  bool Scan(Transaction& transaction, StepwiseFetch& steps, Key first, Key last, std::size_t most,
            std::vector<Access*>& records);
  // Adds the key if it is not there. The caller puts its record, if there are records.
  bool Insert(Transaction& transaction, StepwiseFetch& steps, Key key, Access** row = nullptr);
  // Removes the key if it is there.
  bool Erase(Transaction& transaction, StepwiseFetch& steps, Key key);
  // The record of the key; see Transaction::Read() and Write().
  Access* Read(Transaction& transaction, StepwiseFetch& steps, Key key, bool write);
  // The same by way of the leaf, as in a tree. `record` is null if the key is not there.
  bool ReadByLeaf(Transaction& transaction, StepwiseFetch& steps, Key key, bool write,
                  Access** record);

  Table& rows() { return *rows_; }
  Table& leaves() { return leaves_; }
  const Directory& directory() const { return directory_; }
  // On this node: how often a leaf was looked for, and how often that took one more leaf.
  std::uint64_t searches() const { return searches_; }
  std::uint64_t detours() const { return detours_; }

 private:
  OrderedTable(Engine& engine, Table* rows, Table& leaves)
      : engine_(engine), rows_(rows), leaves_(leaves) {}
  Status LoadRecord(Table& table, Key key, Bytes record);
  Status LoadRows(std::span<const Key> keys, const Fill& fill);
  Status LoadLeaves(std::span<const Leaf> leaves);
  Want WantLeaf(Key low, bool write) { return {&leaves_, NameOf(low), write}; }
  Key NameOf(Key low) const;
  // The leaf of the key. If `row` is not null and there are rows, fetches the key's row, to be
  // written, in the same step.
  Access* LeafOf(Transaction& transaction, StepwiseFetch& steps, Key key, bool write,
                 Access** row = nullptr);
  // Removes an empty leaf. False: the transaction was aborted.
  bool JoinWithTheOneBefore(Transaction& transaction, StepwiseFetch& steps, Access& access);

  Engine& engine_;
  Table* const rows_;  // null: there are only keys
  Table& leaves_;
  Directory directory_;
  double keys_per_leaf_ = 1;  // when Learn() was called
  std::atomic<std::uint64_t> searches_ = 0;
  std::atomic<std::uint64_t> detours_ = 0;
};

}  // namespace slimgraph::txn
