#include "txnlayer/internal/stages/read_at.h"

#include <algorithm>
#include <utility>

#include "txnlayer/internal/stages/read_at_steps.h"

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

// Of a chain that begins after the transaction's time.
Step FollowChain(Access& access, VersionLink link) {
  const OldVersions& all = *access.table->old_versions();
  std::vector<std::byte> own(OldVersions::KeptBytes(access.table->image_bytes()));
  const KeptVersion before = std::exchange(access.kept, KeptVersion{own.data()});
  Step step = BeginChain(access, link, access.word() / kOneWrite);
  while (step.kind == Step::kMore) {
    LoadWords(own.data(), all.memory() + access.kept_at, own.size());
    step = TakeKept(access);
  }
  access.kept = before;
  return step;
}

// What a whole tuple means for the transaction: its record, or the chain of those before it.
bool TakesRecord(Access& access) {
  const Timestamp written = access.time(TimeWord::kWritten);
  access.seen_timestamp = std::max(access.seen_timestamp, written);
  return access.Sees(written);
}

Step CheckTake(const Protocol& protocol, Access& access) {
  const auto free = [&](std::uint64_t word) { return protocol.StampOf(&word).has_value(); };
  const Step step = read_at_steps::CheckTake(access, free);
  if (step.kind != Step::kDone) return step;
  access.CheckKey();
  if (TakesRecord(access)) return Step::Done();
  access.step = read_at_steps::kFollow;
  return BeginChain(access, access.reread[read_at_steps::kLinkAgain], access.word() / kOneWrite);
}

// Whether the chain has ended at access.kept_at: there was no record, or no version was kept.
Step LookAtLink(Access& access) {
  if (access.kept_at == kNotKept) return Step::Abort(AbortReason::kNoVersion);
  if (access.kept_at != kNoOlder) return Step::More();
  SetNoRecord(access);
  return Step::Done();
}

}  // namespace

Step BeginChain(Access& access, VersionLink link, std::uint64_t count) {
  access.kept_at = link;
  access.count_before = count;
  access.first_kept = true;
  return LookAtLink(access);
}

Step TakeKept(Access& access) {
  const KeptVersion& kept = access.kept;
  const std::uint64_t bytes = OldVersions::KeptBytes(access.table->image_bytes());
  if (!kept.IsWhole(bytes, access.kept_as()) || kept.key() != access.key) {
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
    return LookAtLink(access);
  }
  std::memcpy(access.version_bytes(), kept.version(), access.table->version_bytes());
  access.has_image = true;
  return Step::Done();
}

Step ReadAt(const Protocol& protocol, Access& access) {
  if (access.offset == 0) {
    if (!FindOrClaimAbsence(access)) return Step::Wait();
    if (access.offset == 0) {
      SetNoRecord(access);
      return Step::Done();
    }
  }
  const auto free = [&](std::uint64_t word) { return protocol.StampOf(&word).has_value(); };
  if (!read_at_steps::ReadHere(access.memory() + access.offset, access, free)) return Step::Wait();
  if (TakesRecord(access)) return Step::Done();
  return FollowChain(access, access.reread[read_at_steps::kLinkAgain]);
}

void PostReadAt(Port& port, Access& access) {
  if (access.step == read_at_steps::kFollow) return port.ReadKept(access);
  read_at_steps::Post(port, access);
}

Step CheckReadAt(const Protocol& protocol, Access& access) {
  if (access.step == read_at_steps::kLook) {
    access.step = read_at_steps::kTake;
    return Step::More();
  }
  if (access.step == read_at_steps::kTake) return CheckTake(protocol, access);
  return TakeKept(access);
}

}  // namespace slimgraph::txn
