// A tuple that a transaction accesses: its location, what was read from it, and what the
// transaction has done to it. The coordinator uses the same type as the home that serves a request.
#pragma once

#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/internal/store/table.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

enum class AbortReason : std::uint8_t {
  kNone,
  kLocked,     // another transaction holds the lock
  kChanged,    // a value that was read has been overwritten
  kDied,       // WAITDIE: younger than the holder
  kTooLate,    // MVCC: a younger transaction has read or written
  kNoVersion,  // the version to be read is not kept any more
  kLease,      // SUNDIAL: the lease could not be renewed
  kTimedOut,   // BOUNDEDWAIT: the lock was not free in time
  kUser,       // the caller of the transaction aborted it
  kTableFull,  // the table has no room for a tuple; the transaction is retried after a sweep
  kNodeLost,   // a node died before the commit
  kUnnamed,    // CALVIN: the transaction needs a tuple that it had not named
  kOvertaken,  // a snapshot was taken after its begin; mostly under MVCC, TO and SUNDIAL
  // Refusals: the transaction would abort however often it is retried.
  kNoRoom,     // a table is full, and a sweep has made no room
  kTooLarge,   // more words than its log has room for
  kNamedLate,  // CALVIN: a tuple was named, or was to be written, after the first Fetch
  kBadValue,   // a value of the caller does not fit what is stored
  kTimeEnded,  // SUNDIAL: a tuple has no bits for a later logical time
};
constexpr std::size_t kNumAbortReasons = 18;
constexpr bool IsRefusal(AbortReason reason) { return reason >= AbortReason::kNoRoom; }
const char* AbortReasonName(AbortReason reason);
// For a refusal: what is wrong, and what to do.
const char* RefusalText(AbortReason reason);

// Before an access's image.
constexpr std::uint64_t kImageRoom = kTimeBytes;

struct Access {
  Table* table = nullptr;
  Key key = 0;
  NodeId home = 0;           // the node whose memory holds it
  Rank rank = 0;             // the part of that node's memory
  std::uint64_t offset = 0;  // of the tuple in the table's region; 0: not known yet
  Timestamp timestamp = 0;   // the transaction's
  Owner owner = 0;           // the transaction's coroutine
  Timestamp commit_timestamp = 0;
  Timestamp seen_timestamp = 0;  // the largest timestamp read from the tuple

  bool write = false;
  bool write_later = false;  // written later, so a missing tuple is inserted at once
  // There is no tuple: `offset` is that of its bucket's count of changes.
  bool absent = false;
  bool fetch = false;     // the stage also reads the record
  bool asked = false;     // read by message where others are read one-sided
  bool begun = false;     // the first step of its first stage is under way
  bool locked = false;    // by this transaction
  bool shared = false;    // two-phase locking: the lock is shared with other readers
  bool waiting = false;   // WAITDIE, BOUNDEDWAIT: counted among the waiting transactions
  bool unlocked = false;  // two-phase locking: read without a lock (read-committed)
  bool has_image = false;
  std::uint32_t round_index = 0;  // index in the current round
  std::uint8_t step = 0;          // of the current stage
  std::uint8_t version = 0;       // the version of the tuple that is read
  std::uint8_t generation = 0;    // of the readers that share the lock (lock_word.h)
  bool only_tries = false;  // BOUNDEDWAIT: the Lock stage ends without the lock if it is taken
  std::uint64_t gives_up_ns = 0;  // BOUNDEDWAIT: when it stops waiting; 0: it has not begun to

  // The tuple's metadata, read before and after the record. The first read of a tuple also brings
  // the key behind them, where one operation reads both.
  std::uint64_t seen[kMaxMetadataWords + 1] = {};
  std::uint64_t reread[kMaxMetadataWords] = {};
  std::uint64_t old_word = 0;  // result of a compare-and-swap or fetch-and-add
  std::uint64_t put[2] = {};   // source of words being written

  // Under vector timestamps, of a transaction that only reads: how many commits of each thread it
  // sees.
  const Timestamp* sees = nullptr;
  // With read timestamps: where the version that is replaced is to be kept, whether it has a
  // record, and a copy of it, if another node must send it there (old_versions.h).
  bool existed = false;
  VersionLink kept_at = kNoOlder;
  std::uint64_t count_before = 0;  // ReadAt: the count of writes of the version that links to it
  bool first_kept = false;         // ReadAt: that version is the tuple's own
  KeptVersion kept;

  // The key and the version. There is room of kImageRoom before them: metadata words that are
  // needed with the record, and lie before it, are read or written with it by one operation.
  std::byte* image = nullptr;

  std::byte* version_bytes() const { return image + kWordBytes; }
  std::uint64_t word_before() const {
    std::uint64_t word;
    std::memcpy(&word, image - kWordBytes, sizeof word);
    return word;
  }
  KeptAs kept_as() const { return {table->id(), kept_at}; }
  std::byte* memory() const { return table->memory(rank); }
  // The version's word.
  std::uint64_t word() const {
    std::uint64_t word;
    std::memcpy(&word, version_bytes(), sizeof word);
    return word;
  }
  void SetWord(std::uint64_t word) { std::memcpy(version_bytes(), &word, sizeof word); }
  // Whether a version with that time belongs to the state that a read-only transaction sees.
  bool Sees(Timestamp written) const {
    if (sees == nullptr) return written <= timestamp;
    return ClockOf(written) <= sees[table->old_versions()->ThreadOf(written)];
  }
  // The times that were read from the tuple. TakeTimes(): those before the image.
  std::uint64_t& time(TimeWord which) { return seen[table->time_at(which) / kWordBytes]; }
  const std::uint64_t& time(TimeWord which) const {
    return seen[table->time_at(which) / kWordBytes];
  }
  void TakeTimes() { std::memcpy(&time(TimeWord::kClaimed), image - kTimeBytes, kTimeBytes); }
  bool exists() const { return (word() & kExistsBit) != 0; }
  void SetExists(bool exists) { SetWord((word() & ~kExistsBit) | (exists ? kExistsBit : 0)); }
  // Called before the write is logged and installed.
  void CountWrite() { SetWord(word() + kOneWrite); }
  // There was no tuple at that count of changes. The count is validated like a tuple's word.
  void SetAbsent(std::uint64_t changes) {
    absent = true;
    offset = table->ChangesAt(key);
    seen[0] = changes;
    if (table->timed()) time(TimeWord::kMarked) = 0;
    version = 0;
    // Like a version that was never written.
    std::memset(version_bytes(), 0, table->version_bytes());
    has_image = true;
  }
  // Whether it needs a tuple only to protect the absence of a record.
  bool only_reads() const { return !write && !write_later; }
  // At its home: finds or inserts the tuple. `offset` is 0 when the table is full.
  void FindOrInsert() {
    const auto what = only_reads() ? Table::TupleKind::kPlaceholder : Table::TupleKind::kRecord;
    offset = table->FindOrInsert(key, rank, what);
  }
  // At its home: true when the tuple was found, or when it is only read, `absence_suffices`, and
  // its absence is certain. False: the tuple must be inserted.
  bool Find(bool absence_suffices) {
    const std::uint64_t changes = table->ChangesOf(key, rank);
    offset = table->Find(key, rank);
    if (offset != 0) return true;
    if (!absence_suffices || write || write_later || changes % 2 != 0) return false;
    SetAbsent(changes);
    return true;
  }
  // Checks that the tuple read is that of the key.
  void CheckKey() const {
    std::uint64_t read;
    std::memcpy(&read, image, sizeof read);
    CheckKey(read);
  }
  void CheckKey(Key read) const {
    SLIM_CHECK(read == key, "expected the tuple of key {}, found that of key {}", key, read);
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
