// The guard against torn reads (guarded_read.h) and OCC's stages around it (occ_steps.h), with the
// copies and compare-and-swaps that the shared-memory transport executes.
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
  RegionPort port() { return {region_.bytes, sizeof region_.bytes}; }

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

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  slimgraph::Checker checker(arguments, argument);
  checker.Check<slimgraph::txn::WritersAndReader>("writers and a reader", {2, 500'000});
  checker.Check<slimgraph::txn::WriteSkew>("write skew", {2, 500'000});
  return checker.Finish();
}
