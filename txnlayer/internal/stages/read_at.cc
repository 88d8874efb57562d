#include "txnlayer/internal/stages/read_at.h"

#include <algorithm>
#include <utility>

namespace slimgraph::txn {
namespace {

void SetNoRecord(Access& access) {
  std::memset(access.version_bytes(), 0, access.table->version_bytes());
  access.has_image = true;
}

// Searches for the tuple. If there is none, leaves the transaction's time for the absent key.
// False: the key's chain has changed meanwhile.
bool FindOrClaimAbsence(Access& access) {
  const Table& table = *access.table;
  const std::uint64_t changes = table.ChangesOf(access.key, access.rank);
  access.offset = table.Find(access.key, access.rank);
  if (access.offset != 0) return true;
  if (table.leaves_times()) {
    RaiseTo(WordAt(access.memory() + table.AbsenceAt(access.key)), access.timestamp);
  }
  return changes % 2 == 0 && table.ChangesOf(access.key, access.rank) == changes;
}

// Looks at the kept version in access.kept, from the place access.kept_at, of a chain that begins
// after the transaction's time: takes it, or goes on to the one before. The first of the chain may
// be the tuple's version, or even a later one, if the link was read later than the version's time.
Step TakeKept(Access& access) {
  const KeptVersion& kept = access.kept;
  const std::uint64_t bytes = OldVersions::KeptBytes(access.table->image_bytes());
  if (!kept.IsWhole(bytes, access.kept_at) || kept.key() != access.key) {
    return Step::Abort(AbortReason::kNoVersion);
  }
  // Each write counts one more. Otherwise another version of the same record has come there late.
  const std::uint64_t next = WordOfVersion(kept.version()) / kOneWrite + 1;
  if (access.first_kept ? next < access.count_before : next != access.count_before) {
    return Step::Abort(AbortReason::kNoVersion);
  }
  access.count_before = next - 1;
  access.first_kept = false;
  if (!access.Sees(kept.written())) {
    access.kept_at = kept.older();
    return Step::More();
  }
  std::memcpy(access.version_bytes(), kept.version(), access.table->version_bytes());
  access.has_image = true;
  return Step::Done();
}

// Whether the chain has ended at access.kept_at: there was no record, or no version was kept.
std::optional<Step> EndOfChain(Access& access) {
  if (access.kept_at == kNotKept) return Step::Abort(AbortReason::kNoVersion);
  if (access.kept_at != kNoOlder) return std::nullopt;
  SetNoRecord(access);
  return Step::Done();
}

void BeginChain(Access& access, VersionLink link) {
  access.kept_at = link;
  access.count_before = access.word() / kOneWrite;
  access.first_kept = true;
}

Step FollowChain(Access& access, VersionLink link) {
  const OldVersions& all = *access.table->old_versions();
  std::vector<std::byte> own(OldVersions::KeptBytes(access.table->image_bytes()));
  const KeptVersion before = std::exchange(access.kept, KeptVersion{own.data()});
  BeginChain(access, link);
  std::optional<Step> end;
  while (!(end = EndOfChain(access))) {
    LoadWords(own.data(), all.memory() + access.kept_at, own.size());
    const Step step = TakeKept(access);
    if (step.kind == Step::kMore) continue;
    end = step;
    break;
  }
  access.kept = before;
  return *end;
}

// The steps from another node.
enum AfarStep : std::uint8_t { kLook, kTake, kFollow };
// Where words lie in access.reread: the lock before and after the record, the time and the link.
constexpr std::size_t kLockAgain = 1;
constexpr std::size_t kTimeAgain = 2;
constexpr std::size_t kLinkAgain = 3;

// Whether a later writer commits after the transaction's time anyway.
bool IsClaimed(Access& access) {
  if (!access.table->leaves_times()) return true;
  return std::max({access.time(TimeWord::kClaimed), access.time(TimeWord::kMarked),
                   access.time(TimeWord::kWritten)}) >= access.timestamp;
}

Step CheckTake(const Protocol& protocol, Access& access) {
  Timestamp& claimed = access.time(TimeWord::kClaimed);
  if (!IsClaimed(access) && access.old_word != claimed) {
    claimed = access.old_word;  // another reader has changed it
    if (!IsClaimed(access)) return Step::More();
  }
  if (!protocol.StampOf(access.reread) || !protocol.StampOf(access.reread + kLockAgain)) {
    access.step = kLook;
    return Step::Wait();
  }
  Timestamp& written = access.time(TimeWord::kWritten);
  if (access.reread[kTimeAgain] != written) {
    written = access.reread[kTimeAgain];
    return Step::More();
  }
  access.CheckKey();
  access.seen_timestamp = std::max(access.seen_timestamp, written);
  if (access.Sees(written)) return Step::Done();
  BeginChain(access, access.reread[kLinkAgain]);
  if (const auto end = EndOfChain(access)) return *end;
  access.step = kFollow;
  return Step::More();
}

}  // namespace

Step ReadAt(const Protocol& protocol, Access& access) {
  Table& table = *access.table;
  if (access.offset == 0) {
    if (!FindOrClaimAbsence(access)) return Step::Wait();
    if (access.offset == 0) {
      SetNoRecord(access);
      return Step::Done();
    }
  }
  std::byte* const bytes = access.memory() + access.offset;
  const TupleView tuple(table, bytes);
  const auto time = [&](TimeWord word) { return WordAt(bytes + table.time_at(word)); };
  if (table.leaves_times()) RaiseTo(time(TimeWord::kClaimed), access.timestamp);
  const auto locked = [&] {
    const std::uint64_t word = WordAt(bytes).load();
    return !protocol.StampOf(&word);
  };
  const Timestamp written = time(TimeWord::kWritten).load();
  if (locked()) return Step::Wait();
  LoadWords(access.version_bytes(), tuple.version(0), table.version_bytes());
  const VersionLink older = time(TimeWord::kOlder).load();
  // A writer that has come since then has a later time, and keeps this version.
  if (locked() || time(TimeWord::kWritten).load() != written) return Step::Wait();
  access.seen_timestamp = std::max(access.seen_timestamp, written);
  if (!access.Sees(written)) return FollowChain(access, older);
  access.has_image = true;
  return Step::Done();
}

void PostReadAt(Port& port, Access& access) {
  const Table& table = *access.table;
  if (access.step == kFollow) return port.ReadKept(access);
  if (access.step == kLook) {
    return port.Read(access, table.time_at(TimeWord::kClaimed), kTimeBytes,
                     &access.time(TimeWord::kClaimed));
  }
  if (!IsClaimed(access)) {
    port.CompareSwap(access, table.time_at(TimeWord::kClaimed), access.time(TimeWord::kClaimed),
                     access.timestamp, &access.old_word);
  }
  port.Read(access, 0, kWordBytes, access.reread);
  port.Read(access, table.key_at(), table.image_bytes(), access.image);
  port.Read(access, 0, kWordBytes, access.reread + kLockAgain);
  port.Read(access, table.time_at(TimeWord::kWritten), 2 * kWordBytes, access.reread + kTimeAgain);
  access.has_image = true;
}

Step CheckReadAt(const Protocol& protocol, Access& access) {
  if (access.step == kLook) {
    access.step = kTake;
    return Step::More();
  }
  if (access.step == kTake) return CheckTake(protocol, access);
  const Step step = TakeKept(access);
  if (step.kind != Step::kMore) return step;
  return EndOfChain(access).value_or(Step::More());
}

}  // namespace slimgraph::txn
