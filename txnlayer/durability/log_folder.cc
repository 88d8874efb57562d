#include "txnlayer/durability/log_folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

namespace slimgraph::txn {
namespace {

// What others need to know of a log.
struct LogState {
  LogName name;
  std::uint64_t identity = 0;
  std::uint64_t nodes = 0;
  std::uint64_t run = 0;
  std::uint64_t made = 0;
  std::uint64_t begun = 0;
};

LogState StateOf(const LogName& name, const BatchLogReader& log) {
  LogState state{name};
  for (const auto& batch : log.batches()) {
    switch (static_cast<LogPart>(batch.label[0])) {
      case LogPart::kHead:
        state.identity = batch.label[1];
        state.nodes = batch.label[2];
        if (!batch.words.empty()) state.run = batch.words[0];
        break;
      case LogPart::kMade:
        state.made = 1;
        break;
      case LogPart::kBegun:
        state.begun = 1;
        return state;
      default:
        break;
    }
  }
  return state;
}

template <typename T>
Result<std::vector<std::vector<T>>> GatherAll(Collectives& all, const std::vector<T>& mine) {
  SLIM_ASSIGN(const auto parts, all.AllGather(std::as_bytes(std::span(mine))));
  std::vector<std::vector<T>> theirs;
  for (const auto& part : parts) {
    theirs.emplace_back(part.size() / sizeof(T));
    if (!part.empty()) std::memcpy(theirs.back().data(), part.data(), part.size());
  }
  return theirs;
}

// Those of all that this member is to read: of the members that see one, each is as good.
std::vector<LogName> Share(const std::vector<std::vector<LogName>>& seen, std::size_t self) {
  std::vector<LogName> mine;
  for (const LogName& name : seen[self]) {
    std::vector<std::size_t> seers;
    for (std::size_t member = 0; member < seen.size(); ++member) {
      const auto& theirs = seen[member];
      if (std::find(theirs.begin(), theirs.end(), name) != theirs.end()) seers.push_back(member);
    }
    if (seers[name.node % seers.size()] == self) mine.push_back(name);
  }
  return mine;
}

// Whether all of that generation is there.
Status CheckWhole(const std::vector<LogState>& logs, const std::string& folder,
                  std::uint64_t generation, std::uint64_t identity) {
  std::uint64_t nodes = 1;
  for (const LogState& log : logs) nodes = std::max(nodes, log.nodes);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    const LogName name{generation, node};
    const auto found = std::find_if(logs.begin(), logs.end(),
                                    [&](const LogState& log) { return log.name == name; });
    if (found == logs.end()) {
      return InputError("{}: the log of node {} is missing, of {} nodes", LogPath(folder, name),
                        node, nodes);
    }
    if (found->made == 0) return InputError("{}: it is damaged", LogPath(folder, name));
    if (found->identity != identity) {
      return InputError(
          "{}: these are commits on other data than this run's: it takes the same --workload, "
          "--store and --rows",
          folder);
    }
  }
  return {};
}

}  // namespace

std::string LogPath(const std::string& folder, const LogName& name) {
  return fmt::format("{}/commits.{}.{}", folder, name.generation, name.node);
}

Status MakeLogFolder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return InputError("{}: a folder for logs cannot be made: {}", folder, std::strerror(errno));
  }
  SLIM_TRY(ListLogs(folder));
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return InputError("{}: cannot write: {}", folder, std::strerror(errno));
}

Result<std::vector<LogName>> ListLogs(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return InputError("{}: {}", folder, std::strerror(errno));
  std::vector<LogName> logs;
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    LogName log;
    if (std::sscanf(name.c_str(), "commits.%lu.%lu", &log.generation, &log.node) == 2 &&
        LogPath(folder, log) == fmt::format("{}/{}", folder, name)) {
      logs.push_back(log);
    } else if (name[0] != '.') {
      return UsageError("{}: '{}' in it is no log: logs need a folder of their own", folder, name);
    }
  }
  return logs;
}

Status RemoveLogsBefore(const std::string& folder, std::uint64_t generation) {
  SLIM_ASSIGN(const auto logs, ListLogs(folder));
  for (const LogName& log : logs) {
    const std::string path = LogPath(folder, log);
    if (log.generation >= generation || ::unlink(path.c_str()) == 0 || errno == ENOENT) continue;
    return EnvironmentError("{}: cannot be removed: {}", path, std::strerror(errno));
  }
  return {};
}

Result<LogsToRead> FindLogs(Collectives& all, const std::string& folder, std::uint64_t identity) {
  SLIM_ASSIGN(const std::vector<LogName> here, ListLogs(folder));
  SLIM_ASSIGN(const auto seen, GatherAll(all, here));
  std::vector<LogState> states;
  std::vector<BatchLogReader> logs;
  for (const LogName& name : Share(seen, all.rank())) {
    SLIM_ASSIGN(BatchLogReader log, BatchLogReader::Open(LogPath(folder, name)));
    states.push_back(StateOf(name, log));
    logs.push_back(std::move(log));
  }
  SLIM_ASSIGN(const auto gathered, GatherAll(all, states));
  LogsToRead found;
  std::uint64_t generation = 0;
  for (const auto& theirs : gathered) {
    for (const LogState& log : theirs) {
      found.last_generation = std::max(found.last_generation, log.name.generation);
      found.last_run = std::max(found.last_run, log.run);
      if (log.begun != 0) generation = std::max(generation, log.name.generation);
    }
  }
  if (generation == 0) return found;
  std::vector<LogState> of_it;
  for (const auto& theirs : gathered) {
    std::copy_if(theirs.begin(), theirs.end(), std::back_inserter(of_it),
                 [&](const LogState& log) { return log.name.generation == generation; });
  }
  SLIM_TRY(CheckWhole(of_it, folder, generation, identity));
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (states[i].name.generation == generation) found.mine.push_back(std::move(logs[i]));
  }
  return found;
}

}  // namespace slimgraph::txn
