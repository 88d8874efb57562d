#include "txnlayer/internal/durability/log_folder.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <unordered_set>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/folders.h"
#include "txnlayer/internal/durability/ledger.h"

namespace slimgraph::txn {
namespace {

// The maximum length of a subject's name, which is used in messages.
constexpr std::size_t kNameBytes = 160;

// What other nodes need to know of a log. Sent to them as bytes.
struct LogState {
  LogName name;
  std::uint64_t identity = 0;
  std::uint64_t nodes = 0;
  std::uint64_t run = 0;
  std::uint64_t aside = 0;  // generation of the aside file before this one
  std::uint64_t store = 0;
  std::uint64_t store_time = 0;
  std::uint64_t complete = 0;
  std::uint64_t begun = 0;
  std::uint64_t ledger = 0;  // the generation of the ledger that belongs to it; 0: none
  std::array<char, kNameBytes> subject = {};

  std::string subject_name() const {
    return {subject.data(), ::strnlen(subject.data(), kNameBytes)};
  }
};

// The words of a head. Older programs wrote only the first.
enum HeadWord : std::size_t { kRun, kAsideBefore, kStore, kStoreTime, kSubjectName };

void TakeHead(const BatchLogReader::Batch& head, LogState& state) {
  const auto word = [&](HeadWord which) {
    return which < head.words.size() ? head.words[which] : 0;
  };
  state.identity = head.label[1];
  state.nodes = head.label[2];
  state.run = word(kRun);
  state.aside = word(kAsideBefore);
  state.store = word(kStore);
  state.store_time = word(kStoreTime);
  if (head.words.size() <= kSubjectName) return;
  const Bytes name = std::as_bytes(head.words.subspan(kSubjectName));
  std::memcpy(state.subject.data(), name.data(), std::min(name.size(), kNameBytes));
}

LogState StateOf(const LogName& name, const BatchLogReader& log) {
  LogState state{name};
  for (const auto& batch : log.batches()) {
    switch (static_cast<LogPart>(batch.label[0])) {
      case LogPart::kHead:
        TakeHead(batch, state);
        break;
      case LogPart::kLedger:
        state.ledger = batch.label[1];
        break;
      case LogPart::kComplete:
        state.complete = 1;
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

// The logs that this member is to read. A log that several members see is assigned to one of them.
std::vector<LogName> AssignedTo(const std::vector<std::vector<LogName>>& seen, std::size_t self) {
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

Status CheckSubject(const std::string& path, const LogState& log, const LogSubject& wanted) {
  if (log.identity == wanted.identity || log.identity == 0) return {};
  const std::string theirs = log.subject_name();
  return InputError(
      "{}: its commits are on {} (identity {:016x}), and this run is on {} (identity {:016x}): "
      "use the --workload, --store, --rows and --population of its first run, or another --durable "
      "folder",
      path, theirs.empty() ? "other data" : theirs, log.identity, wanted.name, wanted.identity);
}

// Checks that all files of that kind and generation exist and have that subject (null: any).
// Returns the generation of the aside files before them.
Result<std::uint64_t> CheckComplete(const std::vector<LogState>& logs, const std::string& folder,
                                    LogKind kind, std::uint64_t generation,
                                    const LogSubject* subject) {
  std::uint64_t nodes = 1;
  std::uint64_t before = 0;
  for (const LogState& log : logs) {
    if (log.name.kind != kind || log.name.generation != generation) continue;
    nodes = std::max(nodes, log.nodes);
    before = std::max(before, log.aside);
  }
  for (std::uint64_t node = 0; node < nodes; ++node) {
    const LogName name{generation, node, kind};
    const auto found = std::find_if(logs.begin(), logs.end(),
                                    [&](const LogState& log) { return log.name == name; });
    if (found == logs.end()) {
      return InputError("{}: the log of node {} is missing, of {} nodes", LogPath(folder, name),
                        node, nodes);
    }
    if (found->complete == 0) return InputError("{}: it is damaged", LogPath(folder, name));
    if (subject != nullptr) SLIM_TRY(CheckSubject(LogPath(folder, name), *found, *subject));
  }
  if (before < generation + (kind == LogKind::kCommits ? 1 : 0)) return before;
  return InputError("{}: it is damaged", LogPath(folder, {generation, 0, kind}));
}

// The generation whose commits are valid; 0: none.
std::uint64_t LastBegun(const std::vector<LogState>& logs) {
  std::uint64_t generation = 0;
  for (const LogState& log : logs) {
    if (log.name.kind == LogKind::kCommits && log.begun != 0) {
      generation = std::max(generation, log.name.generation);
    }
  }
  return generation;
}

struct OpenLogs {
  std::vector<LogState> states;
  std::vector<BatchLogReader> logs;  // by state; those of ledgers are not read yet
};

std::uint64_t HashOf(std::span<const std::uint64_t> words) {
  return XXH3_64bits(words.data(), words.size_bytes());
}

// The hashes of all commits in that log, if it is open here.
std::unordered_set<std::uint64_t> CommitsIn(const OpenLogs& here, const LogName& name) {
  std::unordered_set<std::uint64_t> hashes;
  for (std::size_t i = 0; i < here.logs.size(); ++i) {
    if (!(here.states[i].name == name)) continue;
    for (const auto& batch : here.logs[i].batches()) {
      if (static_cast<LogPart>(batch.label[0]) != LogPart::kCommits) continue;
      for (auto rest = batch.words; !rest.empty(); rest = rest.subspan(1 + rest[0])) {
        if (rest[0] >= rest.size()) break;  // not ours, which is refused later
        hashes.insert(HashOf(rest.subspan(1, rest[0])));
      }
    }
  }
  return hashes;
}

// What the ledgers that are open here have of that generation. A keeper may have added commits to
// its log already.
Status ReadLedgers(const std::vector<LogState>& states, const OpenLogs& here,
                   const std::string& folder, std::uint64_t generation, LogsToRead& found) {
  const auto among = [](const std::vector<LogState>& logs, const LogName& name) {
    return std::any_of(logs.begin(), logs.end(),
                       [&](const LogState& log) { return log.name == name; });
  };
  for (const LogState& log : states) {
    const bool commits = log.name.kind == LogKind::kCommits;
    if (!commits || log.name.generation != generation || log.ledger == 0) continue;
    const LogName name{log.ledger, log.name.node, LogKind::kLedger};
    const std::string path = LogPath(folder, name);
    if (!among(states, name)) return InputError("{}: it is missing", path);
    if (!among(here.states, name)) continue;
    const auto logged = CommitsIn(here, log.name);
    SLIM_ASSIGN(Ledger::Found records,
                Ledger::Read(path, generation, [&](std::span<const std::uint64_t> record) {
                  return logged.contains(HashOf(record));
                }));
    if (records.records == 0) continue;
    found.mine.push_back(BatchLogReader::OfBatch(Label(LogPart::kCommits, records.records),
                                                 std::move(records.words)));
  }
  return {};
}

Result<OpenLogs> Open(const std::string& folder, const std::vector<LogName>& names) {
  OpenLogs open;
  for (const LogName& name : names) {
    if (name.kind == LogKind::kLedger) {
      open.states.push_back({name});
      open.logs.push_back(BatchLogReader::OfBatch({}, {}));
      continue;
    }
    SLIM_ASSIGN(BatchLogReader log, BatchLogReader::Open(LogPath(folder, name)));
    open.states.push_back(StateOf(name, log));
    open.logs.push_back(std::move(log));
  }
  return open;
}

// Chooses among the logs that are open here. `states`: of the logs of all members.
Result<LogsToRead> ChooseLogs(const std::vector<LogState>& states, OpenLogs here,
                              const std::string& folder, const LogSubject* subject) {
  LogsToRead found;
  for (const LogState& log : states) {
    found.last_generation = std::max(found.last_generation, log.name.generation);
    found.last_run = std::max(found.last_run, log.run);
  }
  std::uint64_t generation = LastBegun(states);
  SLIM_TRY(ReadLedgers(states, here, folder, generation, found));
  for (LogKind kind = LogKind::kCommits; generation != 0; kind = LogKind::kAside) {
    SLIM_ASSIGN(const std::uint64_t before,
                CheckComplete(states, folder, kind, generation, subject));
    for (std::size_t i = 0; i < here.logs.size(); ++i) {
      const LogName& name = here.states[i].name;
      if (name.kind == kind && name.generation == generation) {
        found.mine.push_back(std::move(here.logs[i]));
      }
    }
    generation = before;
  }
  return found;
}

}  // namespace

std::string LogPath(const std::string& folder, const LogName& name) {
  constexpr const char* kNames[] = {"commits", "aside", "ledger"};
  return fmt::format("{}/{}.{}.{}", folder, kNames[static_cast<std::size_t>(name.kind)],
                     name.generation, name.node);
}

Status MakeLogFolder(const std::string& folder) {
  const auto made = MakeFolder(folder);
  if (!made) return InputError("{}", made.error().message);
  SLIM_ASSIGN(const std::vector<LogName> logs, ListLogs(folder));
  // Also if it exists: who made it may have been killed before its name was durable.
  if (logs.empty()) SLIM_TRY(SyncPath(FolderOf(folder)));
  return CheckWritable(folder);
}

Result<std::vector<LogName>> ListLogs(const std::string& folder) {
  SLIM_ASSIGN(const std::vector<std::string> names, NamesIn(folder));
  std::vector<LogName> logs;
  for (const std::string& name : names) {
    LogName log;
    if (name[0] == 'a') log.kind = LogKind::kAside;
    if (name[0] == 'l') log.kind = LogKind::kLedger;
    const std::size_t dot = std::min(name.find('.'), name.size());
    if (std::sscanf(name.c_str() + dot, ".%lu.%lu", &log.generation, &log.node) == 2 &&
        LogPath(folder, log) == fmt::format("{}/{}", folder, name)) {
      logs.push_back(log);
    } else if (name[0] != '.') {
      return UsageError("{}: '{}' in it is no log: logs need a folder of their own", folder, name);
    }
  }
  return logs;
}

Status RemoveLogsBefore(const std::string& folder, std::uint64_t commits, std::uint64_t aside,
                        std::uint64_t ledger) {
  SLIM_ASSIGN(const auto logs, ListLogs(folder));
  const std::uint64_t first[] = {commits, aside, ledger};
  for (const LogName& log : logs) {
    if (log.generation >= first[static_cast<std::size_t>(log.kind)]) continue;
    SLIM_TRY(RemoveFile(LogPath(folder, log)));
  }
  return {};
}

Result<UniqueFd> LockLogs(const std::string& folder) {
  SLIM_ASSIGN(auto lock, LockFolder(folder, LockKind::kExclusive));
  if (lock) return std::move(*lock);
  return EnvironmentError("{}: another job keeps its log there", folder);
}

Result<LogsToRead> FindLogs(Collectives& all, const std::string& folder,
                            const LogSubject& subject) {
  SLIM_ASSIGN(const std::vector<LogName> here, ListLogs(folder));
  SLIM_ASSIGN(const auto seen, GatherAll(all, here));
  SLIM_ASSIGN(OpenLogs open, Open(folder, AssignedTo(seen, all.rank())));
  SLIM_ASSIGN(const auto gathered, GatherAll(all, open.states));
  std::vector<LogState> states;
  for (const auto& theirs : gathered) states.insert(states.end(), theirs.begin(), theirs.end());
  return ChooseLogs(states, std::move(open), folder, &subject);
}

Result<LogsToRead> FindAllLogs(const std::string& folder) {
  SLIM_ASSIGN(const std::vector<LogName> names, ListLogs(folder));
  SLIM_ASSIGN(OpenLogs open, Open(folder, names));
  const std::vector<LogState> states = open.states;
  return ChooseLogs(states, std::move(open), folder, nullptr);
}

Result<std::optional<LogSubject>> SubjectOfLogs(const std::string& folder) {
  SLIM_ASSIGN(const std::vector<LogName> names, ListLogs(folder));
  std::vector<LogState> states;
  for (const LogName& name : names) {
    if (name.kind == LogKind::kLedger) continue;
    const auto has_begun = [](const BatchLabel& label) { return label == Label(LogPart::kBegun); };
    SLIM_ASSIGN(const BatchLogReader log, BatchLogReader::Open(LogPath(folder, name), has_begun));
    states.push_back(StateOf(name, log));
  }
  const std::uint64_t generation = LastBegun(states);
  for (const LogState& log : states) {
    if (log.name.generation != generation || log.name.kind != LogKind::kCommits) continue;
    return LogSubject{log.identity, log.store, log.store_time, log.subject_name()};
  }
  return std::nullopt;
}

std::uint64_t HashOfContents(const LogsToRead& logs) {
  std::uint64_t sum = 0;  // must not depend on the order of files
  for (const BatchLogReader& log : logs.mine) {
    std::uint64_t contents = 0;
    for (const auto& batch : log.batches()) {
      contents = XXH3_64bits_withSeed(batch.label.data(), sizeof batch.label, contents);
      contents = XXH3_64bits_withSeed(batch.words.data(), batch.words.size_bytes(), contents);
    }
    sum += contents;
  }
  return sum;
}

Status BeginWithoutCommits(const std::string& folder, const LogsToRead& logs) {
  const LogName name{logs.last_generation + 1, 0};
  SLIM_ASSIGN(BatchLogWriter file, BatchLogWriter::Open(LogPath(folder, name), 0));
  SLIM_TRY(AppendHead(file, {}, 1, logs.last_run, 0));
  for (const LogPart part : {LogPart::kComplete, LogPart::kBegun, LogPart::kEnd}) {
    SLIM_TRY(file.Append(Label(part), {}));
  }
  return RemoveLogsBefore(folder, name.generation, name.generation, name.generation);
}

BatchLabel Label(LogPart part, std::uint64_t one, std::uint64_t other) {
  return {static_cast<std::uint64_t>(part), one, other};
}

Status AppendHead(BatchLogWriter& file, const LogSubject& subject, std::uint64_t nodes,
                  std::uint64_t run, std::uint64_t aside) {
  std::vector<std::uint64_t> words = {run, aside, subject.store, subject.store_time};
  const std::size_t bytes = std::min(subject.name.size(), kNameBytes);
  words.resize(kSubjectName + (bytes + 7) / 8);
  std::memcpy(words.data() + kSubjectName, subject.name.data(), bytes);
  return file.Append(Label(LogPart::kHead, subject.identity, nodes), words);
}

}  // namespace slimgraph::txn
