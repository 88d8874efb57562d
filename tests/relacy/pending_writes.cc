// TO's stages (to_steps.h): reads beside a pending write that is carried out or discarded are
// whole, and no older write comes after a read.
#include <cstring>

#include "tests/relacy/checker.h"
#include "tests/relacy/region_port.h"
#include "txnlayer/protocol/internal/to_steps.h"

namespace slimgraph::txn {
namespace {

using to_steps::kWords;

// The words, the key, and one version, which has a word and a record of two words.
struct Layout {
  static std::uint64_t key_at() { return kWords * kWordBytes; }
  static std::uint64_t version_at(std::size_t) { return key_at() + kWordBytes; }
  static std::uint64_t version_bytes() { return 3 * kWordBytes; }
  static std::uint64_t image_bytes() { return kWordBytes + version_bytes(); }
  static std::uint64_t time_bytes() { return 0; }
};
constexpr std::uint64_t kTupleWords = kWords + 4;
constexpr std::uint64_t kKey = 40;
constexpr Timestamp kFirst = 10;  // when each tuple was written at first, and its record's value

// What the stages use of an Access (stages/access.h).
struct CheckedAccess {
  CheckedAccess(std::uint64_t tuple, Timestamp its_timestamp)
      : offset(tuple * kTupleWords * kWordBytes), timestamp(its_timestamp) {}

  std::byte* version_bytes() { return reinterpret_cast<std::byte*>(words + 1); }
  void CheckKey() const { RL_ASSERT(words[0] == kKey); }
  // The record; its two words are equal.
  std::uint64_t Value() const {
    RL_ASSERT(words[2] == words[3]);
    return words[2];
  }
  void SetValue(std::uint64_t value) { words[2] = words[3] = value; }

  static constexpr Layout kLayout = {};
  const Layout* table = &kLayout;
  const std::uint64_t offset;
  const Timestamp timestamp;
  Timestamp seen_timestamp = 0;
  bool fetch = false;
  bool has_image = false;
  bool locked = false;
  std::uint8_t step = 0;
  std::uint64_t seen[kWords + 1] = {};
  std::uint64_t reread[kWords] = {};
  std::uint64_t old_word = 0;
  std::uint64_t put[2] = {};
  std::uint64_t words[4] = {};
  std::byte* image = reinterpret_cast<std::byte*>(words);
};

template <std::uint64_t kTuples>
class Tuples {
 public:
  Step::Kind Take(Stage stage, CheckedAccess& access) {
    RegionPort port(region_.bytes(), sizeof region_);
    to_steps::Post(stage, port, access);
    return to_steps::Check(stage, access).kind;
  }
  // All steps of a read, if nothing is in the way.
  bool Read(CheckedAccess& access) {
    Step::Kind step = Step::kMore;
    while (step == Step::kMore) step = Take(Stage::kRead, access);
    if (step != Step::kDone) return false;
    access.Value();
    return true;
  }
  // Makes a write pending, and reads the record if it has not been read.
  bool Lock(CheckedAccess& access) {
    access.fetch = !access.has_image;
    return Take(Stage::kLock, access) == Step::kDone;
  }
  void End(CheckedAccess& access, bool commits) {
    if (access.locked) Take(commits ? Stage::kCommit : Stage::kRelease, access);
  }
  bool Write(CheckedAccess& access, std::uint64_t value) {
    const bool good = Lock(access);
    if (good) access.SetValue(value);
    End(access, good);
    return good;
  }

 private:
  struct Region {
    Region() {
      for (std::uint64_t tuple = 0; tuple < kTuples; ++tuple) {
        std::uint64_t* const words = all + tuple * kTupleWords;
        words[to_steps::kWrittenWord] = kFirst;
        words[kWords] = kKey;
        words[kWords + 2] = words[kWords + 3] = kFirst;
      }
    }
    std::byte* bytes() { return reinterpret_cast<std::byte*>(all); }
    std::uint64_t all[kTuples * kTupleWords] = {};
  };
  Region region_;
  checked::AtomicWords<kTuples * kTupleWords> words_{region_.bytes()};
};

// A writer, and readers with those timestamps. A reader has seen what its place in their order
// says.
template <Timestamp... kTimestamps>
struct WriterAndReaders
    : rl::test_suite<WriterAndReaders<kTimestamps...>, 1 + sizeof...(kTimestamps)> {
  static constexpr Timestamp kWriter = 40;
  static constexpr Timestamp kReaders[] = {kTimestamps...};
  Tuples<1> tuple;
  bool written = false;
  std::uint64_t seen[sizeof...(kTimestamps)] = {};

  void thread(int index) {
    if (index == 0) {
      CheckedAccess access(0, kWriter);
      written = tuple.Write(access, kWriter);
      return;
    }
    CheckedAccess access(0, kReaders[index - 1]);
    if (tuple.Read(access)) seen[index - 1] = access.Value();
  }
  void after() {
    for (std::size_t reader = 0; reader < sizeof...(kTimestamps); ++reader) {
      if (seen[reader] == 0) continue;
      RL_ASSERT(seen[reader] == (written && kReaders[reader] > kWriter ? kWriter : kFirst));
    }
    CheckedAccess access(0, 100);
    RL_ASSERT(tuple.Read(access));
    RL_ASSERT(access.Value() == (written ? kWriter : kFirst));
  }
};

// Two transactions that add to a record, the second of which may read it first; and one that gives
// up its write.
struct Writers : rl::test_suite<Writers, 3> {
  Tuples<1> tuple;
  bool written[2] = {};

  void thread(int index) {
    CheckedAccess access(0, 20 + static_cast<Timestamp>(index));
    if (index == 2) {
      const bool good = tuple.Lock(access);
      if (good) access.SetValue(1000);
      tuple.End(access, false);
      return;
    }
    if (index == 1 && !tuple.Read(access)) return;
    const bool good = tuple.Lock(access);
    if (good) access.SetValue(access.Value() + 1);
    tuple.End(access, good);
    written[index] = good;
  }
  void after() {
    CheckedAccess access(0, 100);
    RL_ASSERT(tuple.Read(access));
    RL_ASSERT(access.Value() == kFirst + (written[0] ? 1 : 0) + (written[1] ? 1 : 0));
  }
};

// Each of two transactions reads both records, and writes its own if the other is unchanged. At
// most one may commit.
struct WriteSkew : rl::test_suite<WriteSkew, 2> {
  Tuples<2> tuples;
  bool written[2] = {};

  void thread(int index) {
    const auto number = static_cast<std::uint64_t>(index);
    CheckedAccess mine(number, 20 + number);
    CheckedAccess other(1 - number, 20 + number);
    const bool good = tuples.Lock(mine) && tuples.Read(other) && other.Value() == kFirst;
    if (good) mine.SetValue(20 + number);
    tuples.End(mine, good);
    written[index] = good;
  }
  void after() { RL_ASSERT(!written[0] || !written[1]); }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  using namespace slimgraph::txn;
  return CheckInBothOrders(arguments, argument, [](slimgraph::Checker& checker) {
    checker.Check<WriterAndReaders<30>>("a writer and an older reader", {3, 50'000});
    checker.Check<WriterAndReaders<50>>("a writer and a younger reader", {3, 50'000});
    checker.Check<WriterAndReaders<30, 60>>("a writer and readers", {2, 150'000});
    checker.Check<WriterAndReaders<50, 60>>("a writer and young readers", {2, 150'000});
    checker.Check<Writers>("writers", {2, 150'000});
    checker.Check<WriteSkew>("write skew", {2, 150'000});
  });
}
