// The files of a folder of logs: commits.G.K is that of node K in the run of generation G.
//
// A file says at its head of which tables it is and how many nodes there are; then come what is
// kept aside of the tables, all records that had ever been written when it was begun, each tuple
// once, and a mark that they are complete (`made`); then, when this is so on all nodes, a mark that
// transactions may begin (`begun`); then their commits. So a generation of which any file has begun
// is whole on all nodes, or damaged; one that has not begun holds nothing that an older one has
// not, and is as if it were not there.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/cluster/collectives.h"
#include "txnlayer/disk/batch_log.h"

namespace slimgraph::txn {

// The first word of a batch's label.
enum class LogPart : std::uint64_t {
  kHead,     // identity of the tables, nodes; a word: which run it is
  kRecords,  // how many
  kMade,
  kBegun,
  kCommits,  // of how many transactions
  kEnd,      // the run has ended, and all before this is whole
  kAside,    // of which kind (durability.h)
};

struct LogName {
  std::uint64_t generation = 0;
  std::uint64_t node = 0;
  bool operator==(const LogName&) const = default;
};
std::string LogPath(const std::string& folder, const LogName& name);

// A folder that is there, or is made; nothing but logs may be in it.
Status MakeLogFolder(const std::string& folder);
Result<std::vector<LogName>> ListLogs(const std::string& folder);
// Takes away logs of earlier generations.
Status RemoveLogsBefore(const std::string& folder, std::uint64_t generation);

// Of the last generation that has begun, the logs that this node is to read.
struct LogsToRead {
  std::uint64_t last_generation = 0;  // of all that are there, begun or not; 0: there are none
  std::uint64_t last_run = 0;         // the same
  std::vector<BatchLogReader> mine;
};
// Collective. All nodes may see one folder, or each its own.
Result<LogsToRead> FindLogs(Collectives& all, const std::string& folder, std::uint64_t identity);

}  // namespace slimgraph::txn
