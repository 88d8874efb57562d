// The tuples that a transaction names: found, requested, and read again where that is needed.
#include <algorithm>
#include <bit>
#include <utility>

#include "slimgraph/base/check.h"
#include "txnlayer/internal/engine/engine_thread.h"
#include "txnlayer/internal/store/hash.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// With more accesses than this, they are found through a hash table.
constexpr std::size_t kMostScanned = 64;

// The bit of a key in Frame::marks.
std::size_t MarkOf(const Table& table, Key key) {
  return (key * 0x9E3779B97F4A7C15 + table.id() * std::uint64_t{0xC2B2AE3D27D4EB4F}) >> 56;
}

}  // namespace

Access* Transaction::Find(const Table& table, Key key) const {
  const Frame& frame = *frame_;
  if (!frame.marks[MarkOf(table, key)]) return nullptr;
  if (frame.index.empty()) {
    for (Access* const access : frame.accesses) {
      if (access->key == key && access->table == &table) return access;
    }
    return nullptr;
  }
  const std::size_t mask = frame.index.size() - 1;
  for (std::size_t at = Mix(key + table.id()) & mask; frame.index[at] != 0; at = (at + 1) & mask) {
    Access* const access = frame.accesses[frame.index[at] - 1];
    if (access->key == key && access->table == &table) return access;
  }
  return nullptr;
}

// The index has at least two entries for each access. A smaller one is built anew.
void Transaction::AddToIndex(std::uint32_t number) {
  Frame& frame = *frame_;
  const std::size_t accesses = frame.accesses.size();
  if (frame.index.size() < 2 * accesses) {
    frame.index.assign(8 * std::bit_ceil(accesses), 0);
    for (std::uint32_t i = 0; i < accesses; ++i) AddToIndex(i);
    return;
  }
  const Access& access = *frame.accesses[number];
  const std::size_t mask = frame.index.size() - 1;
  std::size_t at = Mix(access.key + access.table->id()) & mask;
  while (frame.index[at] != 0) at = (at + 1) & mask;
  frame.index[at] = number + 1;
}

Access* Transaction::NewAccess(const Want& want) {
  Frame& frame = *frame_;
  const std::size_t used = frame.accesses.size();
  if (used == frame.slots.size()) frame.slots.push_back(std::make_unique<AccessSlot>());
  AccessSlot& slot = *frame.slots[used];
  const std::uint64_t image_bytes = want.table->image_bytes();
  if (slot.image_bytes < image_bytes) {
    slot.image = std::make_unique_for_overwrite<std::byte[]>(kImageRoom + image_bytes);
    slot.image_bytes = image_bytes;
    if (thread_.times) {
      slot.kept = std::make_unique_for_overwrite<std::byte[]>(OldVersions::KeptBytes(image_bytes));
    }
  }
  Access& access = slot.access;
  access.image = slot.image.get() + kImageRoom;
  access.table = want.table;
  access.key = want.key;
  const NodeId partition = want.table->Home(want.key);
  access.home = engine_.tables().view().Primary(partition);
  access.rank = engine_.tables().view().RankAt(access.home, partition);
  access.offset = 0;
  access.timestamp = timestamp_;
  access.owner = owner_;
  access.seen_timestamp = 0;
  access.write = want.write;
  access.write_later = want.write_later;
  access.absent = false;
  access.fetch = access.begun = access.has_image = false;
  access.locked = access.shared = access.waiting = access.unlocked = false;
  access.only_tries = false;
  access.gives_up_ns = 0;
  access.step = access.version = 0;
  if (thread_.times) {
    access.kept.bytes = slot.kept.get();
    access.sees = only_reads_ && !sees_.empty() ? sees_.data() : nullptr;
  }
  // Prefetch now; the lookup follows when all tuples that are wanted together have been named.
  if (Remote(access)) {
    thread_.cache.Prefetch(want.table->id(), want.key);
  } else {
    want.table->PrefetchBucket(want.key, access.rank);
  }
  frame.accesses.push_back(&access);
  frame.marks[MarkOf(*want.table, want.key)] = true;
  if (frame.accesses.size() > kMostScanned) AddToIndex(static_cast<std::uint32_t>(used));
  return &access;
}

Access* Transaction::Read(Table& table, Key key) {
  const Want want{&table, key, false};
  Access* access = nullptr;
  return Fetch({&want, 1}, &access) ? access : nullptr;
}

Access* Transaction::Write(Table& table, Key key) {
  const Want want{&table, key, true};
  Access* access = nullptr;
  return Fetch({&want, 1}, &access) ? access : nullptr;
}

bool Transaction::Fetch(std::span<const Want> wants, Access** out) {
  AddAccesses(wants, out);
  return FinishFetch();
}

bool Transaction::StartFetch(std::span<const Want> wants, Access** out) {
  const std::size_t before = frame_->accesses.size();
  AddAccesses(wants, out);
  const EngineOptions& options = engine_.options();
  if (!options.speculation || !options.outstanding) return FinishFetch();
  const std::span<Access* const> fresh = accesses().subspan(before);
  if (fresh.empty()) return true;
  if (only_reads_ ? StartStage(Stage::kReadAt, fresh)
                  : engine_.protocol().StartFetch(*this, fresh)) {
    return true;
  }
  Fail(reason_);
  return false;
}

bool Transaction::FinishFetch() {
  const std::span<Access* const> fresh = accesses().subspan(frame_->arrived);
  frame_->arrived = frame_->accesses.size();
  bool well = fresh.empty() || (only_reads_ ? RunStage(Stage::kReadAt, fresh)
                                            : engine_.protocol().Fetch(*this, fresh));
  // Absent tuples that were requested to be read, and then to be written before they arrived.
  for (Access* const access : fresh) {
    if (access->write && (access->absent || access->unlocked)) NoteUpgrade(access);
  }
  well = well && FetchUpgraded() && (frame_->reread.empty() || FetchUnlocked());
  if (!well) Fail(reason_);
  if (well && thread_.times) CopyReplaced(fresh);
  return well;
}

// Inserts the absent tuples that are to be written, and reads them again. If a record exists by
// now, the absence that was read has changed.
bool Transaction::FetchUpgraded() {
  std::vector<Access*>& upgraded = frame_->upgraded;
  std::erase_if(upgraded, [](Access* access) {
    const bool done = !std::exchange(access->absent, false);
    if (!done) access->offset = 0;
    access->unlocked = false;
    return done;
  });
  if (upgraded.empty()) return true;
  if (!engine_.protocol().Fetch(*this, upgraded)) return false;
  for (const Access* const access : upgraded) {
    if (!access->exists()) continue;
    reason_ = AbortReason::kChanged;
    conflict_ = {Stage::kRead, access->table, access->key};
    return false;
  }
  if (thread_.times) CopyReplaced(upgraded);
  upgraded.clear();
  return true;
}

// Locks the tuples that were read without a lock and are to be written, and reads them again. So
// the transaction does not overwrite what has been committed since, unless it ignores what it
// reads.
bool Transaction::FetchUnlocked() {
  std::vector<Access*>& reread = frame_->reread;
  std::erase_if(reread, [](Access* access) { return !std::exchange(access->unlocked, false); });
  if (reread.empty()) return true;
  if (!engine_.protocol().Fetch(*this, reread)) return false;
  reread.clear();
  return true;
}

// The tuple has been read, and is now to be written.
void Transaction::NoteUpgrade(Access* access) {
  if (access->absent) {
    frame_->upgraded.push_back(access);
  } else if (access->unlocked) {
    frame_->reread.push_back(access);
  } else if (access->has_image && thread_.times) {
    CopyReplaced({&access, 1});
  }
}

void Transaction::AddAccesses(std::span<const Want> wants, Access** out) {
  SLIM_CHECK(open_, "the transaction has ended");
  const auto writes = [](const Want& want) { return want.write || want.write_later; };
  SLIM_CHECK(!only_reads_ || std::none_of(wants.begin(), wants.end(), writes),
             "a read-only transaction writes");
  for (std::size_t i = 0; i < wants.size(); ++i) {
    Access* access = Find(*wants[i].table, wants[i].key);
    if (access == nullptr) access = NewAccess(wants[i]);
    if (wants[i].write && !std::exchange(access->write, true)) NoteUpgrade(access);
    out[i] = access;
  }
}

}  // namespace slimgraph::txn
