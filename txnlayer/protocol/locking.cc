#include "txnlayer/protocol/locking.h"

#include <algorithm>

#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kStages[] = {Stage::kRead, Stage::kLock, Stage::kLog, Stage::kCommit,
                             Stage::kRelease};

// The steps of a lock under WAITDIE.
enum WaitDieStep : std::uint8_t { kTry, kStartWaiting, kStopWaiting, kStopAndDie };
constexpr std::uint64_t kWaitingAt = kWordBytes;

}  // namespace

std::span<const Stage> Locking::stages() const { return kStages; }

bool Locking::LocksBring(const Transaction& transaction) {
  return transaction.one_sided(Stage::kLock) == transaction.one_sided(Stage::kRead);
}

bool Locking::Ask(Transaction& transaction, std::span<Access* const> fresh) const {
  for (Access* const access : fresh) access->fetch = LocksBring(transaction);
  return transaction.Start(Stage::kLock, fresh);
}

bool Locking::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  const bool together = LocksBring(transaction);
  for (Access* const access : fresh) access->fetch = together;
  return transaction.Run(Stage::kLock, fresh) && (together || transaction.Run(Stage::kRead, fresh));
}

bool Locking::Prepare(Transaction&) const { return true; }

void Locking::Install(Transaction& transaction) const {
  transaction.RunLast(Stage::kCommit, transaction.accesses());
}

void Locking::Release(Transaction& transaction) const {
  transaction.RunLast(Stage::kRelease, transaction.locked());
}

void Locking::PostRead(Port& port, Access& access) {
  port.Read(access, access.table->key_at(), access.table->image_bytes(), access.image);
  access.has_image = true;
}

Step Locking::CheckRead(const Access& access) {
  access.CheckKey();
  return Step::Done();
}

void Locking::Post(Stage stage, Port& port, Access& access) const {
  if (stage == Stage::kLock) return PostLock(port, access);
  if (stage == Stage::kRead) return PostRead(port, access);
  if (stage == Stage::kCommit && access.write) {
    port.Write(access, access.table->version_at(0), access.table->version_bytes(),
               access.version_bytes());
  }
  access.put[0] = 0;
  port.Unlock(access, kLockAt, access.timestamp, access.put[0]);
}

// With those that wait.
Timestamp Locking::Free(std::uint64_t* metadata) const {
  const Timestamp holder = metadata[0];
  std::fill_n(metadata, shape().metadata_words, 0);
  return holder;
}

std::optional<Protocol::Look> Locking::LookAt(const std::uint64_t* metadata) const {
  if (metadata[0] != 0) return std::nullopt;
  return Look{};
}

Step Locking::Check(Stage stage, Access& access) const {
  if (stage == Stage::kLock) return CheckLock(access);
  if (stage == Stage::kRead) return CheckRead(access);
  access.locked = false;
  return Step::Done();
}

void NoWait::PostLock(Port& port, Access& access) const {
  port.CompareSwap(access, kLockAt, 0, access.timestamp, &access.old_word);
  if (access.fetch) PostRead(port, access);
}

Step NoWait::CheckLock(Access& access) const {
  access.saw = std::max(access.saw, access.old_word);
  if (access.old_word != 0) return Step::Abort(AbortReason::kLocked);
  access.locked = true;
  return access.fetch ? CheckRead(access) : Step::Done();
}

void WaitDie::PostLock(Port& port, Access& access) const {
  switch (access.step) {
    case kTry:
      port.CompareSwap(access, kLockAt, 0, access.timestamp, &access.old_word);
      port.Read(access, kWaitingAt, kWordBytes, &access.again[1]);
      if (access.fetch) PostRead(port, access);
      break;
    case kStartWaiting:
      port.FetchAdd(access, kWaitingAt, 1, &access.again[0]);
      break;
    default:
      port.FetchAdd(access, kWaitingAt, ~std::uint64_t{0}, &access.again[0]);
  }
}

void WaitDie::GiveUp(Access& access) const {
  access.step = access.locked ? kStopWaiting : kStopAndDie;
}

// Waiting follows a look at the holder, and ends with each later look at an older one: whoever
// waits is older than the holder, so that there is no circle of them.
Step WaitDie::CheckLock(Access& access) const {
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
      return Step::Abort(AbortReason::kDied);
    default:
      break;
  }
  if (access.old_word == 0) {
    access.locked = true;
    if (access.fetch) CheckRead(access);
    if (access.waiting) {
      access.step = kStopWaiting;
      return Step::More();
    }
    return access.again[1] == 0 ? Step::Done() : Step::Abort(AbortReason::kDied);
  }
  access.saw = std::max(access.saw, access.old_word);
  // Equal: the holder is this transaction's last attempt, whose release is still on its way.
  if (access.timestamp <= access.old_word) {
    if (access.waiting) return Step::Wait();
    access.step = kStartWaiting;
    return Step::More();
  }
  if (!access.waiting) return Step::Abort(AbortReason::kDied);
  access.step = kStopAndDie;
  return Step::More();
}

}  // namespace slimgraph::txn
