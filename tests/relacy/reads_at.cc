// Reads at a time (stages/read_at_steps.h), at home and from another node, beside writers that
// leave their commit times and look at those of readers (protocol/internal/times.h).
#include <algorithm>
#include <optional>

#include "tests/relacy/checker.h"
#include "tests/relacy/region_port.h"
#include "txnlayer/internal/stages/read_at_steps.h"
#include "txnlayer/protocol/internal/times.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kKey = 40;
constexpr Timestamp kFirst = 1;  // when the tuple was written at first, and its record's value

// The lock, the times, the key, and one version, which has a word and a record of two words.
struct Layout {
  static std::uint64_t time_at(TimeWord word) {
    return (1 + static_cast<std::uint64_t>(word)) * kWordBytes;
  }
  static std::uint64_t key_at() { return (1 + kTimeWords) * kWordBytes; }
  static std::uint64_t version_at(std::size_t) { return key_at() + kWordBytes; }
  static std::uint64_t version_bytes() { return 3 * kWordBytes; }
  static std::uint64_t image_bytes() { return kWordBytes + version_bytes(); }
  static std::uint64_t time_bytes() { return kTimeBytes; }
  static bool leaves_times() { return true; }
};
constexpr std::uint64_t kTupleWords = 1 + kTimeWords + 4;

// What the steps use of an Access (stages/access.h).
struct CheckedAccess {
  explicit CheckedAccess(Timestamp its_timestamp = 0) : timestamp(its_timestamp) {}

  std::byte* version_bytes() { return image + kWordBytes; }
  Timestamp& time(TimeWord word) { return seen[static_cast<std::size_t>(word)]; }
  // The record; its two words are equal.
  std::uint64_t Value() const {
    RL_ASSERT(words[kTimeWords + 2] == words[kTimeWords + 3]);
    return words[kTimeWords + 2];
  }
  void SetValue(std::uint64_t value) { words[kTimeWords + 2] = words[kTimeWords + 3] = value; }

  static constexpr Layout kLayout = {};
  const Layout* table = &kLayout;
  const std::uint64_t offset = 0;
  const std::uint64_t key = kKey;
  const Timestamp timestamp;
  Timestamp commit_timestamp = 0;
  VersionLink kept_at = kNotKept;
  bool has_image = false;
  std::uint8_t step = 0;
  Timestamp seen[kTimeWords] = {};
  std::uint64_t reread[4] = {};
  std::uint64_t old_word = 0;
  std::uint64_t put = 0;
  // With room for the times before the image.
  std::uint64_t words[kTimeWords + 4] = {};
  std::byte* image = reinterpret_cast<std::byte*>(words + kTimeWords);
};

// The older versions themselves are not part of the check.
class KeepingPort : public RegionPort {
 public:
  using RegionPort::RegionPort;
  void KeepVersion(const CheckedAccess&) {}
};

// A writer that commits twice, and readers.
template <bool kAfar, int kReaders>
struct WriterAndReaders : rl::test_suite<WriterAndReaders<kAfar, kReaders>, kReaders + 1> {
  static constexpr Timestamp kTimes[] = {3, 2};  // of the readers

  struct Region {
    Region() {
      std::uint64_t words[kTupleWords] = {};
      words[1 + static_cast<std::size_t>(TimeWord::kWritten)] = kFirst;
      words[1 + kTimeWords] = kKey;
      words[kTupleWords - 2] = words[kTupleWords - 1] = kFirst;
      std::memcpy(bytes, words, sizeof bytes);
    }
    alignas(kWordBytes) std::byte bytes[kTupleWords * kWordBytes];
  };
  Region region;
  checked::AtomicWords<kTupleWords> words{region.bytes};
  Timestamp commits[2] = {};
  std::optional<Timestamp> read[kReaders];  // the time of the version that each reader has found

  KeepingPort port() { return {region.bytes, sizeof region.bytes}; }

  void Write(Timestamp& commit) {
    CheckedAccess access;
    KeepingPort port = this->port();
    port.CompareSwap(access, 0, 0, 1, &access.old_word);
    RL_ASSERT(access.old_word == 0);
    times::PostRead(port, access);
    const Layout& table = *access.table;
    port.Read(access, table.time_at(TimeWord::kWritten), kWordBytes,
              &access.time(TimeWord::kWritten));
    commit = 1 + std::max({access.time(TimeWord::kClaimed), access.time(TimeWord::kMarked),
                           access.time(TimeWord::kWritten)});
    access.commit_timestamp = commit;
    access.SetValue(commit);
    times::PostReplace(port, access);
    port.Unlock(access, 0, 1, access.put);
  }

  void Read(Timestamp timestamp, std::optional<Timestamp>& found) {
    const auto free = [](std::uint64_t word) { return word == 0; };
    CheckedAccess access(timestamp);
    if (kAfar) {
      KeepingPort port = this->port();
      Step::Kind step = Step::kMore;
      for (int tries = 0; tries < 3 && step == Step::kMore; ++tries) {
        read_at_steps::Post(port, access);
        if (access.step == read_at_steps::kTake) {
          step = read_at_steps::CheckTake(access, free).kind;
        }
        access.step = read_at_steps::kTake;
      }
      if (step != Step::kDone) return;
    } else if (!read_at_steps::ReadHere(region.bytes, access, free)) {
      return;
    }
    RL_ASSERT(access.Value() == access.time(TimeWord::kWritten));
    found = access.Value();
  }

  void thread(int index) {
    if (index == kReaders) {
      for (Timestamp& commit : commits) Write(commit);
    } else {
      Read(kTimes[index], read[index]);
    }
  }
  // What a reader has found is the last version up to its time, or there are later ones only.
  void after() {
    for (int reader = 0; reader < kReaders; ++reader) {
      if (!read[reader]) continue;
      for (const Timestamp commit : commits) {
        RL_ASSERT(commit <= *read[reader] || commit > kTimes[reader]);
      }
    }
  }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  using namespace slimgraph::txn;
  return CheckInBothOrders(arguments, argument, [](slimgraph::Checker& checker) {
    checker.Check<WriterAndReaders<false, 1>>("a reader at home", {3, 100'000});
    checker.Check<WriterAndReaders<false, 2>>("two readers at home", {1, 100'000});
    checker.Check<WriterAndReaders<true, 1>>("a reader from afar", {3, 100'000});
    checker.Check<WriterAndReaders<true, 2>>("two readers from afar", {1, 100'000});
  });
}
