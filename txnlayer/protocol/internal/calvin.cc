#include "txnlayer/protocol/internal/calvin.h"

#include <algorithm>

#include "slimgraph/base/ticks.h"
#include "txnlayer/protocol/internal/calvin_thread.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kCalvinStages[] = {Stage::kRead, Stage::kLock, Stage::kLog, Stage::kCommit};

CalvinThread& ThreadOf(Transaction& transaction) {
  return static_cast<CalvinThread&>(transaction.companion());
}

}  // namespace

std::span<const Stage> Calvin::stages() const { return kCalvinStages; }

Result<std::unique_ptr<Companion>> Calvin::MakeCompanion(Engine& engine, Worker& worker) const {
  SLIM_ASSIGN(auto thread, CalvinThread::Make(engine, worker));
  return std::unique_ptr<Companion>(std::move(thread));
}

bool Calvin::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  if (!transaction.looks() && fresh.size() != transaction.accesses().size()) {
    transaction.SetAbortReason(AbortReason::kNamedLate);
    return false;
  }
  const auto access =
      transaction.looks() ? CalvinThread::Accesses::kRead : CalvinThread::Accesses::kAsNamed;
  ThreadOf(transaction).Submit(transaction.task().index(), fresh, access);
  return true;
}

bool Calvin::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  Task& task = transaction.task();
  const bool asked = !ThreadOf(transaction).RunningIn(task.index()).accesses.empty();
  const bool late = !transaction.looks() && fresh.size() != transaction.accesses().size();
  if ((!asked || late) && !StartFetch(transaction, fresh)) return false;
  auto& running = ThreadOf(transaction).RunningIn(task.index());
  task.Await(running.scheduled);
  const StageCode stages = ThreadOf(transaction).StagesOf(running.epoch);
  transaction.SetStages(stages);
  transaction.NoteTime(Stage::kLock, running.submitted);
  const std::uint64_t scheduled = Ticks();
  task.Await(running.values);
  if (running.values.lost) {
    transaction.SetAbortReason(AbortReason::kNodeLost);
    return false;
  }
  transaction.NoteTime(Stage::kRead, scheduled);
  for (const Access* const access : fresh) {
    if (access->offset != 0) continue;
    transaction.SetTableFull(*access);
    return false;
  }
  if (transaction.looks()) Release(transaction);
  return true;
}

// No lock is needed for reads: the queue of a tuple that was named as read admits no writer.
bool Calvin::Prepare(Transaction& transaction) const {
  const auto accesses = transaction.accesses();
  const bool late = std::any_of(accesses.begin(), accesses.end(), [](const Access* access) {
    return access->write && !access->locked;
  });
  if (late) transaction.SetAbortReason(AbortReason::kNamedLate);
  return !late;
}

void Calvin::Install(Transaction& transaction) const {
  const std::uint64_t start = Ticks();
  ThreadOf(transaction)
      .Finish(transaction.task().index(), transaction.accesses(), true,
              transaction.UnawaitedOperations());
  transaction.NoteTime(Stage::kCommit, start);
}

void Calvin::Release(Transaction& transaction) const {
  CalvinThread& thread = ThreadOf(transaction);
  auto& running = thread.RunningIn(transaction.task().index());
  transaction.task().Await(running.values);
  // The submitted accesses only: a refused transaction may have named more.
  const std::vector<Access*> submitted = running.accesses;
  thread.Finish(transaction.task().index(), submitted, false, transaction.UnawaitedOperations());
}

}  // namespace slimgraph::txn
