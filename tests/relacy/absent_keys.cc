// Buckets of a table (store/buckets.h): a lookup beside an insertion finds a whole tuple or none.
// OCC validates the absence of a key by its bucket's count of changes (occ.h).
#include "txnlayer/internal/store/buckets.h"

#include "tests/relacy/checker.h"
#include "tests/relacy/occ_tuples.h"

namespace slimgraph::txn {
namespace {

// The region of a table: a bucket, one that it may overflow into, and places for tuples.
class SmallTable {
 public:
  static constexpr std::uint64_t kOverflowAt = sizeof(Bucket);
  static constexpr std::uint64_t kTuplesAt = 2 * sizeof(Bucket);
  static constexpr std::uint64_t kTupleBytes = kCacheLineBytes;

  static std::uint64_t TupleAt(std::uint64_t place) { return kTuplesAt + place * kTupleBytes; }
  BucketChain chain() { return {region_, 0}; }
  RegionPort port() { return {region_, sizeof region_}; }

  // What Table::FindOrInsert does under its lock.
  void Insert(std::uint64_t key, std::uint64_t place) {
    const std::uint64_t words[] = {sequence_word::kFirst, key};
    StoreWords(region_ + TupleAt(place), reinterpret_cast<const std::byte*>(words), sizeof words);
    RL_ASSERT(chain().Link(
        chain().FindSpot(key), key, TupleAt(place), [] {}, [] { return kOverflowAt; }, [] {}));
  }
  // What Access::Find does for a tuple that is only read.
  bool FindOrAbsent(CheckedAccess& access) {
    const std::uint64_t changes = chain().changes();
    access.offset = chain().Find(access.key);
    if (access.offset != 0) return true;
    if (changes % 2 != 0) return false;
    access.absent = true;
    access.offset = offsetof(Bucket, changes);
    access.seen[0] = changes;
    return true;
  }
  // What the home knows of a key: whether it has a tuple, which must be that of the key.
  bool Has(std::uint64_t key) {
    const std::uint64_t offset = chain().Find(key);
    if (offset == 0) return false;
    std::uint64_t found;
    LoadWords(reinterpret_cast<std::byte*>(&found), region_ + offset + kWordBytes, sizeof found);
    RL_ASSERT(found == key);
    return true;
  }

 private:
  static constexpr std::size_t kBytes = kTuplesAt + 3 * kTupleBytes;
  alignas(kCacheLineBytes) std::byte region_[kBytes] = {};
  checked::AtomicWords<kBytes / kWordBytes> words_{region_};
};

// Lookups beside the insertion of three keys. The third begins a new bucket, and the first is 0.
struct Lookups : rl::test_suite<Lookups, 2> {
  static constexpr std::uint64_t kKeys[] = {0, 50, 60};
  SmallTable table;

  void before() {
    for (std::uint64_t key = 1; key + 2 <= Bucket::kSlots; ++key) table.Insert(key, 2);
  }
  void thread(int index) {
    if (index == 0) {
      for (std::uint64_t place = 0; place < 3; ++place) table.Insert(kKeys[place], place);
      return;
    }
    for (int round = 0; round < 2; ++round) {
      const std::uint64_t changes = table.chain().changes();
      const bool third = table.Has(kKeys[2]);
      const bool second = table.Has(kKeys[1]);
      RL_ASSERT(second || !third);
      RL_ASSERT(table.Has(kKeys[0]) || !second);
      const std::uint64_t inserted = changes / 2 - (Bucket::kSlots - 2);
      RL_ASSERT(inserted < 3 || third);
    }
  }
};

// One transaction reads that a key is absent, and sets a record to 1. Another inserts the key and
// sets its record to 1, if the first record is 0. At most one may commit.
struct AbsenceSkew : rl::test_suite<AbsenceSkew, 2> {
  static constexpr std::uint64_t kPresent = 7;
  static constexpr std::uint64_t kAbsent = 9;
  SmallTable table;

  void before() { table.Insert(kPresent, 0); }
  void thread(int index) {
    const auto owner = static_cast<Owner>(index + 1);
    CheckedAccess present(SmallTable::TupleAt(0), kPresent, owner);
    CheckedAccess absent(0, kAbsent, owner);
    if (index == 0) {
      if (!table.FindOrAbsent(absent)) return;
      if (!absent.absent && (!ReadTuple(table.port(), absent) || absent.Value() != 0)) return;
      if (ReadTuple(table.port(), present)) SetToOne(present, absent);
    } else {
      if (!ReadTuple(table.port(), present) || present.Value() != 0) return;
      table.Insert(kAbsent, 1);
      absent.offset = SmallTable::TupleAt(1);
      if (ReadTuple(table.port(), absent)) SetToOne(absent, present);
    }
  }
  void SetToOne(CheckedAccess& mine, CheckedAccess& other) {
    if (TakeStage(Stage::kLock, table.port(), mine) != Step::kDone) return;
    const bool valid = TakeStage(Stage::kValidate, table.port(), other) == Step::kDone;
    if (valid) mine.SetValue(1);
    TakeStage(valid ? Stage::kCommit : Stage::kRelease, table.port(), mine);
  }
  void after() {
    std::uint64_t sum = 0;
    for (const std::uint64_t key : {kPresent, kAbsent}) {
      if (!table.Has(key)) continue;
      CheckedAccess access(table.chain().Find(key), key, 0);
      RL_ASSERT(ReadTuple(table.port(), access));
      sum += access.Value();
    }
    RL_ASSERT(sum <= 1);
  }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  using namespace slimgraph::txn;
  return CheckInBothOrders(arguments, argument, [](slimgraph::Checker& checker) {
    checker.Check<Lookups>("lookups beside insertions", {2, 150'000});
    checker.Check<AbsenceSkew>("an absent key", {3, 250'000});
  });
}
