// A tuple that a transaction reads or writes: where it lies, what was seen of it, and what has been
// done to it. The same object serves the coordinator and, while a request is carried out, the home.
#pragma once

#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/store/table.h"
#include "txnlayer/timestamp.h"

namespace slimgraph::txn {

enum class AbortReason : std::uint8_t {
  kNone,
  kLocked,     // another transaction holds the lock
  kChanged,    // what was read has been overwritten
  kDied,       // WAITDIE: younger than the holder
  kTooLate,    // MVCC: a younger transaction has read or written
  kNoVersion,  // MVCC: the version that it should read is gone
  kLease,      // SUNDIAL: the lease could not be renewed
  kUser,       // the transaction itself wanted it
  kTableFull,
  kNodeLost,  // a node died before it was committed
  kUnnamed,   // CALVIN: it turned out to need a tuple that it had not named
};
constexpr std::size_t kNumAbortReasons = 11;
const char* AbortReasonName(AbortReason reason);

struct Access {
  Table* table = nullptr;
  Key key = 0;
  NodeId home = 0;           // in whose memory it lies
  Rank rank = 0;             // in which of its parts
  std::uint64_t offset = 0;  // of the tuple in the table's region; 0: not known yet
  Timestamp timestamp = 0;   // the transaction's
  Timestamp commit_timestamp = 0;
  Timestamp saw = 0;  // the largest timestamp that was met here

  bool write = false;
  bool soon = false;  // it will be written: it gets a place at once
  bool absent =
      false;           // there is no tuple: `offset` is where the changes of its bucket are counted
  bool fetch = false;  // the stage also brings the record
  bool begun = false;  // the first step of its first stage is under way
  bool locked = false;   // by this transaction
  bool shared = false;   // NOWAIT, WAITDIE: together with other readers
  bool waiting = false;  // WAITDIE: counted among those that wait
  bool has_image = false;
  std::uint8_t step = 0;     // of the current stage
  std::uint8_t version = 0;  // of the tuple: the one that is read

  // Where operations put the tuple's metadata, before and after the record is read; at first with
  // the key behind them, where all are read at once.
  std::uint64_t seen[kMaxMetadataWords + 1] = {};
  std::uint64_t again[kMaxMetadataWords] = {};
  std::uint64_t old_word = 0;  // of a compare-and-swap or fetch-and-add
  std::uint64_t put[2] = {};   // words on their way out

  // The key and the version. Before it is room for a word: a protocol whose metadata end with one
  // that it wants together with the record reads both at once.
  std::byte* image = nullptr;

  std::byte* version_bytes() const { return image + kWordBytes; }
  std::uint64_t word_before() const {
    std::uint64_t word;
    std::memcpy(&word, image - kWordBytes, sizeof word);
    return word;
  }
  std::byte* memory() const { return table->memory(rank); }
  // The version's.
  std::uint64_t word() const {
    std::uint64_t word;
    std::memcpy(&word, version_bytes(), sizeof word);
    return word;
  }
  void SetWord(std::uint64_t word) { std::memcpy(version_bytes(), &word, sizeof word); }
  bool exists() const { return (word() & kExistsBit) != 0; }
  void SetExists(bool exists) { SetWord((word() & ~kExistsBit) | (exists ? kExistsBit : 0)); }
  // Before it is logged and installed.
  void CountWrite() { SetWord(word() + kOneWrite); }
  // There was no tuple when that was the count, which is looked at like a tuple's word.
  void SetAbsent(std::uint64_t changes) {
    absent = true;
    offset = table->ChangesAt(key);
    seen[0] = changes;
    version = 0;
    std::memset(version_bytes(), 0, table->version_bytes());  // as of one that was never written
    has_image = true;
  }
  // At its home: the tuple is found, or, where it is only read and absence can be looked at, it is
  // known that there is none. False: it is to be given a place.
  bool Find(bool absence_suffices) {
    const std::uint64_t changes = table->ChangesOf(key, rank);
    offset = table->Find(key, rank);
    if (offset != 0) return true;
    if (!absence_suffices || write || soon || changes % 2 != 0) return false;
    SetAbsent(changes);
    return true;
  }
  // What was read is the tuple that was meant.
  void CheckKey() const {
    std::uint64_t read;
    std::memcpy(&read, image, sizeof read);
    CheckKey(read);
  }
  void CheckKey(Key read) const {
    SLIM_CHECK(read == key, "the tuple of key {} is that of {}", key, read);
  }
  std::byte* record() const { return version_bytes() + kWordBytes; }

  template <typename T>
  T Get() const {
    T value;
    std::memcpy(&value, record(), sizeof value);
    return value;
  }
  // Also makes the record exist.
  template <typename T>
  void Put(const T& value) {
    SetExists(true);
    std::memcpy(record(), &value, sizeof value);
  }
};

}  // namespace slimgraph::txn
