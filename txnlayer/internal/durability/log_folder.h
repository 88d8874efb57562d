// The files in a folder of logs. Each file belongs to a node K and has a generation G.
//
// commits.G.K: the head names the tables and the number of nodes. Then come all records that the
// tables held when the file was begun, each tuple once, and the mark `complete`: they are complete.
// When all nodes have written `complete`, the mark `begun` follows: transactions may begin. The
// rest are their commits. If any file of a generation has `begun`, all its files are complete, or
// damaged. A generation without `begun` has nothing that an older one lacks, and is ignored.
//
// aside.G.K: what was taken out of the tables when generation G was begun, and `complete`. These
// files form a chain. The head of a commits file names the newest generation of aside files that
// belongs to it. The head of an aside file names the one before, up to a complete one without a
// predecessor. (Older programs kept all of it in each commits file, which can still be read.)
//
// ledger.G.K: commits of other nodes, in the run whose first generation is G (ledger.h). The node's
// commits files name it. Each record tells the generation of commits files to which it belongs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/cluster/collectives.h"
#include "txnlayer/disk/batch_log.h"

namespace slimgraph::txn {

// The first word of a batch's label.
enum class LogPart : std::uint64_t {
  kHead,     // identity of the tables, number of nodes; words: number of the run,
             // generation of the aside file before this (0: none), rest of LogSubject
  kRecords,  // number of records
  kComplete,
  kBegun,
  kCommits,  // number of transactions
  kEnd,      // the run has ended; everything before is complete
  kAside,    // kind (durability.h)
  kLedger,   // the generation in the name of this node's ledger
};

enum class LogKind : std::uint64_t { kCommits, kAside, kLedger };

// What a folder's commits were made on.
struct LogSubject {
  // Of the tables' contents when the first run began; 0: the folder has no commits, so any tables
  // fit.
  std::uint64_t identity = 0;
  // The store from which the tables were loaded, and the time of its last update; 0: no store.
  std::uint64_t store = 0;
  std::uint64_t store_time = 0;
  std::string name = {};  // a description for messages
};

struct LogName {
  std::uint64_t generation = 0;
  std::uint64_t node = 0;
  LogKind kind = LogKind::kCommits;
  bool operator==(const LogName&) const = default;
};
std::string LogPath(const std::string& folder, const LogName& name);

// Creates the folder unless it exists. It may have nothing but logs.
Status MakeLogFolder(const std::string& folder);
Result<std::vector<LogName>> ListLogs(const std::string& folder);
// Removes files of generations before these.
Status RemoveLogsBefore(const std::string& folder, std::uint64_t commits, std::uint64_t aside,
                        std::uint64_t ledger);

// A folder can be locked by one job at a time.
Result<UniqueFd> LockLogs(const std::string& folder);

// The logs that this node is to read: commits and aside files of the last generation that has
// begun, and what ledgers have of it.
struct LogsToRead {
  std::uint64_t last_generation = 0;  // of all files, begun or not; 0: there are none
  std::uint64_t last_run = 0;         // of all files, begun or not
  std::vector<BatchLogReader> mine;
};
// Collective. All nodes may see one folder, or each its own. Returns an error if the commits were
// made on another subject.
Result<LogsToRead> FindLogs(Collectives& all, const std::string& folder, const LogSubject& subject);

// The same without a job: this folder must have all files.
Result<LogsToRead> FindAllLogs(const std::string& folder);
// The subject of the last generation that has begun, according to this folder; nothing: none has.
Result<std::optional<LogSubject>> SubjectOfLogs(const std::string& folder);
// A hash of the contents of `logs`.
std::uint64_t HashOfContents(const LogsToRead& logs);
// Begins a generation after `logs` that has no commits, then removes all older generations.
Status BeginWithoutCommits(const std::string& folder, const LogsToRead& logs);

// Writes the head of a log.
Status AppendHead(BatchLogWriter& file, const LogSubject& subject, std::uint64_t nodes,
                  std::uint64_t run, std::uint64_t aside);
BatchLabel Label(LogPart part, std::uint64_t one = 0, std::uint64_t other = 0);

}  // namespace slimgraph::txn
