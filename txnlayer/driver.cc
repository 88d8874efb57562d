#include "txnlayer/driver.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "slimgraph/base/clock.h"
#include "txnlayer/graph/fold.h"

namespace slimgraph::txn {
namespace {

// One client's work in its coroutine.
void Work(Transaction& transaction, Client& client, std::uint64_t most, double interval_ns) {
  Figures& figures = transaction.figures();
  const Engine& engine = transaction.engine();
  std::uint32_t gave_up = 0;
  const std::uint64_t first_ns = NowNs();
  // The clock is read once for each transaction, for it is a large part of a short one.
  std::uint64_t now_ns = first_ns;
  for (std::uint64_t done = 0; !engine.over(now_ns) && (most == 0 || done < most); ++done) {
    // What the next one does is chosen within its time, as the last one's ends when it begins.
    std::uint64_t start_ns = now_ns;
    client.Choose();
    if (interval_ns > 0) {
      // When it was due is what its latency counts from, also where we are late.
      const auto due_ns =
          first_ns + static_cast<std::uint64_t>(static_cast<double>(done) * interval_ns);
      transaction.IdleUntil(due_ns);
      start_ns = due_ns;
      now_ns = NowNs();
    }
    for (std::uint32_t tries = 1; !engine.over(now_ns); ++tries) {
      transaction.Begin(tries > 1, now_ns);
      const Attempt attempt = client.Try(transaction);
      now_ns = NowNs();
      if (attempt == Attempt::kCommitted) {
        figures.latencies.Add(now_ns - start_ns);
        figures.most_tries = std::max<std::uint64_t>(figures.most_tries, tries);
        gave_up = 0;
        break;
      }
      const bool again = attempt == Attempt::kAborted;
      if (!again) ++gave_up;
      const AbortReason reason = transaction.reason();
      const bool met_another = reason != AbortReason::kUser && reason != AbortReason::kUnnamed;
      if (met_another) transaction.BackOff(again ? tries : gave_up);
      if (!again) break;
      now_ns = NowNs();
    }
  }
}

Status CheckIdle(Engine& engine) {
  for (TableId id = 0; id < engine.tables(); ++id) {
    Table& table = engine.table(id);
    bool idle = true;
    engine.ForEachTuple(table, [&](const std::byte* tuple) {
      idle = idle && engine.protocol().Idle(reinterpret_cast<const std::uint64_t*>(tuple));
    });
    if (idle) continue;
    return VerificationError("a tuple of table {} is still locked after the run",
                             table.spec().name);
  }
  return {};
}

// Of the tables and all that is in them, wherever it lies.
Result<std::uint64_t> ContentsOf(Engine& engine, const Workload& workload) {
  std::uint64_t sum = 0;
  std::uint64_t tables = workload.Source();
  for (TableId id = 0; id < engine.tables(); ++id) {
    Table& table = engine.table(id);
    tables = XXH3_64bits_withSeed(table.spec().name.data(), table.spec().name.size(),
                                  tables + table.spec().record_bytes);
    engine.ForEachTuple(table, [&](const std::byte* tuple) {
      const auto* const metadata = reinterpret_cast<const std::uint64_t*>(tuple);
      std::uint64_t key;
      std::memcpy(&key, tuple + table.key_at(), sizeof key);
      sum += XXH3_64bits_withSeed(tuple + table.version_at(engine.protocol().Latest(metadata)),
                                  table.version_bytes(), key + id);
    });
  }
  SLIM_ASSIGN(sum, engine.cluster().all().AllSum(sum));
  return sum + tables;
}

}  // namespace

Status KeepLogs(Engine& engine, Workload& workload, const std::string& folder) {
  SLIM_ASSIGN(const std::uint64_t contents, ContentsOf(engine, workload));
  Folder* const folds = workload.graph() == nullptr ? nullptr : workload.graph()->folder();
  SLIM_TRY(engine.KeepLogs(folder, contents, folds));
  return workload.Resume(engine, engine.durability()->run());
}

Result<DriveResult> Drive(Engine& engine, Workload& workload, const DriveOptions& options) {
  // Now rather than in the run, where it would count.
  if (engine.replication() != nullptr) SLIM_TRY(engine.replication()->CopyTables());
  SLIM_TRY(engine.cluster().all().Barrier());
  const std::uint64_t start_ns = NowNs();
  engine.SetDeadline(start_ns + static_cast<std::uint64_t>(options.seconds * 1e9));
  std::mutex collecting;
  const double clients = static_cast<double>(engine.cluster().topology().compute()) *
                         engine.cluster().threads() * engine.options().coroutines;
  const double interval_ns = options.per_second > 0 ? 1e9 * clients / options.per_second : 0;
  Folder* const folder = workload.graph() == nullptr ? nullptr : workload.graph()->folder();
  if (folder != nullptr) folder->Start();
  const Status ran = engine.Run([&](Transaction& transaction) {
    const auto client = workload.MakeClient(transaction);
    Work(transaction, *client, options.transactions, interval_ns);
    const std::lock_guard lock(collecting);
    workload.Collect(*client);
  });
  if (!ran && folder != nullptr) {
    // It waits for the others'.
    engine.cluster().job().Fail(ran.error());
    engine.EndPauses();
  }
  SLIM_TRY(ran);
  DriveResult result;
  Collectives& all = engine.cluster().all();  // of those that are left
  result.lost = engine.lost();
  result.repair_s = engine.repair_s();
  SLIM_ASSIGN(result.seconds, all.AllMax(SecondsSince(start_ns)));
  SLIM_ASSIGN(const auto figures, all.AllGather(std::as_bytes(std::span(&engine.figures(), 1))));
  for (const auto& theirs : figures) {
    Figures one;
    std::memcpy(static_cast<void*>(&one), theirs.data(), sizeof one);
    result.figures.Add(one);
  }
  if (folder != nullptr) SLIM_TRY(folder->Finish());
  SLIM_TRY(CheckIdle(engine));
  if (engine.replication() != nullptr) SLIM_TRY(engine.replication()->CheckCopies());
  SLIM_TRY(workload.Verify(engine));
  return result;
}

}  // namespace slimgraph::txn
