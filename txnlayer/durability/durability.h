// What outlives the death of all nodes: their logs of commits in a folder, and how a job begins
// with what is in them. README.md says why nothing is lost and nothing is half there.
#pragma once

#include <memory>
#include <string>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/cluster/collectives.h"
#include "txnlayer/durability/commit_log.h"
#include "txnlayer/durability/log_folder.h"

namespace slimgraph::txn {

class Engine;

// What earlier runs have left, all nodes together.
struct Recovered {
  std::uint64_t records = 0;       // that had been written, and are back in the tables
  std::uint64_t transactions = 0;  // of the last run, that wrote something
  std::uint64_t cut_bytes = 0;     // of commits that were being written when it ended
};

// Of whoever takes what transactions have written out of the tables, as folds do: it is kept in the
// logs beside the records, in batches of some kinds.
class KeptAside {
 public:
  using Write = std::function<Status(std::uint64_t kind, std::span<const std::uint64_t> words)>;
  virtual ~KeptAside() = default;
  // On every node, of all logs of the last run, in any order; some of it may come more than once.
  virtual Status TakeBack(std::uint64_t kind, std::span<const std::uint64_t> words) = 0;
  // Collective: that was all. The records come next.
  virtual Status TakenBack() = 0;
  // Into the log that begins.
  virtual Status WriteAnew(const Write& write) = 0;
};

class Durability {
 public:
  // Collective, when the tables are as they were filled and nothing runs: puts back what the logs
  // in `folder` have, and begins new ones. `identity` tells these tables' contents from others;
  // `aside` is null where nothing can be kept aside.
  static Result<std::unique_ptr<Durability>> Begin(Engine& engine, const std::string& folder,
                                                   std::uint64_t identity, KeptAside* aside);
  ~Durability();

  CommitLog& log() { return *log_; }
  const Recovered& recovered() const { return recovered_; }
  // How many runs there have been in this folder, with this one.
  std::uint64_t run() const { return run_; }
  // Of the log that is in use, since it was begun.
  std::uint64_t commit_bytes() const { return commit_bytes_; }

  // --- A next log, written while this one is in use. It counts from TakeNext() on; until then, and
  // where it does not come to that, this one does.
  // Collective among those that live.
  Status BeginNext(Collectives& all);
  Status AddAsideToNext(std::uint64_t kind, std::span<const std::uint64_t> words);
  // `words`: records, each behind its length. When they are all there.
  Status FinishNext(std::span<const std::uint64_t> words, std::uint64_t records);
  // When no transaction runs, and all have finished theirs: what commits goes there.
  Status TakeNext();
  void DropNext();
  // When all have taken theirs.
  Status RemoveBefore() { return RemoveLogsBefore(folder_, generation_); }
  // What was written aside when the log was begun that is in use.
  Status ReadAside(
      const std::function<void(std::uint64_t kind, std::span<const std::uint64_t>)>& look) const;

 private:
  Durability() = default;
  Status Lock();
  Status BeginLog(Engine& engine, KeptAside* aside);

  std::string folder_;
  UniqueFd lock_;
  std::uint64_t identity_ = 0;
  std::uint64_t run_ = 0;
  std::uint64_t generation_ = 0;  // of the log that is in use, and its number
  std::uint64_t number_ = 0;
  std::uint64_t last_generation_ = 0;  // that there has been, in use or not
  std::uint64_t next_number_ = 0;
  Recovered recovered_;
  std::unique_ptr<BatchLogWriter> file_;
  std::unique_ptr<BatchLogWriter> next_;
  std::atomic<std::uint64_t> commit_bytes_{0};
  std::unique_ptr<CommitLog> log_;
};

}  // namespace slimgraph::txn
