#include "txnlayer/internal/stages/read_at.h"

#include <algorithm>

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
  RaiseTo(WordAt(access.memory() + table.AbsenceAt(access.key)), access.timestamp);
  return changes % 2 == 0 && table.ChangesOf(access.key, access.rank) == changes;
}

// Follows the chain of versions that were replaced, from a version of the time `before`, to the
// first that is not younger than the transaction.
Step ReadKept(Access& access, VersionLink link, Timestamp before) {
  const OldVersions& all = *access.table->old_versions();
  const std::uint64_t bytes = OldVersions::KeptBytes(access.table->image_bytes());
  std::vector<std::byte> own(bytes);
  const KeptVersion kept{own.data()};
  for (; link != kNoOlder; link = kept.older()) {
    if (link == kNotKept) return Step::Abort(AbortReason::kNoVersion);
    LoadWords(own.data(), all.memory() + link, bytes);
    const bool same = kept.IsWhole(bytes, link) && kept.key() == access.key;
    if (!same || kept.written() >= before) return Step::Abort(AbortReason::kNoVersion);
    before = kept.written();
    if (before > access.timestamp) continue;
    std::memcpy(access.version_bytes(), kept.version(), access.table->version_bytes());
    access.has_image = true;
    return Step::Done();
  }
  SetNoRecord(access);
  return Step::Done();
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
  RaiseTo(time(TimeWord::kClaimed), access.timestamp);
  std::uint64_t words[kMaxMetadataWords];
  tuple.LoadMetadata(words);
  const auto before = protocol.StampOf(words);
  if (!before) return Step::Wait();
  const Timestamp written = time(TimeWord::kWritten).load();
  const VersionLink older = time(TimeWord::kOlder).load();
  LoadWords(access.version_bytes(), tuple.version(0), table.version_bytes());
  tuple.LoadMetadata(words);
  // A writer that has come since then has a later time, and keeps this version.
  if (protocol.StampOf(words) != before || time(TimeWord::kWritten).load() != written) {
    return Step::Wait();
  }
  access.seen_timestamp = std::max(access.seen_timestamp, written);
  if (written > access.timestamp) return ReadKept(access, older, written);
  access.has_image = true;
  return Step::Done();
}

}  // namespace slimgraph::txn
