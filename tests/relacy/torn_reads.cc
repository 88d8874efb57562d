// The guard against torn reads (guarded_read.h) and OCC's stages around it (occ_steps.h), with the
// copies and compare-and-swaps that the shared-memory transport executes.
#include "txnlayer/protocol/internal/occ_steps.h"

#include "slimgraph/fabric/internal/execute_operation.h"
#include "tests/relacy/checker.h"

namespace slimgraph::txn {
namespace {

// A tuple of OCC: its word, its key, and one version, which has a word and a record of two words.
struct TupleLayout {
  static std::uint64_t key_at() { return kWordBytes; }
  static std::uint64_t version_at(std::size_t) { return 2 * kWordBytes; }
  static std::uint64_t version_bytes() { return 3 * kWordBytes; }
  static std::uint64_t image_bytes() { return 4 * kWordBytes; }
};
constexpr std::size_t kTupleWords = 5;
constexpr std::uint64_t kNumTuples = 2;
constexpr std::uint64_t kFirstKey = 40;

// What the stages use of an Access (stages/access.h).
struct CheckedAccess {
  CheckedAccess(std::uint64_t tuple, Owner its_owner)
      : offset(tuple * kTupleWords * kWordBytes), key(kFirstKey + tuple), owner(its_owner) {}

  std::byte* version_bytes() { return image + kWordBytes; }
  void CheckKey() const { RL_ASSERT(Word(0) == key); }
  std::uint64_t Word(std::size_t word) const {
    std::uint64_t value;
    std::memcpy(&value, image + word * kWordBytes, sizeof value);
    return value;
  }
  // The record; its two words are equal.
  std::uint64_t Value() const {
    RL_ASSERT(Word(2) == Word(3));
    return Word(2);
  }
  void SetValue(std::uint64_t value) {
    for (const std::size_t word : {2, 3}) {
      std::memcpy(image + word * kWordBytes, &value, sizeof value);
    }
  }

  static constexpr TupleLayout kLayout = {};
  const TupleLayout* table = &kLayout;
  const std::uint64_t offset;
  const std::uint64_t key;
  const Owner owner;
  bool absent = false;
  bool has_image = false;
  bool locked = false;
  std::uint64_t seen[1] = {};
  std::uint64_t reread[1] = {};
  std::uint64_t old_word = 0;
  std::uint64_t put[1] = {};
  std::byte image[4 * kWordBytes] = {};
};

// Executes operations on the tuples at once, as the shared-memory transport does.
class RegionPort {
 public:
  explicit RegionPort(std::byte* region) : region_(region) {}

  void Read(const CheckedAccess& access, std::uint64_t at, std::uint64_t bytes, void* into) {
    Operation operation{.kind = OperationKind::kRead, .offset = access.offset + at};
    operation.local = static_cast<std::byte*>(into);
    operation.length = bytes;
    Execute(operation);
  }
  void Write(const CheckedAccess& access, std::uint64_t at, std::uint64_t bytes, void* from) {
    Operation operation{.kind = OperationKind::kWrite, .offset = access.offset + at};
    operation.local = static_cast<std::byte*>(from);
    operation.length = bytes;
    Execute(operation);
  }
  void CompareSwap(const CheckedAccess& access, std::uint64_t at, std::uint64_t expected,
                   std::uint64_t desired, std::uint64_t* old_word) {
    Operation operation{.kind = OperationKind::kCompareSwap, .offset = access.offset + at};
    operation.local = reinterpret_cast<std::byte*>(old_word);
    operation.length = kWordBytes;
    operation.operand = desired;
    operation.expected = expected;
    Execute(operation);
  }
  void Unlock(const CheckedAccess& access, std::uint64_t at, std::uint64_t /*held*/,
              std::uint64_t& to) {
    Write(access, at, kWordBytes, &to);
  }

 private:
  void Execute(const Operation& operation) {
    constexpr std::uint64_t kBytes = kNumTuples * kTupleWords * kWordBytes;
    RL_ASSERT(ExecuteOperation(operation, region_, kBytes) == Outcome::kOk);
  }

  std::byte* region_;
};

class Tuples {
 public:
  // The stage of one access, and its check.
  Step::Kind Take(Stage stage, CheckedAccess& access) {
    RegionPort port(region_.bytes);
    occ_steps::Post(stage, port, access);
    return occ_steps::Check(stage, access).kind;
  }
  bool Read(CheckedAccess& access) {
    if (Take(Stage::kRead, access) != Step::kDone) return false;
    access.Value();
    return true;
  }

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
    CheckedAccess access(0, owner);
    if (!tuples.Read(access)) return;
    CheckCount(access);
    if (index == 2) return;
    if (tuples.Take(Stage::kLock, access) != Step::kDone) return;
    access.SetValue(access.Value() + 1);
    tuples.Take(Stage::kCommit, access);
    ++written[index];
  }
  void after() {
    CheckedAccess access(0, 0);
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
    CheckedAccess mine(number, static_cast<Owner>(index + 1));
    CheckedAccess other(1 - number, static_cast<Owner>(index + 1));
    if (!tuples.Read(other) || other.Value() != 0 || !tuples.Read(mine)) return;
    if (tuples.Take(Stage::kLock, mine) != Step::kDone) return;
    const bool valid = tuples.Take(Stage::kValidate, other) == Step::kDone;
    if (valid) mine.SetValue(1);
    tuples.Take(valid ? Stage::kCommit : Stage::kRelease, mine);
  }
  void after() {
    std::uint64_t sum = 0;
    for (std::uint64_t tuple = 0; tuple < kNumTuples; ++tuple) {
      CheckedAccess access(tuple, 0);
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
