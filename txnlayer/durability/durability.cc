#include "txnlayer/durability/durability.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "txnlayer/engine.h"
#include "txnlayer/record.h"

namespace slimgraph::txn {
namespace {

// Of records that are exchanged, or written, together.
constexpr std::size_t kWordsAtATime = (1 << 20) / kWordBytes;

BatchLabel Label(LogPart part, std::uint64_t one = 0, std::uint64_t other = 0) {
  return {static_cast<std::uint64_t>(part), one, other};
}

// The words of logs' batches, a handful of batches at a time: `add` appends what is wanted of one.
class BatchStream {
 public:
  using Add = std::function<void(const BatchLogReader::Batch&, std::vector<std::uint64_t>&)>;
  BatchStream(const std::vector<BatchLogReader>& logs, Add add)
      : logs_(logs), add_(std::move(add)) {}

  // Empty: that was all.
  std::vector<std::uint64_t> Next() {
    std::vector<std::uint64_t> words;
    for (; log_ < logs_.size() && words.size() < kWordsAtATime; ++batch_) {
      if (batch_ == logs_[log_].batches().size()) {
        ++log_;
        batch_ = ~std::size_t{0};
        continue;
      }
      add_(logs_[log_].batches()[batch_], words);
    }
    return words;
  }

 private:
  const std::vector<BatchLogReader>& logs_;
  const Add add_;
  std::size_t log_ = 0;
  std::size_t batch_ = 0;
};

// Collective: shows every node all that all nodes' streams have.
Status TellAll(Collectives& all, BatchStream mine,
               const std::function<Status(std::span<const std::uint64_t>)>& look) {
  for (bool more = true; more;) {
    const std::vector<std::uint64_t> words = mine.Next();
    SLIM_ASSIGN(const auto parts, all.AllGather(std::as_bytes(std::span(words))));
    more = false;
    for (const auto& part : parts) {
      std::vector<std::uint64_t> theirs(part.size() / kWordBytes);
      if (!part.empty()) std::memcpy(theirs.data(), part.data(), part.size());
      SLIM_TRY(look(theirs));
      more = more || !part.empty();
    }
  }
  return {};
}

// What was kept aside; each batch goes with its kind and length.
Status TakeBackAside(Collectives& all, const std::vector<BatchLogReader>& logs,
                     const std::string& folder, KeptAside* aside) {
  const auto add = [](const BatchLogReader::Batch& batch, std::vector<std::uint64_t>& words) {
    if (static_cast<LogPart>(batch.label[0]) != LogPart::kAside) return;
    words.insert(words.end(), {batch.label[1], batch.words.size()});
    words.insert(words.end(), batch.words.begin(), batch.words.end());
  };
  const auto take = [&](std::span<const std::uint64_t> words) -> Status {
    for (; !words.empty(); words = words.subspan(2 + words[1])) {
      if (aside == nullptr) {
        return InputError(
            "{}: what is in it has been folded: it takes a run that folds, without --fold 0 and "
            "over shm or tcp",
            folder);
      }
      SLIM_TRY(aside->TakeBack(words[0], words.subspan(2, words[1])));
    }
    return {};
  };
  SLIM_TRY(TellAll(all, BatchStream(logs, add), take));
  return aside == nullptr ? Status() : aside->TakenBack();
}

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
                                                      std::uint64_t identity, KeptAside* aside) {
  std::unique_ptr<Durability> durability(new Durability());
  durability->folder_ = folder;
  durability->identity_ = identity;
  Collectives& all = engine.cluster().all();
  SLIM_TRY(MakeLogFolder(folder));
  if (engine.self() == 0) SLIM_TRY(durability->Lock());
  SLIM_TRY(all.Barrier());
  SLIM_ASSIGN(const LogsToRead logs, FindLogs(all, folder, identity));
  durability->run_ = logs.last_run + 1;
  durability->generation_ = durability->last_generation_ = logs.last_generation + 1;
  Recovered& recovered = durability->recovered_;
  for (const BatchLogReader& log : logs.mine) recovered.cut_bytes += log.broken_bytes();
  SLIM_TRY(TakeBackAside(all, logs.mine, folder, aside));
  const auto add = [&](const BatchLogReader::Batch& batch, std::vector<std::uint64_t>& words) {
    const auto part = static_cast<LogPart>(batch.label[0]);
    if (part == LogPart::kCommits) recovered.transactions += batch.label[1];
    if (part != LogPart::kCommits && part != LogPart::kRecords) return;
    words.insert(words.end(), batch.words.begin(), batch.words.end());
  };
  SLIM_TRY(TellAll(all, BatchStream(logs.mine, add), [&](std::span<const std::uint64_t> words) {
    return PutBack(engine, words, folder);
  }));
  SLIM_TRY(durability->BeginLog(engine, aside));
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

Status Durability::BeginLog(Engine& engine, KeptAside* aside) {
  Collectives& all = engine.cluster().all();
  number_ = all.rank();
  SLIM_ASSIGN(BatchLogWriter file,
              BatchLogWriter::Open(LogPath(folder_, {generation_, number_}), 0));
  SLIM_TRY(file.Append(Label(LogPart::kHead, identity_, all.size()), std::span(&run_, 1)));
  if (aside != nullptr) {
    SLIM_TRY(aside->WriteAnew([&](std::uint64_t kind, std::span<const std::uint64_t> kept) {
      return file.Append(Label(LogPart::kAside, kind), kept);
    }));
  }
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
            commit_bytes_ += records.size_bytes();
            return file_->Append(Label(LogPart::kCommits, transactions), records);
          },
      .wake =
          [&fabric] {
            for (std::uint32_t i = 0; i < fabric.endpoints(); ++i) fabric.endpoint(i).Wake();
          },
      .fail = [&job](const Error& error) { job.Fail(error); }});
  return {};
}

Status Durability::BeginNext(Collectives& all) {
  SLIM_ASSIGN(last_generation_, all.AllMax(last_generation_ + 1));
  next_number_ = all.rank();
  SLIM_ASSIGN(BatchLogWriter file,
              BatchLogWriter::Open(LogPath(folder_, {last_generation_, next_number_}), 0));
  next_ = std::make_unique<BatchLogWriter>(std::move(file));
  return next_->Append(Label(LogPart::kHead, identity_, all.size()), std::span(&run_, 1));
}

Status Durability::AddAsideToNext(std::uint64_t kind, std::span<const std::uint64_t> words) {
  return next_->Append(Label(LogPart::kAside, kind), words);
}

Status Durability::FinishNext(std::span<const std::uint64_t> words, std::uint64_t records) {
  if (records > 0) SLIM_TRY(next_->Append(Label(LogPart::kRecords, records), words));
  SLIM_TRY(next_->Append(Label(LogPart::kMade), {}));
  return SyncPath(folder_);
}

Status Durability::TakeNext() {
  // Nobody adds anything meanwhile.
  if (!log_->Flush()) return EnvironmentError("{}: the log cannot be written", folder_);
  SLIM_TRY(next_->Append(Label(LogPart::kBegun), {}));
  file_ = std::move(next_);
  generation_ = last_generation_;
  number_ = next_number_;
  commit_bytes_ = 0;
  return {};
}

void Durability::DropNext() {
  if (!next_) return;
  next_.reset();
  static_cast<void>(::unlink(LogPath(folder_, {last_generation_, next_number_}).c_str()));
}

Status Durability::ReadAside(
    const std::function<void(std::uint64_t, std::span<const std::uint64_t>)>& look) const {
  SLIM_ASSIGN(
      const BatchLogReader log,
      BatchLogReader::Open(LogPath(folder_, {generation_, number_}), [](const BatchLabel& label) {
        const auto part = static_cast<LogPart>(label[0]);
        return part != LogPart::kHead && part != LogPart::kAside;
      }));
  for (const auto& batch : log.batches()) {
    if (static_cast<LogPart>(batch.label[0]) == LogPart::kAside) look(batch.label[1], batch.words);
  }
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
