#include "txnlayer/workload/driver.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "txnlayer/graph/fold.h"
#include "txnlayer/internal/durability/durability.h"
#include "txnlayer/internal/engine/checkpointer.h"
#include "txnlayer/workload/internal/concurrency.h"

namespace slimgraph::txn {
namespace {

// How often a coroutine that waits for its turn looks whether the run is over.
constexpr std::uint64_t kLookNs = 10'000'000;

// Waits until the coroutine may begin a transaction. False: it is not needed any more, or the run
// is over. Latencies with numbers of coroutines that were only tried do not count.
bool AwaitTurn(Transaction& transaction, Concurrency& concurrency, std::uint64_t& now_ns) {
  while (!concurrency.MayBegin(transaction.task().index(), now_ns)) {
    if (concurrency.chosen() || transaction.engine().over(now_ns)) return false;
    transaction.IdleUntil(std::min(now_ns + kLookNs, concurrency.until_ns()));
    now_ns = NowNs();
  }
  if (concurrency.TakeJustChosen()) transaction.figures().latencies = {};
  return true;
}

// Runs one client's transactions in its coroutine. `concurrency`: of its thread; null: all
// coroutines run transactions.
void RunClient(Transaction& transaction, Client& client, std::uint64_t most, double interval_ns,
               Concurrency* concurrency) {
  Figures& figures = transaction.figures();
  const Engine& engine = transaction.engine();
  std::uint32_t gave_up = 0;
  const std::uint64_t first_ns = NowNs();
  // The clock is read once per transaction, as that takes a large part of a short one.
  std::uint64_t now_ns = first_ns;
  for (std::uint64_t done = 0; !engine.over(now_ns) && (most == 0 || done < most); ++done) {
    if (concurrency != nullptr && !AwaitTurn(transaction, *concurrency, now_ns)) break;
    // The choice of a transaction counts in its latency. It begins when the previous one ends.
    std::uint64_t start_ns = now_ns;
    client.Choose();
    if (interval_ns > 0) {
      // With an offered load, the latency counts from when the transaction was due, even if it
      // starts late.
      const auto due_ns =
          first_ns + static_cast<std::uint64_t>(static_cast<double>(done) * interval_ns);
      transaction.IdleUntil(due_ns);
      start_ns = due_ns;
      now_ns = NowNs();
    }
    for (std::uint32_t tries = 1; !engine.over(now_ns); ++tries) {
      transaction.Begin(tries > 1, now_ns, client.only_reads());
      const Attempt attempt = client.Try(transaction);
      now_ns = NowNs();
      if (attempt == Attempt::kCommitted) {
        figures.latencies.Add(now_ns - start_ns);
        if (concurrency != nullptr) concurrency->CountCommit();
        figures.most_tries = std::max<std::uint64_t>(figures.most_tries, tries);
        gave_up = 0;
        break;
      }
      const AbortReason reason = transaction.reason();
      const bool again = attempt == Attempt::kAborted && !IsRefusal(reason);
      if (!again) ++gave_up;
      const bool met_another =
          reason != AbortReason::kUser && reason != AbortReason::kUnnamed && !IsRefusal(reason);
      if (met_another) transaction.BackOff(again ? tries : gave_up);
      if (!again) break;
      now_ns = NowNs();
    }
  }
}

Status CheckLocksFree(Engine& engine) {
  for (TableId id = 0; id < engine.tables().size(); ++id) {
    Table& table = engine.tables()[id];
    bool free = true;
    engine.tables().ForEachTuple(table, [&](const std::byte* tuple) {
      free = free && engine.protocol().LocksFree(TupleView(table, tuple).metadata());
    });
    if (free) continue;
    return VerificationError("a tuple of table {} is still locked after the run",
                             table.spec().name);
  }
  return {};
}

// A checksum of the initial tables that does not depend on where tuples lie, nor on the number of
// nodes.
Result<LogSubject> SubjectOf(Engine& engine, const Workload& workload) {
  std::uint64_t sum = 0;
  LogSubject subject = workload.Source();
  std::uint64_t tables = subject.identity;
  for (TableId id = 0; id < engine.tables().size(); ++id) {
    Table& table = engine.tables()[id];
    if (table.spec().constant || table.spec().derived) continue;
    tables = XXH3_64bits_withSeed(table.spec().name.data(), table.spec().name.size(),
                                  tables + table.spec().record_bytes);
    engine.tables().ForEachTuple(table, [&](const std::byte* tuple) {
      const TupleView view(table, tuple);
      sum += XXH3_64bits_withSeed(engine.protocol().LatestVersion(view), table.version_bytes(),
                                  view.key() + id);
    });
  }
  SLIM_ASSIGN(sum, engine.cluster().all().AllSum(sum));
  subject.identity = std::max<std::uint64_t>(1, sum + tables);  // 0 stands for any subject
  subject.name = fmt::format("--workload {}{}", workload.name(), subject.name);
  return subject;
}

}  // namespace

Status KeepLogs(Engine& engine, Workload& workload, const std::string& folder) {
  SLIM_ASSIGN(const LogSubject subject, SubjectOf(engine, workload));
  FoldWorker* const folds = workload.graph() == nullptr ? nullptr : workload.graph()->fold_worker();
  SLIM_TRY(engine.KeepLogs(folder, subject, folds));
  // The times of this run must be later than all recovered times.
  if (workload.graph() != nullptr) {
    SLIM_TRY(workload.graph()->RefillIndexes());
    SLIM_TRY(workload.graph()->AdvanceClocks());
  }
  return workload.Resume(engine, engine.durability()->run());
}

Result<DriveResult> Drive(Engine& engine, Workload& workload, const DriveOptions& options) {
  // Copy now, as copying in the run would count in its time.
  if (engine.replication() != nullptr) SLIM_TRY(engine.replication()->CopyTables());
  SLIM_TRY(engine.cluster().all().Barrier());
  const std::uint64_t start_ns = NowNs();
  engine.SetDeadline(start_ns + static_cast<std::uint64_t>(options.seconds * 1e9));
  Mutex collecting;
  const double clients = static_cast<double>(engine.cluster().topology().compute()) *
                         engine.cluster().threads() * engine.options().coroutines;
  const double interval_ns = options.per_second > 0 ? 1e9 * clients / options.per_second : 0;
  FoldWorker* const folder =
      workload.graph() == nullptr ? nullptr : workload.graph()->fold_worker();
  if (folder != nullptr) folder->Start();
  std::optional<Checkpointer> checkpointer;
  if (engine.durability() != nullptr && folder == nullptr) {
    checkpointer.emplace(engine, options.checkpoint_bytes).Start();
  }
  std::vector<Concurrency> of_threads(engine.cluster().threads(),
                                      Concurrency(start_ns, options.seconds));
  const Status ran = engine.Run([&](Transaction& transaction) {
    const auto client = workload.MakeClient(transaction);
    Concurrency& mine = of_threads[transaction.task().worker().index()];
    RunClient(transaction, *client, options.transactions, interval_ns,
              options.finds_coroutines ? &mine : nullptr);
    const std::lock_guard lock(collecting);
    workload.Collect(*client);
  });
  if (!ran && (folder != nullptr || checkpointer)) {
    // The folder or the checkpointer may wait for other nodes'; failing the job ends these waits.
    engine.cluster().job().Fail(ran.error());
    engine.EndRuns();
  }
  SLIM_TRY(ran);
  DriveResult result;
  Collectives& all = engine.cluster().all();  // of the living nodes
  result.lost = engine.lost();
  result.repair_s = engine.repair_s();
  SLIM_ASSIGN(result.seconds, all.AllMax(SecondsSince(start_ns)));
  SLIM_ASSIGN(const auto figures, all.AllGather(std::as_bytes(std::span(&engine.figures(), 1))));
  for (const auto& theirs : figures) {
    Figures one;
    std::memcpy(static_cast<void*>(&one), theirs.data(), sizeof one);
    result.figures.Add(one);
  }
  result.coroutines = engine.options().coroutines;
  if (options.finds_coroutines) {
    std::uint64_t sums[] = {0, 0};
    for (const Concurrency& one : of_threads) {
      if (!engine.cluster().computes()) break;
      sums[0] += one.active();
      ++sums[1];
    }
    SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    result.coroutines = static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
  }
  if (folder != nullptr) SLIM_TRY(folder->Finish());
  if (checkpointer) {
    SLIM_TRY(checkpointer->Finish());
    result.checkpoints = checkpointer->checkpoints();
  }
  SLIM_TRY(CheckLocksFree(engine));
  if (engine.replication() != nullptr) SLIM_TRY(engine.replication()->CheckCopies());
  SLIM_TRY(workload.Verify(engine));
  return result;
}

}  // namespace slimgraph::txn
