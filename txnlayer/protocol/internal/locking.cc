#include "txnlayer/protocol/internal/locking.h"

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "txnlayer/protocol/internal/guarded_read.h"
#include "txnlayer/protocol/internal/lock_word.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kLockingStages[] = {Stage::kRead, Stage::kLock, Stage::kLog, Stage::kCommit,
                                    Stage::kRelease};

// The steps of a lock that may be waited for.
enum WaitingStep : std::uint8_t { kTry, kStartWaiting, kStopWaiting, kStopAndDie };
constexpr std::size_t kCountAgain = 1;            // of access.reread
constexpr std::uint64_t kWaitingAt = kWordBytes;  // right before the record, without times
// Takes the place of a holder's word: a waiting transaction goes first. No lock word has this
// value.
constexpr std::uint64_t kSomebodyWaits = 1;

// At home.
SharedWord Word(const Access& access, std::uint64_t at) {
  return WordAt(access.memory() + access.offset + at);
}

}  // namespace

std::span<const Stage> Locking::stages() const { return kLockingStages; }

bool Locking::LockReadsRecord(const Transaction& transaction) {
  return transaction.one_sided(Stage::kLock) == transaction.one_sided(Stage::kRead);
}

// Under read-committed, locks are not requested ahead.
bool Locking::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  if (reads_unlocked()) {
    std::vector<Access*>& unlocked = transaction.Scratch();
    for (Access* const access : fresh) {
      access->unlocked = !access->write;
      if (access->unlocked) unlocked.push_back(access);
    }
    return unlocked.empty() || transaction.StartStage(Stage::kRead, unlocked);
  }
  for (Access* const access : fresh) {
    access->fetch = LockReadsRecord(transaction);
    access->shared = transaction.ReadsShared(*access);
  }
  return transaction.StartStage(Stage::kLock, fresh);
}

bool Locking::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  if (!reads_unlocked()) return FetchLocked(transaction, fresh);
  std::vector<Access*>& some = transaction.Scratch();
  for (Access* const access : fresh) {
    if (!access->begun) access->unlocked = !access->write;
    if (access->unlocked) some.push_back(access);
  }
  if (!transaction.RunStage(Stage::kRead, some)) return false;
  some.clear();
  std::copy_if(fresh.begin(), fresh.end(), std::back_inserter(some),
               [](const Access* access) { return !access->unlocked; });
  return some.empty() || FetchLocked(transaction, some);
}

bool Locking::FetchLocked(Transaction& transaction, std::span<Access* const> fresh) const {
  const bool together = LockReadsRecord(transaction);
  for (Access* const access : fresh) {
    access->fetch = together;
    if (!access->begun) access->shared = transaction.ReadsShared(*access);
  }
  return transaction.RunStage(Stage::kLock, fresh) &&
         (together || transaction.RunStage(Stage::kRead, fresh));
}

bool Locking::Prepare(Transaction& transaction) const {
  std::vector<Access*>& upgrades = transaction.Scratch();
  for (Access* const access : transaction.accesses()) {
    if (!access->write || !access->shared) continue;
    access->fetch = false;  // its record has been read, and is about to be written
    upgrades.push_back(access);
  }
  if (transaction.RunStage(Stage::kLock, upgrades)) {
    return !timed() || transaction.ChooseCommitTime();
  }
  transaction.StopSharing();
  return false;
}

void Locking::Install(Transaction& transaction) const {
  const bool all = isolation_ == Isolation::kSerializable;
  transaction.RunLastStage(Stage::kCommit, all ? transaction.accesses() : transaction.locked());
}

void Locking::Release(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kRelease, transaction.locked());
}

void Locking::PostRead(Port& port, Access& access) {
  const std::uint64_t before = access.table->time_bytes();
  port.Read(access, access.table->key_at() - before, before + access.table->image_bytes(),
            access.image - before);
  access.has_image = true;
}

Step Locking::CheckRead(Access& access) {
  access.CheckKey();
  if (access.table->timed()) access.TakeTimes();
  return Step::Done();
}

void Locking::Post(Stage stage, Port& port, Access& access) const {
  if (access.absent || access.unlocked) [[unlikely]] {
    if (!access.absent) PostUnlockedRead(port, access);
    return;
  }
  if (stage == Stage::kLock) return PostLock(port, access);
  if (stage == Stage::kRead) return PostRead(port, access);
  const bool marks = stage == Stage::kCommit && timestamps_ == Timestamps::kDst && !access.write;
  if (marks) PostMark(port, access);
  if (stage == Stage::kCommit && access.write && timed()) {
    times::PostReplace(port, access);
  } else if (stage == Stage::kCommit && access.write) {
    port.Write(access, access.table->version_at(0), access.table->version_bytes(),
               access.version_bytes());
  }
  if (access.shared) {
    return lock_word::Leave(Word(access, kLockAt), access.timestamp, access.generation);
  }
  access.put[0] = 0;
  port.Unlock(access, kLockAt, lock_word::OfWriter(access.timestamp, access.owner), access.put[0]);
}

// Another transaction that writes the tuple will commit at a later time. Nobody else changes the
// word while this one holds the lock alone.
void Locking::PostMark(Port& port, Access& access) {
  const std::uint64_t at = access.table->time_at(TimeWord::kMarked);
  if (access.shared) return RaiseTo(Word(access, at), access.commit_timestamp);
  Timestamp& mark = access.time(TimeWord::kMarked);
  if (mark >= access.commit_timestamp) return;
  mark = access.commit_timestamp;
  port.Write(access, at, kWordBytes, &mark);
}

void Locking::LockShared(Access& access) {
  const SharedWord word = Word(access, kLockAt);
  if (Upgrades(access)) {
    access.old_word = lock_word::Upgrade(word, access.timestamp, access.owner) ? 0 : word.load();
    Port here;
    // Others that share the lock may have left their times.
    if (access.table->timed()) times::PostRead(here, access);
  } else {
    access.old_word = lock_word::Join(word, access.timestamp, access.generation);
  }
}

Step Locking::CheckUpgrade(Access& access, AbortReason otherwise) {
  if (access.old_word != 0) return Step::Abort(otherwise);
  access.shared = false;
  return Step::Done();
}

// Also resets the count of waiting transactions. Only the TimeWords outlive a lock.
Timestamp Locking::FreeLocks(std::uint64_t* metadata) const {
  const TupleShape words = shape();
  std::fill_n(metadata, timed() ? words.times_at : words.metadata_words, 0);
  return times::Latest(metadata, words.times_at);
}

void Locking::NoteHolder(Access& access) {
  access.seen_timestamp = std::max(access.seen_timestamp,
                                   lock_word::TimestampOfHolder(access.old_word, access.timestamp));
}

std::optional<Protocol::ReadStamp> Locking::StampOf(const std::uint64_t* metadata) const {
  if (lock_word::OfAWriter(metadata[0])) return std::nullopt;
  return ReadStamp{};
}

Step Locking::CheckUnlockedRead(Access& access) const {
  for (const std::uint64_t word : {access.seen[0], access.reread[0]}) {
    access.old_word = word;
    if (lock_word::OfAWriter(word)) return MeetWriter(access);
  }
  return UnlockedReadIsWhole(access, lock_word::OfAWriter) ? Step::Done() : Step::Busy();
}

Step Locking::Check(Stage stage, Access& access) const {
  if (access.absent || access.unlocked) [[unlikely]] {
    return access.absent ? Step::Done() : CheckUnlockedRead(access);
  }
  if (stage == Stage::kLock) return CheckLock(access);
  if (stage == Stage::kRead) return CheckRead(access);
  access.locked = false;
  return Step::Done();
}

void NoWait::PostLock(Port& port, Access& access) const {
  if (access.shared) {
    LockShared(access);
  } else {
    port.CompareSwap(access, kLockAt, 0, lock_word::OfWriter(access.timestamp, access.owner),
                     &access.old_word);
  }
  if (access.fetch) PostRead(port, access);
}

Step NoWait::CheckLock(Access& access) const {
  if (Upgrades(access)) return CheckUpgrade(access, AbortReason::kLocked);
  if (access.old_word != 0) {
    NoteHolder(access);
    return Step::Abort(AbortReason::kLocked);
  }
  access.locked = true;
  return access.fetch ? CheckRead(access) : Step::Done();
}

void Waiting::PostLock(Port& port, Access& access) const {
  switch (access.step) {
    case kTry:
      PostTry(port, access);
      break;
    case kStartWaiting:
      port.FetchAdd(access, kWaitingAt, 1, &access.reread[0]);
      break;
    default:
      port.FetchAdd(access, kWaitingAt, ~std::uint64_t{0}, &access.reread[0]);
  }
}

void Waiting::PostTry(Port& port, Access& access) {
  if (!access.shared) {
    port.CompareSwap(access, kLockAt, 0, lock_word::OfWriter(access.timestamp, access.owner),
                     &access.old_word);
  } else if (!access.waiting && !access.locked && Word(access, kWaitingAt).load() != 0) {
    access.old_word = kSomebodyWaits;
  } else {
    LockShared(access);
  }
  // An adapter may read a long range in parts, so the count may be wrong for a moment. Then a
  // newcomer goes first, or retries once more.
  if (access.table->timed()) {
    port.Read(access, kWaitingAt, kWordBytes, &access.reread[kCountAgain]);
    if (access.fetch) PostRead(port, access);
    return;
  }
  const std::uint64_t more = access.fetch ? access.table->image_bytes() : 0;
  port.Read(access, kWaitingAt, kWordBytes + more, access.image - kWordBytes);
  if (access.fetch) access.has_image = true;
}

void Waiting::CancelWait(Access& access) const {
  access.step = access.locked ? kStopWaiting : kStopAndDie;
}

Step Waiting::MeetWriter(Access& access) const {
  NoteHolder(access);
  return Waits(access) ? Step::Wait() : Step::Abort(refusal());
}

Step Waiting::CheckLock(Access& access) const {
  switch (access.step) {
    case kStartWaiting:
      access.waiting = true;
      access.step = kTry;
      return Step::Wait();
    case kStopWaiting:
      access.waiting = false;
      access.step = kTry;
      return Step::Done();
    case kStopAndDie:
      access.waiting = false;
      access.step = kTry;
      return Step::Abort(refusal());
    default:
      break;
  }
  if (Upgrades(access)) return CheckUpgrade(access, AbortReason::kLocked);
  if (access.old_word == 0) {
    access.locked = true;
    if (access.fetch) CheckRead(access);
    if (access.waiting) {
      access.step = kStopWaiting;
      return Step::More();
    }
    const std::uint64_t waiting =
        access.table->timed() ? access.reread[kCountAgain] : access.word_before();
    const bool stays = waiting == 0 || !GivesWay();
    return stays ? Step::Done() : Step::Abort(refusal());
  }
  if (access.old_word != kSomebodyWaits) NoteHolder(access);
  if (access.only_tries) return Step::Done();
  if (Waits(access)) {
    if (access.waiting) return Step::Wait();
    access.step = kStartWaiting;
    return Step::More();
  }
  if (!access.waiting) return Step::Abort(refusal());
  access.step = kStopAndDie;
  return Step::More();
}

// A transaction starts to wait after it has found a younger holder, and stops when it later finds
// an older one. So it only waits for younger transactions, and there are no deadlocks.
bool WaitDie::Waits(Access& access) const {
  return access.old_word != kSomebodyWaits &&
         lock_word::IsOlder(access.timestamp, access.owner, access.old_word);
}

bool BoundedWait::Waits(Access& access) const {
  const std::uint64_t now_ns = NowNs();
  if (access.gives_up_ns == 0) access.gives_up_ns = now_ns + most_ns_;
  return now_ns < access.gives_up_ns;
}

bool BoundedWait::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  for (Access* const access : fresh) access->only_tries = true;
  return Waiting::StartFetch(transaction, fresh);
}

bool BoundedWait::FetchLocked(Transaction& transaction, std::span<Access* const> fresh) const {
  std::vector<Access*> left(fresh.begin(), fresh.end());
  std::sort(left.begin(), left.end(), [](const Access* one, const Access* other) {
    return std::pair(one->table->id(), one->key) < std::pair(other->table->id(), other->key);
  });
  while (!left.empty()) {
    const bool last = left.size() == 1 && !left.front()->begun;
    for (Access* const access : left) access->only_tries = !last;
    if (!Waiting::FetchLocked(transaction, left)) return false;
    const auto taken = std::find_if(left.begin(), left.end(), [](const Access* access) {
      return !access->locked && !access->absent;
    });
    if (taken == left.end()) return true;
    std::vector<Access*> early;
    std::copy_if(taken, left.end(), std::back_inserter(early),
                 [](const Access* access) { return access->locked; });
    if (!transaction.RunStage(Stage::kRelease, early)) return false;
    Access* const first = *taken;
    first->only_tries = false;
    if (!Waiting::FetchLocked(transaction, {&first, 1})) return false;
    left.erase(left.begin(), taken + 1);
  }
  return true;
}

}  // namespace slimgraph::txn
