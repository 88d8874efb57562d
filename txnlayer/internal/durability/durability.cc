#include "txnlayer/internal/durability/durability.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/folders.h"
#include "txnlayer/internal/durability/word_exchange.h"
#include "txnlayer/internal/store/record.h"
#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {
namespace {

// Records are exchanged, and written, in portions of about this size.
constexpr std::size_t kWordsAtATime = (1 << 20) / kWordBytes;

using Words = WordExchange::Words;

bool HasRecords(const BatchLogReader::Batch& batch) {
  const auto part = static_cast<LogPart>(batch.label[0]);
  return part == LogPart::kCommits || part == LogPart::kRecords;
}

// Collective: distributes the contents of the logs that this node reads. `add` appends what a batch
// has for each node to that node's part. `take` receives what is for this node.
Status Distribute(Cluster& cluster, const std::vector<BatchLogReader>& logs, WordExchange& exchange,
                  const std::function<void(const BatchLogReader::Batch&, std::span<Words>)>& add,
                  const std::function<Status(std::span<const std::uint64_t>)>& take) {
  std::size_t log = 0;
  std::size_t batch = 0;
  std::vector<Words> parts(cluster.topology().nodes());
  const auto fill = [&] {
    for (Words& part : parts) part.clear();
    for (std::uint64_t words = 0; log < logs.size() && words < kWordsAtATime;) {
      if (batch == logs[log].batches().size()) {
        ++log;
        batch = 0;
        continue;
      }
      add(logs[log].batches()[batch++], parts);
      words = 0;
      for (const Words& part : parts) words += part.size();
    }
  };
  while (true) {
    fill();
    SLIM_ASSIGN(const auto received, exchange.Exchange(parts));
    if (!received) return {};
    for (const Words& words : *received) SLIM_TRY(take(words));
  }
}

// An upper bound of the words that this node distributes in one round.
std::uint64_t MostWords(const std::vector<BatchLogReader>& logs) {
  std::uint64_t most = 0;
  for (const BatchLogReader& log : logs) {
    for (const auto& batch : log.batches()) {
      if (HasRecords(batch)) most = std::max<std::uint64_t>(most, batch.words.size());
    }
  }
  return most == 0 ? 0 : kWordsAtATime + most;
}

// Collective: each node takes back the aside batches that it has read.
Status RestoreAside(const std::vector<BatchLogReader>& logs, const std::string& folder,
                    AsideOwner* aside) {
  for (const BatchLogReader& log : logs) {
    for (const auto& batch : log.batches()) {
      if (static_cast<LogPart>(batch.label[0]) != LogPart::kAside) continue;
      if (aside == nullptr) {
        return InputError(
            "{}: its logs have folded changes, which only a run that folds can read: run without "
            "--fold 0, over shm or tcp",
            folder);
      }
      SLIM_TRY(aside->RestoreBatch(batch.label[1], batch.words));
    }
  }
  return aside == nullptr ? Status() : aside->FinishRestore();
}

// Checks that these are records of the engine's tables.
Status CheckRecords(Tables& tables, const std::vector<BatchLogReader>& logs,
                    const std::string& folder) {
  std::vector<std::uint64_t> version_words;
  for (TableId id = 0; id < tables.size(); ++id) {
    version_words.push_back(tables[id].version_bytes() / kWordBytes);
  }
  for (const BatchLogReader& log : logs) {
    for (const auto& batch : log.batches()) {
      if (HasRecords(batch) && !AreRecords(batch.words, version_words)) {
        return InputError("{}: its logs have records that do not fit these tables", folder);
      }
    }
  }
  return {};
}

// Collective: sends each write to the home of its tuple, which keeps the version that was written
// last. They arrive in any order.
Status PutBackRecords(Tables& tables, const std::vector<BatchLogReader>& logs,
                      WordExchange& exchange, const std::string& folder) {
  SLIM_TRY(CheckRecords(tables, logs, folder));
  const auto add = [&](const BatchLogReader::Batch& batch, std::span<Words> parts) {
    if (!HasRecords(batch)) return;
    for (auto rest = batch.words; !rest.empty(); rest = rest.subspan(1 + rest[0])) {
      ForEachWrite(rest.subspan(1, rest[0]), [&](TableId id, Key key, const std::byte* version) {
        const Table& table = tables[id];
        Words& part = parts[table.Home(key)];
        part.insert(part.end(), {key, id});
        const std::size_t at = part.size();
        part.resize(at + table.version_bytes() / kWordBytes);
        std::memcpy(part.data() + at, version, table.version_bytes());
      });
    }
  };
  const auto take = [&](std::span<const std::uint64_t> words) -> Status {
    while (!words.empty()) {
      Table& table = tables[static_cast<TableId>(words[1])];
      if (!tables.PutVersion(table, words[0], 0, std::as_bytes(words.subspan(2)).data())) {
        return InputError(
            "{}: table {} has no room for its records: nodes with more memory are needed", folder,
            table.spec().name);
      }
      words = words.subspan(2 + table.version_bytes() / kWordBytes);
    }
    return {};
  };
  return Distribute(tables.cluster(), logs, exchange, add, take);
}

}  // namespace

Result<std::unique_ptr<Durability>> Durability::Begin(Tables& tables, const std::string& folder,
                                                      const LogSubject& subject, AsideOwner* aside,
                                                      std::function<void(const Error&)> fail,
                                                      const LedgerOptions& ledger) {
  std::unique_ptr<Durability> durability(new Durability());
  durability->fail_ = std::move(fail);
  durability->folder_ = folder;
  durability->subject_ = subject;
  Collectives& all = tables.cluster().all();
  SLIM_TRY(MakeLogFolder(folder));
  // Only node 0 locks its folder. If other nodes have folders of their own, its lock protects these
  // too.
  if (tables.self() == 0) {
    SLIM_ASSIGN(durability->lock_, LockLogs(folder));
  }
  SLIM_TRY(all.Barrier());
  SLIM_ASSIGN(const LogsToRead logs, FindLogs(all, folder, subject));
  durability->run_ = logs.last_run + 1;
  durability->generation_ = durability->last_generation_ = logs.last_generation + 1;
  Recovered& recovered = durability->recovered_;
  for (const BatchLogReader& log : logs.mine) {
    recovered.cut_bytes += log.broken_bytes();
    for (const auto& batch : log.batches()) {
      const bool commits = static_cast<LogPart>(batch.label[0]) == LogPart::kCommits;
      recovered.transactions += commits ? batch.label[1] : 0;
    }
  }
  if (logs.last_generation > 0) {
    Cluster& cluster = tables.cluster();
    SLIM_ASSIGN(WordExchange exchange, WordExchange::Make(cluster, MostWords(logs.mine)));
    SLIM_TRY(RestoreAside(logs.mine, folder, aside));
    SLIM_TRY(PutBackRecords(tables, logs.mine, exchange, folder));
  }
  SLIM_TRY(durability->BeginLog(tables, aside, ledger));
  Recovered& sums = durability->recovered_;
  std::uint64_t numbers[] = {sums.records, sums.transactions, sums.cut_bytes};
  SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(numbers), std::plus<>()));
  sums = {numbers[0], numbers[1], numbers[2]};
  return durability;
}

// `aside`: the generation of the aside files before this file.
Result<std::unique_ptr<BatchLogWriter>> Durability::Create(const LogName& name, std::uint64_t nodes,
                                                           std::uint64_t aside) const {
  SLIM_ASSIGN(BatchLogWriter file, BatchLogWriter::Open(LogPath(folder_, name), 0));
  SLIM_TRY(AppendHead(file, subject_, nodes, run_, aside));
  return std::make_unique<BatchLogWriter>(std::move(file));
}

// Writes all records that were ever written; the others have their initial contents. Returns the
// number of records.
Result<std::uint64_t> Durability::AddTables(Tables& tables, BatchLogWriter& file) {
  std::vector<std::uint64_t> words;
  std::uint64_t count = 0;
  std::uint64_t all = 0;
  Status status;
  const auto write = [&] {
    if (status && count > 0) status = file.Append(Label(LogPart::kRecords, count), words);
    all += count;
    words.clear();
    count = 0;
  };
  tables.ForEachTuple([&](Table& table, const std::byte* bytes) {
    if (table.spec().derived) return;
    const TupleView tuple(table, bytes);
    const std::byte* const version = tables.protocol().LatestVersion(tuple);
    if (WordOfVersion(version) / kOneWrite == 0) return;
    Record record;
    BeginRecord(record, 0);
    AddWrite(record, table, tuple.key(), version);
    words.push_back(record.size());
    words.insert(words.end(), record.begin(), record.end());
    ++count;
    if (words.size() >= kWordsAtATime) write();
  });
  write();
  SLIM_TRY(status);
  return all;
}

Status Durability::BeginLog(Tables& tables, AsideOwner* aside, const LedgerOptions& ledger) {
  Collectives& all = tables.cluster().all();
  const std::uint64_t number = all.rank();
  SLIM_ASSIGN(file_, Create({generation_, number}, all.size(), aside == nullptr ? 0 : generation_));
  BatchLogWriter& file = *file_;
  if (aside != nullptr) {
    SLIM_ASSIGN(next_aside_file_, Create({generation_, number, LogKind::kAside}, all.size(), 0));
    next_aside_ = {generation_, number, 0, all.size()};
    SLIM_TRY(aside->WriteAll([&](std::uint64_t kind, std::span<const std::uint64_t> kept) {
      return AddAsideToNext(kind, kept);
    }));
    SLIM_TRY(CompleteNextAside());
    aside_ = {next_aside_};
  }
  SLIM_ASSIGN(recovered_.records, AddTables(tables, file));
  first_generation_ = generation_;
  Job& job = tables.cluster().job();
  if (ledger.remote) {
    SLIM_ASSIGN(
        ledger_,
        Ledger::Begin(tables.cluster(), LogPath(folder_, {generation_, number, LogKind::kLedger}),
                      run_, ledger, [this, &job](const Error& error) { Fail(job, error); }));
  }
  SLIM_TRY(NameLedger(file));
  SLIM_TRY(file.Append(Label(LogPart::kComplete), {}));
  SLIM_TRY(all.Barrier());
  SLIM_TRY(file.Append(Label(LogPart::kBegun), {}));
  SLIM_TRY(all.Barrier());
  SLIM_TRY(RemovePrevious());
  SLIM_TRY(all.Barrier());
  Fabric& fabric = tables.cluster().fabric();
  log_ = std::make_unique<CommitLog>(CommitLog::Callbacks{
      .write =
          [this](std::span<const std::uint64_t> records, std::uint64_t transactions) {
            commit_bytes_ += records.size_bytes();
            return file_->Append(Label(LogPart::kCommits, transactions), records);
          },
      .wake =
          [&fabric] {
            for (std::uint32_t i = 0; i < fabric.endpoints(); ++i) fabric.endpoint(i).Wake();
          },
      .fail = [this, &job](const Error& error) { Fail(job, error); }});
  return {};
}

Status Durability::NameLedger(BatchLogWriter& file) const {
  if (!ledger_ || !ledger_->kept_here()) return {};
  return file.Append(Label(LogPart::kLedger, first_generation_), {});
}

void Durability::Fail(Job& job, const Error& error) const {
  if (fail_) return fail_(error);
  job.Fail(error);
}

void Durability::Stop() {
  stopped_ = true;
  log_->Stop();
}

// Records of an older generation are not needed any more. Those of a newer one come from nodes that
// have switched, while this node has failed to. False: recovery needs it, but this log cannot have
// it.
bool Durability::AddIfCurrent(std::uint64_t generation, const Record& record, std::uint64_t& last) {
  if (generation == generation_) last = log_->Add(record);
  return generation <= generation_;
}

std::optional<std::uint64_t> Durability::DrainLedger(std::uint32_t ring, std::uint64_t up_to) {
  std::uint64_t last = 0;
  bool good = true;
  const bool whole = ledger_->Drain(ring, up_to, [&](std::uint64_t generation, const Record& one) {
    good = AddIfCurrent(generation, one, last) && good;
  });
  return whole && good ? std::optional(last) : std::nullopt;
}

// Begins a new chain when the additions are larger than its first file, so the total stays within a
// few times the live data. Also when a node has died, whose files may be lost.
Result<bool> Durability::BeginNext(Collectives& all) {
  SLIM_ASSIGN(last_generation_, all.AllMax(last_generation_ + 1));
  next_number_ = all.rank();
  const LogName name{last_generation_, next_number_};
  if (aside_.empty()) {
    SLIM_ASSIGN(next_, Create(name, all.size(), 0));
    return true;
  }
  std::uint64_t bytes[] = {aside_.front().bytes, 0};
  for (const AsideFile& file : std::span(aside_).subspan(1)) bytes[1] += file.bytes;
  SLIM_TRY(all.AllReduce(std::span<std::uint64_t>(bytes), std::plus<>()));
  next_begins_chain_ = bytes[1] > bytes[0] || aside_.front().nodes != all.size();
  const std::uint64_t before = next_begins_chain_ ? 0 : aside_.back().generation;
  SLIM_ASSIGN(next_, Create(name, all.size(), last_generation_));
  SLIM_ASSIGN(next_aside_file_,
              Create({last_generation_, next_number_, LogKind::kAside}, all.size(), before));
  next_aside_ = {last_generation_, next_number_, 0, all.size()};
  return next_begins_chain_;
}

Status Durability::AddAsideToNext(std::uint64_t kind, std::span<const std::uint64_t> words) {
  next_aside_.bytes += words.size_bytes();
  return next_aside_file_->Append(Label(LogPart::kAside, kind), words);
}

Status Durability::CompleteNextAside() {
  SLIM_TRY(next_aside_file_->Append(Label(LogPart::kComplete), {}));
  next_aside_file_.reset();
  return {};
}

Status Durability::AddTablesToNext(Tables& tables) {
  SLIM_TRY(AddTables(tables, *next_));
  return {};
}

Status Durability::CompleteNext(std::span<const std::uint64_t> words, std::uint64_t records) {
  if (next_aside_file_) SLIM_TRY(CompleteNextAside());
  if (records > 0) SLIM_TRY(next_->Append(Label(LogPart::kRecords, records), words));
  SLIM_TRY(NameLedger(*next_));
  return next_->Append(Label(LogPart::kComplete), {});
}

Status Durability::SwitchToNext() {
  // No transaction runs, so nobody adds records.
  if (!log_->Flush()) return EnvironmentError("{}: the log cannot be written", folder_);
  const Status begun = next_->Append(Label(LogPart::kBegun), {});
  if (!begun) {
    // Other nodes may have switched, and recovery then ignores the current logs. So this log must
    // not take another commit before the job ends.
    Stop();
    return begun;
  }
  file_ = std::move(next_);
  generation_ = last_generation_;
  if (!aside_.empty()) {
    if (next_begins_chain_) aside_.clear();
    aside_.push_back(next_aside_);
  }
  commit_bytes_ = 0;
  return {};
}

void Durability::DiscardNext() {
  if (!next_) return;
  next_.reset();
  next_aside_file_.reset();
  for (const LogKind kind : {LogKind::kCommits, LogKind::kAside}) {
    static_cast<void>(RemoveFile(LogPath(folder_, {last_generation_, next_number_, kind})));
  }
}

void Durability::StopInDoubt() {
  Stop();
  next_.reset();  // closes it
  next_aside_file_.reset();
}

Status Durability::ReadAside(
    const std::function<void(std::uint64_t, std::span<const std::uint64_t>)>& look) const {
  for (const AsideFile& file : aside_) {
    SLIM_ASSIGN(
        const BatchLogReader log,
        BatchLogReader::Open(LogPath(folder_, {file.generation, file.number, LogKind::kAside})));
    for (const auto& batch : log.batches()) {
      if (static_cast<LogPart>(batch.label[0]) == LogPart::kAside) {
        look(batch.label[1], batch.words);
      }
    }
  }
  return {};
}

// The end mark distinguishes later damage of the last commits from a write that a crash
// interrupted.
Durability::~Durability() {
  if (!log_) return;
  // After a run that has ended well, all its commits are whole in the ledger.
  bool whole = true;
  if (ledger_) {
    ledger_->DrainAll([&](std::uint64_t generation, const Record& record) {
      std::uint64_t number = 0;
      whole = AddIfCurrent(generation, record, number) && whole;
    });
  }
  whole = log_->Flush() && whole;
  log_.reset();
  if (!whole || (ledger_ && !ledger_->SetAllDrained())) return;
  static_cast<void>(file_->Append(Label(LogPart::kEnd), {}));
}

}  // namespace slimgraph::txn
