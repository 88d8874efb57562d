#include "txnlayer/durability/durability.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "txnlayer/durability/log_folder.h"
#include "txnlayer/engine.h"
#include "txnlayer/record.h"

namespace slimgraph::txn {
namespace {

// Of records that are exchanged, or written, together.
constexpr std::size_t kWordsAtATime = (1 << 20) / kWordBytes;

BatchLabel Label(LogPart part, std::uint64_t one = 0, std::uint64_t other = 0) {
  return {static_cast<std::uint64_t>(part), one, other};
}

// The records of logs, a handful of batches at a time.
class RecordStream {
 public:
  RecordStream(const std::vector<BatchLogReader>& logs, Recovered& recovered)
      : logs_(logs), recovered_(recovered) {
    for (const BatchLogReader& log : logs) recovered_.cut_bytes += log.broken_bytes();
  }

  // Empty: that was all.
  std::vector<std::uint64_t> Next() {
    std::vector<std::uint64_t> words;
    for (; log_ < logs_.size() && words.size() < kWordsAtATime; ++batch_) {
      if (batch_ == logs_[log_].batches().size()) {
        ++log_;
        batch_ = ~std::size_t{0};
        continue;
      }
      const auto& batch = logs_[log_].batches()[batch_];
      const auto part = static_cast<LogPart>(batch.label[0]);
      if (part == LogPart::kCommits) recovered_.transactions += batch.label[1];
      words.insert(words.end(), batch.words.begin(), batch.words.end());
    }
    return words;
  }

 private:
  const std::vector<BatchLogReader>& logs_;
  Recovered& recovered_;
  std::size_t log_ = 0;
  std::size_t batch_ = 0;
};

// Of the versions of a tuple, which come in any order, the one that was written last stays.
Status PutBack(Engine& engine, std::span<const std::uint64_t> words, const std::string& folder) {
  const NodeId self = engine.self();
  Status status;
  for (std::size_t at = 0; at < words.size(); at += 1 + words[at]) {
    ForEachWrite(words.subspan(at + 1, words[at]), [&](TableId id, Key key, const std::byte* v) {
      Table& table = engine.table(id);
      if (table.Home(key) != self || engine.PutVersion(table, key, 0, v)) return;
      status = InputError("{}: table {} has no room for what is in it: more --rows are needed",
                          folder, table.spec().name);
    });
  }
  return status;
}

}  // namespace

Result<std::unique_ptr<Durability>> Durability::Begin(Engine& engine, const std::string& folder,
                                                      std::uint64_t identity) {
  std::unique_ptr<Durability> durability(new Durability());
  durability->folder_ = folder;
  Collectives& all = engine.cluster().all();
  SLIM_TRY(MakeLogFolder(folder));
  if (engine.self() == 0) SLIM_TRY(durability->Lock());
  SLIM_TRY(all.Barrier());
  SLIM_ASSIGN(const LogsToRead logs, FindLogs(all, folder, identity));
  durability->generation_ = logs.last_generation + 1;
  RecordStream records(logs.mine, durability->recovered_);
  for (bool more = true; more;) {
    const std::vector<std::uint64_t> mine = records.Next();
    SLIM_ASSIGN(const auto parts, all.AllGather(std::as_bytes(std::span(mine))));
    more = false;
    for (const auto& part : parts) {
      std::vector<std::uint64_t> words(part.size() / kWordBytes);
      if (!part.empty()) std::memcpy(words.data(), part.data(), part.size());
      SLIM_TRY(PutBack(engine, words, folder));
      more = more || !part.empty();
    }
  }
  SLIM_TRY(durability->BeginLog(engine, identity));
  Recovered& sums = durability->recovered_;
  std::uint64_t numbers[] = {sums.records, sums.transactions, sums.cut_bytes};
  SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(numbers), std::plus<>()));
  sums = {numbers[0], numbers[1], numbers[2]};
  return durability;
}

// Node 0 does for all; what others have of the folder is theirs while it has.
Status Durability::Lock() {
  lock_ = UniqueFd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_) return InputError("{}: {}", folder_, std::strerror(errno));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  return EnvironmentError("{}: another job keeps its log there", folder_);
}

Status Durability::BeginLog(Engine& engine, std::uint64_t identity) {
  Collectives& all = engine.cluster().all();
  const std::string path = LogPath(folder_, {generation_, engine.self()});
  SLIM_ASSIGN(BatchLogWriter file, BatchLogWriter::Open(path, 0));
  SLIM_TRY(file.Append(Label(LogPart::kHead, identity, all.size()), {}));
  // What has never been written is as it was filled in.
  std::vector<std::uint64_t> words;
  std::uint64_t count = 0;
  Status status;
  const auto write = [&] {
    if (status && count > 0) status = file.Append(Label(LogPart::kRecords, count), words);
    recovered_.records += count;
    words.clear();
    count = 0;
  };
  engine.ForEachTuple([&](Table& table, const std::byte* tuple) {
    const auto* const metadata = reinterpret_cast<const std::uint64_t*>(tuple);
    const std::byte* const version = tuple + table.version_at(engine.protocol().Latest(metadata));
    std::uint64_t word;
    std::memcpy(&word, version, sizeof word);
    if (word / kOneWrite == 0) return;
    Key key;
    std::memcpy(&key, tuple + table.key_at(), sizeof key);
    Record record;
    BeginRecord(record, 0);
    AddWrite(record, table, key, version);
    words.push_back(record.size());
    words.insert(words.end(), record.begin(), record.end());
    ++count;
    if (words.size() >= kWordsAtATime) write();
  });
  write();
  SLIM_TRY(status);
  SLIM_TRY(file.Append(Label(LogPart::kMade), {}));
  SLIM_TRY(SyncPath(folder_));
  SLIM_TRY(all.Barrier());
  SLIM_TRY(file.Append(Label(LogPart::kBegun), {}));
  SLIM_TRY(all.Barrier());
  SLIM_TRY(RemoveLogsBefore(folder_, generation_));
  SLIM_TRY(all.Barrier());
  file_ = std::make_unique<BatchLogWriter>(std::move(file));
  Fabric& fabric = engine.cluster().fabric();
  Job& job = engine.cluster().job();
  log_ = std::make_unique<CommitLog>(CommitLog::Calls{
      .write =
          [this](std::span<const std::uint64_t> records, std::uint64_t transactions) {
            return file_->Append(Label(LogPart::kCommits, transactions), records);
          },
      .wake =
          [&fabric] {
            for (std::uint32_t i = 0; i < fabric.endpoints(); ++i) fabric.endpoint(i).Wake();
          },
      .fail = [&job](const Error& error) { job.Fail(error); }});
  return {};
}

// With a mark behind them, a damage of the last commits can be told from their being written.
Durability::~Durability() {
  if (!log_) return;
  const bool whole = log_->Flush();
  log_.reset();
  if (whole) static_cast<void>(file_->Append(Label(LogPart::kEnd), {}));
}

}  // namespace slimgraph::txn
