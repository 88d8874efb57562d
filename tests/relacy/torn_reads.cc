// The guards against torn reads (guarded_read.h) and OCC's stages around one (occ_steps.h), with
// the copies and compare-and-swaps that the shared-memory transport executes.
#include "tests/relacy/checker.h"
#include "tests/relacy/occ_tuples.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kNumTuples = 2;
constexpr std::uint64_t kFirstKey = 40;

class Tuples {
 public:
  static CheckedAccess AccessOf(std::uint64_t tuple, Owner owner) {
    return {tuple * kTupleWords * kWordBytes, kFirstKey + tuple, owner};
  }
  Step::Kind Take(Stage stage, CheckedAccess& access) { return TakeStage(stage, port(), access); }
  bool Read(CheckedAccess& access) { return ReadTuple(port(), access); }
  RegionPort port() { return {region_.bytes, sizeof region_.bytes}; }

 private:
  struct Region {
    Region() {
      for (std::uint64_t tuple = 0; tuple < kNumTuples; ++tuple) {
        const std::uint64_t words[2] = {sequence_word::kFirst, kFirstKey + tuple};
        std::memcpy(bytes + tuple * kTupleWords * kWordBytes, words, sizeof words);
      }
    }
    alignas(kWordBytes) std::byte bytes[kNumTuples * kTupleWords * kWordBytes] = {};
  };

  Region region_;
  checked::AtomicWords<kNumTuples * kTupleWords> words_{region_.bytes};
};

// Two writers that add to a record, and give up if they fail to lock it, and a reader. A reader
// that succeeds has seen a whole record, and as many writes as the word counts.
struct WritersAndReader : rl::test_suite<WritersAndReader, 3> {
  Tuples tuples;
  std::uint64_t written[2] = {};

  static void CheckCount(const CheckedAccess& access) {
    RL_ASSERT(access.Value() == access.seen[0] - sequence_word::kFirst);
  }
  void thread(int index) {
    const auto owner = static_cast<Owner>(index + 1);
    CheckedAccess access = Tuples::AccessOf(0, owner);
    if (!tuples.Read(access)) return;
    CheckCount(access);
    if (index == 2) return;
    if (tuples.Take(Stage::kLock, access) != Step::kDone) return;
    access.SetValue(access.Value() + 1);
    tuples.Take(Stage::kCommit, access);
    ++written[index];
  }
  void after() {
    CheckedAccess access = Tuples::AccessOf(0, 0);
    RL_ASSERT(tuples.Read(access));
    CheckCount(access);
    RL_ASSERT(access.Value() == written[0] + written[1]);
  }
};

// Each of two transactions reads both records, and sets its own to 1 if the other's is 0. At most
// one may commit: the second in a serial order sees a 1.
struct WriteSkew : rl::test_suite<WriteSkew, 2> {
  Tuples tuples;

  void thread(int index) {
    const auto number = static_cast<std::uint64_t>(index);
    CheckedAccess mine = Tuples::AccessOf(number, static_cast<Owner>(index + 1));
    CheckedAccess other = Tuples::AccessOf(1 - number, static_cast<Owner>(index + 1));
    if (!tuples.Read(other) || other.Value() != 0 || !tuples.Read(mine)) return;
    if (tuples.Take(Stage::kLock, mine) != Step::kDone) return;
    const bool valid = tuples.Take(Stage::kValidate, other) == Step::kDone;
    if (valid) mine.SetValue(1);
    tuples.Take(valid ? Stage::kCommit : Stage::kRelease, mine);
  }
  void after() {
    std::uint64_t sum = 0;
    for (std::uint64_t tuple = 0; tuple < kNumTuples; ++tuple) {
      CheckedAccess access = Tuples::AccessOf(tuple, 0);
      RL_ASSERT(tuples.Read(access));
      sum += access.Value();
    }
    RL_ASSERT(sum <= 1);
  }
};

// Two writers that lock as under NOWAIT, and a reader without a lock. The version's word counts the
// writes, and the record is equal to it.
struct UnlockedReader : rl::test_suite<UnlockedReader, 3> {
  Tuples tuples;
  std::uint64_t written[2] = {};

  UnlockedReader() {
    const std::uint64_t free = 0;
    tuples.port().Write(Tuples::AccessOf(0, 0), 0, kWordBytes, &free);
  }
  bool Read(CheckedAccess& access) {
    RegionPort port = tuples.port();
    PostUnlockedRead(port, access);
    if (!UnlockedReadIsWhole(access, [](std::uint64_t word) { return word != 0; })) return false;
    RL_ASSERT(access.Value() == access.Word(1));
    return true;
  }
  void thread(int index) {
    CheckedAccess access = Tuples::AccessOf(0, static_cast<Owner>(index + 1));
    if (index == 2) {
      Read(access);
      return;
    }
    RegionPort port = tuples.port();
    port.CompareSwap(access, 0, 0, access.owner, &access.old_word);
    if (access.old_word != 0) return;
    const auto& table = *access.table;
    port.Read(access, table.key_at(), table.image_bytes(), access.image);
    access.SetValue(access.Value() + 1);
    access.SetWord(access.Value());
    port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
    port.Unlock(access, 0, access.owner, access.put[0]);
    ++written[index];
  }
  void after() {
    CheckedAccess access = Tuples::AccessOf(0, 1);
    RL_ASSERT(Read(access));
    RL_ASSERT(access.Value() == written[0] + written[1]);
  }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  using namespace slimgraph::txn;
  return CheckInBothOrders(arguments, argument, [](slimgraph::Checker& checker) {
    checker.Check<WritersAndReader>("writers and a reader", {2, 250'000});
    checker.Check<WriteSkew>("write skew", {2, 250'000});
    checker.Check<UnlockedReader>("writers and a reader without a lock", {2, 250'000});
  });
}
