// The lock word of NOWAIT and WAITDIE (lock_word.h): a record behind it is only accessed under the
// lock, so it is plain memory here. A writer locks by a compare-and-swap of the fabric and unlocks
// by a write of the fabric.
#include "txnlayer/protocol/internal/lock_word.h"

#include "slimgraph/fabric/internal/execute_operation.h"
#include "tests/relacy/checker.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kStart = kFirstClock + 1;

// A record of two words that are equal when no write is under way.
class LockedRecord {
 public:
  LockedRecord() : lock_word_(lock_), record_words_(record_) {
    constexpr std::uint64_t kZeros[2] = {};
    StorePlain(record_, kZeros, sizeof kZeros);
  }

  SharedWord word() { return WordAt(lock_); }
  bool LockAsWriter(Timestamp timestamp, Owner owner) {
    const std::uint64_t mine = lock_word::OfWriter(timestamp, owner);
    return ChangeWord(OperationKind::kCompareSwap, lock_, mine, 0) == 0;
  }
  void UnlockAsWriter() {
    constexpr std::uint64_t kFree = 0;
    CopyToRegion(lock_, reinterpret_cast<const std::byte*>(&kFree), sizeof kFree);
  }
  void Read() {
    std::uint64_t record[2];
    LoadPlain(record, record_, sizeof record);
    RL_ASSERT(record[0] == record[1]);
  }
  void Write() {
    std::uint64_t record[2];
    LoadPlain(record, record_, sizeof record);
    RL_ASSERT(record[0] == record[1] && record[0] == writes_);
    ++writes_;
    for (std::uint64_t& word : record) ++word;
    StorePlain(record_, record, sizeof record);
  }

 private:
  alignas(kWordBytes) std::byte lock_[kWordBytes] = {};
  alignas(kWordBytes) std::byte record_[2 * kWordBytes] = {};
  checked::AtomicWords<1> lock_word_;
  checked::PlainWords<2> record_words_;
  std::uint64_t writes_ = 0;
};

// What every reader does. `timestamp` must not be older than the age of the word.
std::uint8_t ReadShared(LockedRecord& record, Timestamp timestamp, bool& joined) {
  std::uint8_t generation = 0;
  joined = lock_word::Join(record.word(), timestamp, generation) == 0;
  if (!joined) return 0;
  record.Read();
  const std::uint64_t word = record.word().load(std::memory_order_relaxed);
  RL_ASSERT(lock_word::OfReaders(word));
  RL_ASSERT(AgeDifference(lock_word::Age(word), AgeOf(timestamp)) <= 0);
  return generation;
}

// A writer, a reader, and a reader that becomes a writer if it is the only reader.
struct WriterAndReaders : rl::test_suite<WriterAndReaders, 3> {
  LockedRecord record;

  void thread(int index) {
    const auto number = static_cast<Owner>(index);
    const Timestamp timestamp = TimestampOf(kStart + number, number << kCoroutineBits);
    if (index == 0) {
      if (!record.LockAsWriter(timestamp, number)) return;
      record.Write();
      return record.UnlockAsWriter();
    }
    bool joined = false;
    const std::uint8_t generation = ReadShared(record, timestamp, joined);
    if (!joined) return;
    if (index == 2 && lock_word::Upgrade(record.word(), timestamp, number)) {
      record.Write();
      return record.UnlockAsWriter();
    }
    lock_word::Leave(record.word(), timestamp, generation);
  }
  void after() {
    RL_ASSERT(record.word().load() == 0);
    RL_ASSERT(record.LockAsWriter(TimestampOf(kStart, 0), 1));
    record.Write();
  }
};

// Readers of two generations. The age of the word stays at least as old as each of them.
struct Generations : rl::test_suite<Generations, 3> {
  LockedRecord record;

  void thread(int index) {
    const auto number = static_cast<Owner>(index);
    const std::uint64_t begun = kStart + number * lock_word::kGenerationUs;
    for (std::uint64_t time = 0; time < 2; ++time) {
      const Timestamp timestamp = TimestampOf(begun + time, number << kCoroutineBits);
      bool joined = false;
      const std::uint8_t generation = ReadShared(record, timestamp, joined);
      RL_ASSERT(joined);
      lock_word::Leave(record.word(), timestamp, generation);
    }
  }
  void after() { RL_ASSERT(record.word().load() == 0); }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  slimgraph::Checker checker(arguments, argument);
  checker.Check<slimgraph::txn::WriterAndReaders>("a writer and readers", {4, 1'000'000});
  checker.Check<slimgraph::txn::Generations>("generations of readers", {3, 500'000});
  return checker.Finish();
}
