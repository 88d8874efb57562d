// Logs of commits in a folder, which survive the death of all nodes, and the recovery from them.
// README.md explains why nothing is lost or half recovered.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/cluster/collectives.h"
#include "txnlayer/internal/durability/commit_log.h"
#include "txnlayer/internal/durability/ledger.h"
#include "txnlayer/internal/durability/log_folder.h"
#include "txnlayer/internal/stages/tables.h"

namespace slimgraph::txn {

// What was recovered from earlier runs, on all nodes together.
struct Recovered {
  std::uint64_t records = 0;       // written records that are back in the tables
  std::uint64_t transactions = 0;  // of the last run; only those that wrote something
  std::uint64_t cut_bytes = 0;     // of commits that were incomplete when the run ended
};

// Implemented by a component that takes written data out of the tables, as folds do. The logs keep
// this data beside the records, in batches of several kinds.
class AsideOwner {
 public:
  using Write = std::function<Status(std::uint64_t kind, std::span<const std::uint64_t> words)>;
  virtual ~AsideOwner() = default;
  // Called on every node for the aside batches that it reads, in any order. A batch may come more
  // than once, and on several nodes.
  virtual Status RestoreBatch(std::uint64_t kind, std::span<const std::uint64_t> words) = 0;
  // Collective: all batches were read. Gives each node its own part. The records come next.
  virtual Status FinishRestore() = 0;
  // All nodes together write everything that was taken back into the new log.
  virtual Status WriteAll(const Write& write) = 0;
};

class Durability {
 public:
  // Collective, when the tables have their initial contents and nothing runs. Recovers what the
  // logs in `folder` have, and begins new logs. `subject`: what the tables contain. `aside`: null
  // if nothing can be kept aside. `fail` ends the job when the log cannot be written; empty:
  // Job::Fail() does. `ledger`: where commits become durable.
  static Result<std::unique_ptr<Durability>> Begin(Tables& tables, const std::string& folder,
                                                   const LogSubject& subject, AsideOwner* aside,
                                                   std::function<void(const Error&)> fail = {},
                                                   const LedgerOptions& ledger = {});
  ~Durability();

  CommitLog& log() { return *log_; }
  // Null: each node has its commits in its own log.
  Ledger* ledger() { return ledger_.get(); }
  // Of the current logs, on all nodes.
  std::uint64_t generation() const { return generation_; }
  // No commit of this node becomes durable any more.
  bool stopped() const { return stopped_; }
  // Moves records from a ring of this node's ledger to its log. They are durable there when
  // log().durable() reaches the returned number. Nothing: the job ends, and the ring keeps them.
  std::optional<std::uint64_t> DrainLedger(std::uint32_t ring, std::uint64_t up_to);
  const Recovered& recovered() const { return recovered_; }
  // The number of runs with this folder, including this one.
  std::uint64_t run() const { return run_; }
  // Bytes of commits in the current log.
  std::uint64_t commit_bytes() const { return commit_bytes_; }

  // --- The next log is written while the current one is in use, and replaces it in SwitchToNext().
  // Collective among the live nodes. The next log either adds to the chain of aside files or, if
  // the additions have become large, begins a new chain. True: everything that was ever kept aside
  // must be added again, or there are no aside files.
  Result<bool> BeginNext(Collectives& all);
  Status AddAsideToNext(std::uint64_t kind, std::span<const std::uint64_t> words);
  // While no transaction runs: adds all written records in the tables of this node.
  Status AddTablesToNext(Tables& tables);
  // Completes the next log. `words`: more records, each preceded by its length.
  Status CompleteNext(std::span<const std::uint64_t> words, std::uint64_t records);
  // While no transaction runs, after CompleteNext on all nodes: switches to the next log. If that
  // fails, no commit becomes durable any more, and the job must end.
  Status SwitchToNext();
  void DiscardNext();
  // Call when it is not known whether other nodes have switched to their next logs. If they have,
  // recovery needs the next log of this node too, and ignores the current one. So the next log
  // stays, no commit becomes durable any more, and the job must end.
  void StopInDoubt();
  // Removes the previous logs, after SwitchToNext on all nodes.
  Status RemovePrevious() {
    return RemoveLogsBefore(folder_, generation_,
                            aside_.empty() ? generation_ : aside_.front().generation,
                            ledger_ ? first_generation_ : generation_);
  }
  // Visits what this node has kept aside, up to the current log.
  Status ReadAside(
      const std::function<void(std::uint64_t kind, std::span<const std::uint64_t>)>& look) const;

 private:
  Durability() = default;
  Status BeginLog(Tables& tables, AsideOwner* aside, const LedgerOptions& ledger);
  Status NameLedger(BatchLogWriter& file) const;
  void Fail(Job& job, const Error& error) const;
  void Stop();
  bool AddIfCurrent(std::uint64_t generation, const Record& record, std::uint64_t& last);
  static Result<std::uint64_t> AddTables(Tables& tables, BatchLogWriter& file);
  Result<std::unique_ptr<BatchLogWriter>> Create(const LogName& name, std::uint64_t nodes,
                                                 std::uint64_t aside) const;
  Status CompleteNextAside();

  std::function<void(const Error&)> fail_;
  std::string folder_;
  UniqueFd lock_;
  LogSubject subject_;
  std::uint64_t run_ = 0;
  std::uint64_t first_generation_ = 0;  // of this run
  std::uint64_t generation_ = 0;        // of the current log
  std::uint64_t last_generation_ = 0;   // the newest that was begun
  std::uint64_t next_number_ = 0;
  // This node's chain of aside files. The first has no predecessor.
  struct AsideFile {
    std::uint64_t generation = 0;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t nodes = 0;  // how many nodes wrote this generation
  };
  std::vector<AsideFile> aside_;
  AsideFile next_aside_;
  bool next_begins_chain_ = false;
  Recovered recovered_;
  std::unique_ptr<BatchLogWriter> file_;
  std::unique_ptr<BatchLogWriter> next_;
  std::unique_ptr<BatchLogWriter> next_aside_file_;
  std::atomic<std::uint64_t> commit_bytes_{0};
  std::atomic<bool> stopped_{false};
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<CommitLog> log_;
};

}  // namespace slimgraph::txn
