// Access to the parts of a tuple in memory (table.h has the layout): metadata, key and versions,
// each of which has a word and a record.
#pragma once

#include <cstring>

#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

// `Byte` is std::byte or const std::byte. The memory is a table's, or a copy of a whole tuple at an
// address that is a multiple of 8.
template <typename Byte>
class BasicTupleView {
 public:
  BasicTupleView(const Table& table, Byte* tuple) : table_(&table), tuple_(tuple) {}

  const Table& table() const { return *table_; }
  Byte* bytes() const { return tuple_; }

  // Only while no other thread or node changes the metadata.
  const std::uint64_t* metadata() const { return reinterpret_cast<const std::uint64_t*>(tuple_); }
  // Loads word by word, safe beside concurrent writers. `words` has room for kMaxMetadataWords.
  void LoadMetadata(std::uint64_t* words) const {
    LoadWords(reinterpret_cast<std::byte*>(words), tuple_, metadata_bytes());
  }
  void StoreMetadata(const std::uint64_t* words) const {
    StoreWords(tuple_, reinterpret_cast<const std::byte*>(words), metadata_bytes());
  }

  Key key() const {
    Key key;
    LoadWords(reinterpret_cast<std::byte*>(&key), tuple_ + table_->key_at(), sizeof key);
    return key;
  }
  void StoreKey(Key key) const {
    WordAt(tuple_ + table_->key_at()).store(key, std::memory_order_release);
  }

  Byte* version(std::size_t which) const { return tuple_ + table_->version_at(which); }
  // The end of the last version.
  Byte* end() const { return version(table_->shape().versions); }

  explicit operator BasicTupleView<const std::byte>() const { return {*table_, tuple_}; }

 private:
  std::uint64_t metadata_bytes() const { return table_->shape().metadata_words * kWordBytes; }

  const Table* table_;
  Byte* tuple_;
};

using TupleView = BasicTupleView<const std::byte>;
using MutableTupleView = BasicTupleView<std::byte>;

// A tuple of this node; `index` is below table.tuples(rank).
inline MutableTupleView TupleAt(const Table& table, Rank rank, std::uint64_t index) {
  return {table, table.memory(rank) + table.TupleOffset(index)};
}

// --- the parts of a version
inline std::uint64_t WordOfVersion(const std::byte* version) {
  std::uint64_t word;
  std::memcpy(&word, version, sizeof word);
  return word;
}
// Null when there is no record.
template <typename Byte>
Byte* RecordOfVersion(Byte* version) {
  return (WordOfVersion(version) & kExistsBit) != 0 ? version + kWordBytes : nullptr;
}

}  // namespace slimgraph::txn
