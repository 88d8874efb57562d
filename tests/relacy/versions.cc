// MVCC's stages (mvcc_steps.h): a read of a version is whole while a writer replaces the oldest
// one, and no older write comes after a read. With read timestamps, a transaction that only reads
// finds the version of its time in the tuple, or among those that writers have kept.
#include "txnlayer/protocol/internal/mvcc_steps.h"

#include "tests/relacy/checker.h"
#include "tests/relacy/region_port.h"

namespace slimgraph::txn {
namespace {

using mvcc_steps::kFirstWriteWord;
using mvcc_steps::kOlderWord;
using mvcc_steps::kVersions;

constexpr std::uint64_t kRecordWords = 2;
constexpr std::uint64_t kVersionWords = 1 + kRecordWords;
constexpr std::uint64_t kKeyWord = kOlderWord + 1;
constexpr std::uint64_t kTupleWords = kKeyWord + 1 + kVersions * kVersionWords;
// Room for kept versions, behind the tuples: the time, the link and the record.
constexpr std::uint64_t kKeptWords = 2 + kRecordWords;
constexpr std::uint64_t kMostKept = 4;
constexpr std::uint64_t kKey = 40;

struct VersionsLayout {
  static std::uint64_t key_at() { return kKeyWord * kWordBytes; }
  static bool keeps_versions() { return true; }
  static std::uint64_t version_at(std::size_t version) {
    return (kKeyWord + 1 + version * kVersionWords) * kWordBytes;
  }
  static std::uint64_t version_bytes() { return kVersionWords * kWordBytes; }
};

// What the stages use of an Access (stages/access.h).
struct VersionAccess {
  VersionAccess(std::uint64_t tuple, Timestamp its_timestamp)
      : offset(tuple * kTupleWords * kWordBytes), timestamp(its_timestamp) {}

  std::byte* version_bytes() { return reinterpret_cast<std::byte*>(version_words); }
  static void CheckKey(std::uint64_t key) { RL_ASSERT(key == kKey); }
  // The record; its two words are equal.
  std::uint64_t Value() const {
    RL_ASSERT(version_words[1] == version_words[2]);
    return version_words[1];
  }
  void SetValue(std::uint64_t value) { version_words[1] = version_words[2] = value; }

  static constexpr VersionsLayout kLayout = {};
  const VersionsLayout* table = &kLayout;
  const std::uint64_t offset;
  const Timestamp timestamp;
  Timestamp seen_timestamp = 0;
  bool has_image = false;
  bool write = false;
  bool locked = false;
  std::uint8_t step = 0;
  std::uint8_t version = 0;
  std::uint64_t seen[kKeyWord + 1] = {};
  std::uint64_t reread[kKeyWord] = {};
  std::uint64_t old_word = 0;
  VersionLink kept_at = kNotKept;  // a writer's own place
  std::uint64_t kept[kKeptWords] = {};
  std::uint64_t put[2] = {};
  std::uint64_t version_words[kVersionWords] = {};
};

// Keeps versions in the region. They are not replaced here, so nothing needs a checksum.
class KeepingPort : public RegionPort {
 public:
  using RegionPort::RegionPort;
  void KeepVersion(const VersionAccess& access, const ReplacedVersion* version) {
    std::uint64_t own[kKeptWords] = {version->written, version->older};
    std::uint64_t record[kVersionWords];
    Read(access, VersionsLayout::version_at(version->place), sizeof record, record);
    std::copy_n(record + 1, kRecordWords, own + 2);
    Write(access, access.kept_at - access.offset, sizeof own, own);
  }
  void ReadKept(VersionAccess& access) {
    Read(access, access.kept_at - access.offset, sizeof access.kept, access.kept);
  }
};

// As those of stages/read_at.h.
Step BeginChain(VersionAccess& access, VersionLink link, std::uint64_t /*count*/) {
  RL_ASSERT(link > kNotKept);
  access.kept_at = link;
  return Step::More();
}
Step TakeKept(VersionAccess& access) {
  if (access.kept[0] > access.timestamp) return BeginChain(access, access.kept[1], 0);
  std::copy_n(access.kept + 2, kRecordWords, access.version_words + 1);
  return Step::Done();
}

// Tuples that have been written at the times 10, 20, 30 and 40. A record's value is its time.
template <std::uint64_t kTuples>
class Tuples {
 public:
  static constexpr Timestamp kOldest = 10;
  static constexpr Timestamp kYoungest = kVersions * kOldest;

  Step::Kind Take(Stage stage, VersionAccess& access) {
    KeepingPort port(region_.bytes(), sizeof region_);
    mvcc_steps::Post(stage, port, access);
    return mvcc_steps::Check(stage, access).kind;
  }
  // All steps of a read, if nothing is in the way.
  bool Read(VersionAccess& access) {
    Step::Kind step = Step::kMore;
    while (step == Step::kMore) step = Take(Stage::kRead, access);
    if (step != Step::kDone) return false;
    access.Value();
    return true;
  }
  // The same at a time, which never fails.
  void ReadAt(VersionAccess& access) {
    while (Take(Stage::kReadAt, access) != Step::kDone) rl::ctx().yield(1, RL_INFO);
    access.Value();
  }
  // Where a writer keeps the version that it replaces.
  static VersionLink RoomFor(std::uint64_t writer) {
    return (kTuples * kTupleWords + writer * kKeptWords) * kWordBytes;
  }
  // After a read.
  bool Write(VersionAccess& access, std::uint64_t value, std::uint64_t writer = 0) {
    access.kept_at = RoomFor(writer);
    const bool good = Lock(access);
    if (good) access.SetValue(value);
    End(access, good);
    return good;
  }
  bool Lock(VersionAccess& access) { return Take(Stage::kLock, access) == Step::kDone; }
  void End(VersionAccess& access, bool commits) {
    if (access.locked) Take(commits ? Stage::kCommit : Stage::kRelease, access);
  }

 private:
  struct Region {
    Region() {
      for (std::uint64_t tuple = 0; tuple < kTuples; ++tuple) {
        std::uint64_t* const words = all + tuple * kTupleWords;
        words[kKeyWord] = kKey;
        for (std::size_t version = 0; version < kVersions; ++version) {
          const std::uint64_t time = (version + 1) * kOldest;
          words[kFirstWriteWord + version] = time;
          std::uint64_t* const record = words + kKeyWord + 2 + version * kVersionWords;
          record[0] = record[1] = time;
        }
      }
    }
    std::byte* bytes() { return reinterpret_cast<std::byte*>(all); }
    std::uint64_t all[kTuples * kTupleWords + kMostKept * kKeptWords] = {};
  };
  Region region_;
  checked::AtomicWords<kTuples * kTupleWords + kMostKept * kKeptWords> words_{region_.bytes()};
};

// A writer replaces the oldest version. An old transaction reads that version. A transaction that
// is younger than the writer reads too: if it misses the write, the writer must abort.
struct WriterAndReaders : rl::test_suite<WriterAndReaders, 3> {
  using One = Tuples<1>;
  static constexpr Timestamp kOld = One::kOldest + 5;
  static constexpr Timestamp kWriter = One::kYoungest + 10;
  static constexpr Timestamp kYoung = One::kYoungest + 20;
  One tuple;
  bool written = false;
  bool missed = false;

  void thread(int index) {
    const Timestamp timestamp = index == 0 ? kWriter : index == 1 ? kOld : kYoung;
    VersionAccess access(0, timestamp);
    if (!tuple.Read(access)) return;
    if (index == 0) {
      RL_ASSERT(access.Value() == One::kYoungest);
      written = tuple.Write(access, kWriter);
    } else if (index == 1) {
      RL_ASSERT(access.Value() == One::kOldest);
    } else {
      missed = access.Value() == One::kYoungest;
      RL_ASSERT(missed || access.Value() == kWriter);
    }
  }
  void after() {
    RL_ASSERT(!written || !missed);
    VersionAccess access(0, 2 * kYoung);
    RL_ASSERT(tuple.Read(access));
    RL_ASSERT(access.Value() == (written ? kWriter : One::kYoungest));
  }
};

// Two transactions that are younger than a writer read, so that one may have to mark its read again
// after the other. If one of them misses the write, the writer must abort.
struct WriterAndYoungReaders : rl::test_suite<WriterAndYoungReaders, 3> {
  using One = Tuples<1>;
  static constexpr Timestamp kWriter = One::kYoungest + 10;
  One tuple;
  bool written = false;
  bool missed[3] = {};

  void thread(int index) {
    VersionAccess access(0, kWriter + 10 * static_cast<Timestamp>(index));
    if (!tuple.Read(access)) return;
    if (index == 0) {
      written = tuple.Write(access, kWriter);
    } else {
      missed[index] = access.Value() == One::kYoungest;
    }
  }
  void after() { RL_ASSERT(!written || (!missed[1] && !missed[2])); }
};

// A thread writes twice, and so replaces the two oldest versions. A transaction that only reads is
// so old that it wants the first of them, or it is younger than the first writer: then it sees what
// that one has written, or that writer must abort.
template <bool kIsOld>
struct WriterAndReaderAtATime : rl::test_suite<WriterAndReaderAtATime<kIsOld>, 2> {
  using One = Tuples<1>;
  static constexpr Timestamp kFirst = One::kYoungest + 10;
  static constexpr Timestamp kSecond = One::kYoungest + 30;
  static constexpr Timestamp kReader = kIsOld ? One::kOldest + 5 : kFirst + 10;
  One tuple;
  bool written = false;
  bool missed = false;

  void thread(int index) {
    if (index == 1) return Read();
    for (const Timestamp timestamp : {kFirst, kSecond}) {
      VersionAccess access(0, timestamp);
      if (!tuple.Read(access)) continue;
      const bool good = tuple.Write(access, timestamp, timestamp == kFirst ? 0 : 1);
      if (timestamp == kFirst) written = good;
    }
  }
  void after() {
    RL_ASSERT(!written || !missed);
    Read();
  }
  void Read() {
    VersionAccess access(0, kReader);
    tuple.ReadAt(access);
    missed = access.Value() == One::kYoungest;
    RL_ASSERT(access.Value() == (kIsOld ? One::kOldest : kFirst) || (missed && !kIsOld));
  }
};

// Each of two transactions reads both records, and writes its own if the other is unchanged. At
// most one may commit.
struct WriteSkew : rl::test_suite<WriteSkew, 2> {
  using Two = Tuples<2>;
  Two tuples;
  bool written[2] = {};

  void thread(int index) {
    const auto number = static_cast<std::uint64_t>(index);
    const Timestamp timestamp = Two::kYoungest + 10 + number;
    VersionAccess mine(number, timestamp);
    VersionAccess other(1 - number, timestamp);
    if (!tuples.Read(other) || other.Value() != Two::kYoungest || !tuples.Read(mine)) return;
    written[index] = tuples.Write(mine, timestamp);
  }
  void after() { RL_ASSERT(!written[0] || !written[1]); }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  using namespace slimgraph::txn;
  return CheckInBothOrders(arguments, argument, [](slimgraph::Checker& checker) {
    checker.Check<WriterAndReaders>("a writer and readers", {2, 150'000});
    checker.Check<WriterAndYoungReaders>("young readers", {2, 150'000});
    checker.Check<WriterAndReaderAtATime<true>>("an old reader at a time", {2, 150'000});
    checker.Check<WriterAndReaderAtATime<false>>("a young reader at a time", {2, 150'000});
    checker.Check<WriteSkew>("write skew", {2, 150'000});
  });
}
