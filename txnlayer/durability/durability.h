// What outlives the death of all nodes: their logs of commits in a folder, and how a job begins
// with what is in them. README.md says why nothing is lost and nothing is half there.
#pragma once

#include <memory>
#include <string>

#include "slimgraph/base/unique_fd.h"
#include "txnlayer/durability/commit_log.h"

namespace slimgraph::txn {

class Engine;

// What earlier runs have left, all nodes together.
struct Recovered {
  std::uint64_t records = 0;       // that had been written, and are back
  std::uint64_t transactions = 0;  // of the last run, that wrote something
  std::uint64_t cut_bytes = 0;     // of commits that were being written when it ended
};

class Durability {
 public:
  // Collective, when the tables are as they were filled and nothing runs: puts back what the logs
  // in `folder` have, and begins new ones. `identity` tells these tables' contents from others.
  static Result<std::unique_ptr<Durability>> Begin(Engine& engine, const std::string& folder,
                                                   std::uint64_t identity);
  ~Durability();

  CommitLog& log() { return *log_; }
  const Recovered& recovered() const { return recovered_; }
  // How many runs there have been in this folder, with this one.
  std::uint64_t run() const { return generation_; }

 private:
  Durability() = default;
  Status Lock();
  Status BeginLog(Engine& engine, std::uint64_t identity);

  std::string folder_;
  UniqueFd lock_;
  std::uint64_t generation_ = 0;
  Recovered recovered_;
  std::unique_ptr<BatchLogWriter> file_;
  std::unique_ptr<CommitLog> log_;
};

}  // namespace slimgraph::txn
