#include "txnlayer/protocol/calvin.h"

#include "txnlayer/protocol/calvin_thread.h"
#include "txnlayer/ticks.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kCalvinStages[] = {Stage::kRead, Stage::kLock, Stage::kLog, Stage::kCommit};

CalvinThread& ThreadOf(Transaction& transaction) {
  return static_cast<CalvinThread&>(transaction.companion());
}

}  // namespace

std::span<const Stage> Calvin::stages() const { return kCalvinStages; }

std::size_t Calvin::most_accesses() const { return CalvinThread::kMostAccesses; }

Result<std::unique_ptr<Companion>> Calvin::MakeCompanion(Engine& engine, Worker& worker) const {
  SLIM_ASSIGN(auto thread, CalvinThread::Make(engine, worker));
  return std::unique_ptr<Companion>(std::move(thread));
}

bool Calvin::Ask(Transaction& transaction, std::span<Access* const> fresh) const {
  Task& task = transaction.task();
  if (fresh.size() != transaction.accesses().size() || fresh.size() > CalvinThread::kMostAccesses) {
    task.worker().Fail({ErrorKind::kUsage,
                        fmt::format("calvin takes transactions that name their tuples all at once, "
                                    "at most {} of them",
                                    CalvinThread::kMostAccesses)});
    transaction.Doom(AbortReason::kUser);
    return false;
  }
  ThreadOf(transaction).Submit(task.index(), fresh);
  return true;
}

bool Calvin::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  Task& task = transaction.task();
  const bool asked = !ThreadOf(transaction).RunningIn(task.index()).accesses.empty();
  if ((!asked || fresh.size() != transaction.accesses().size()) && !Ask(transaction, fresh)) {
    return false;
  }
  auto& running = ThreadOf(transaction).RunningIn(task.index());
  task.Await(running.scheduled);
  const StageCode stages = ThreadOf(transaction).StagesOf(running.epoch);
  transaction.SetStages(stages);
  transaction.NoteTime(Stage::kLock, running.submitted);
  const std::uint64_t scheduled = Ticks();
  task.Await(running.values);
  if (running.values.lost) {
    transaction.Doom(AbortReason::kNodeLost);
    return false;
  }
  transaction.NoteTime(Stage::kRead, scheduled);
  for (const Access* const access : fresh) {
    if (access->offset != 0) continue;
    transaction.Doom(AbortReason::kTableFull);
    return false;
  }
  return true;
}

void Calvin::Install(Transaction& transaction) const {
  const std::uint64_t start = Ticks();
  ThreadOf(transaction)
      .Finish(transaction.task().index(), transaction.accesses(), true, transaction.Lingering());
  transaction.NoteTime(Stage::kCommit, start);
}

void Calvin::Release(Transaction& transaction) const {
  CalvinThread& thread = ThreadOf(transaction);
  transaction.task().Await(thread.RunningIn(transaction.task().index()).values);
  thread.Finish(transaction.task().index(), transaction.accesses(), false, transaction.Lingering());
}

}  // namespace slimgraph::txn
