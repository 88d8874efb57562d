// Transactions that read and append to a few lists, for checkers of histories: a list tells in
// which order its values came. Each attempt is a transaction of its own in the history, with values
// of its own; none is tried again.
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kLists = 6;  // that are in use at a time
constexpr std::size_t kMostOperations = 4;
constexpr std::uint32_t kListLength = 59;  // a record of several cache lines
constexpr std::uint64_t kTuplesPerNode = 1 << 14;

struct List {
  std::uint32_t count;
  std::uint32_t values[kListLength];
};

class ListAppendClient : public Client {
 public:
  ListAppendClient(Table& table, std::uint64_t lists, Transaction& transaction,
                   std::uint64_t processes, std::uint64_t seed,
                   const std::shared_ptr<Journal>& journal)
      : table_(table),
        process_(transaction.process()),
        processes_(processes),
        random_(seed),
        generations_(lists),
        all_at_once_(transaction.engine().protocol().fetches_once()) {
    history_.SetJournal(journal);
  }

  // A list that is full gives its place to a new one.
  void Choose() override {
    operations_.resize(1 + Below(random_, kMostOperations));
    for (ListOperation& operation : operations_) {
      const std::uint64_t place = Below(random_, generations_.size());
      operation = {.key = generations_[place] * generations_.size() + place,
                   .append = Chance(random_, 0.5)};
      if (operation.append) {
        operation.value = static_cast<std::uint32_t>(++values_ * processes_ + process_);
      }
    }
    one_by_one_ = Chance(random_, 0.5) && !all_at_once_;
  }

  Attempt Try(Transaction& transaction) override {
    history_.Add(EventType::kInvoke, process_, operations_);
    const Attempt attempt = Run(transaction);
    const bool well = attempt == Attempt::kCommitted;
    history_.Add(well ? EventType::kOk : EventType::kFail, process_, operations_);
    // Its values have been used up.
    return well ? Attempt::kCommitted : Attempt::kGaveUp;
  }

  const History& history() const { return history_; }

 private:
  Attempt Run(Transaction& transaction) {
    Access* accesses[kMostOperations];
    if (!one_by_one_) {
      Want wants[kMostOperations];
      for (std::size_t i = 0; i < operations_.size(); ++i) {
        wants[i] = {&table_, operations_[i].key, operations_[i].append};
      }
      if (!transaction.Fetch({wants, operations_.size()}, accesses)) return Attempt::kAborted;
    }
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      ListOperation& operation = operations_[i];
      if (one_by_one_) {
        accesses[i] = operation.append ? transaction.Write(table_, operation.key)
                                       : transaction.Read(table_, operation.key);
        if (accesses[i] == nullptr) return Attempt::kAborted;
      }
      List list{};
      if (accesses[i]->exists()) list = accesses[i]->Get<List>();
      if (!operation.append) {
        operation.read.emplace(list.values, list.values + list.count);
        continue;
      }
      if (list.count == kListLength) {
        ++generations_[operation.key % generations_.size()];
        transaction.Abort();
        return Attempt::kAborted;
      }
      list.values[list.count++] = operation.value;
      accesses[i]->Put(list);
    }
    return transaction.Commit() ? Attempt::kCommitted : Attempt::kAborted;
  }

  Table& table_;
  std::uint64_t process_;
  std::uint64_t processes_;
  Random random_;
  std::vector<std::uint64_t> generations_;  // of the list in each place
  std::vector<ListOperation> operations_;
  bool all_at_once_;
  bool one_by_one_ = false;
  std::uint64_t values_ = 0;
  History history_;
};

class ListAppend : public Workload {
 public:
  explicit ListAppend(const WorkloadOptions& options)
      : lists_(options.rows == 0 ? kLists : options.rows),
        seed_(options.seed),
        journal_path_(options.journal) {}

  std::string_view name() const override { return "list-append"; }

  void Configure(const WorkloadOptions&) override {}

  Status Load(Engine& engine) override {
    if (!engine.cluster().job().one_host()) {
      return UsageError("list-append orders events by one machine's clock; this job has several");
    }
    const Topology& topology = engine.cluster().topology();
    processes_ =
        std::uint64_t{topology.nodes()} * engine.cluster().threads() * engine.options().coroutines;
    SLIM_ASSIGN(table_, engine.AddTable({"lists", sizeof(List), kTuplesPerNode}));
    if (!journal_path_.empty()) {
      SLIM_ASSIGN(journal_, Journal::Create(JournalOf(journal_path_, engine.self())));
    }
    return {};
  }

  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<ListAppendClient>(*table_, lists_, transaction, processes_,
                                              seed_ * 1'000'003 + transaction.process(), journal_);
  }

  void Collect(Client& client) override {
    history_.Append(static_cast<ListAppendClient&>(client).history());
  }

  // That is the checker's.
  Status Verify(Engine&) override { return {}; }
  const History* history() const override { return &history_; }

 private:
  std::uint64_t lists_;
  std::uint64_t seed_;
  std::string journal_path_;
  std::shared_ptr<Journal> journal_;
  std::uint64_t processes_ = 1;
  Table* table_ = nullptr;
  History history_;
};

}  // namespace

std::unique_ptr<Workload> MakeListAppend(const WorkloadOptions& options) {
  return std::make_unique<ListAppend>(options);
}

}  // namespace slimgraph::txn
