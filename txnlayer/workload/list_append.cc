// Lists as records of a table.
#include "txnlayer/workload/list_history.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kTuplesPerNode = 1 << 14;

struct List {
  std::uint32_t count;
  std::uint32_t values[kListLength];
};

class ListAppendClient : public ListHistoryClient {
 public:
  ListAppendClient(Table& table, Transaction& transaction, const ListHistoryOptions& options)
      : ListHistoryClient(transaction, options),
        table_(table),
        all_at_once_(transaction.engine().protocol().fetches_once()) {}

 protected:
  Attempt Run(Transaction& transaction, std::vector<ListOperation>& operations) override {
    std::vector<Access*> accesses(operations.size());
    // Requests the tuples all together or one by one, and in advance or each when it is needed.
    const bool one_by_one = Chance(random(), 0.5) && !all_at_once_;
    const bool ahead = Chance(random(), 0.5);
    std::vector<Want> wants;
    for (const ListOperation& operation : operations) {
      wants.push_back({&table_, operation.key, operation.append});
    }
    const std::size_t together = one_by_one ? 1 : wants.size();
    for (std::size_t i = 0; i < wants.size() && (ahead || !one_by_one); i += together) {
      const std::span<const Want> some = std::span(wants).subspan(i, together);
      const bool well = ahead ? transaction.StartFetch(some, &accesses[i])
                              : transaction.Fetch(some, &accesses[i]);
      if (!well) return Attempt::kAborted;
    }
    if (!transaction.FinishFetch()) return Attempt::kAborted;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      ListOperation& operation = operations[i];
      if (accesses[i] == nullptr && !transaction.Fetch({&wants[i], 1}, &accesses[i])) {
        return Attempt::kAborted;
      }
      List list{};
      if (accesses[i]->exists()) list = accesses[i]->Get<List>();
      if (!operation.append) {
        operation.read.emplace(list.values, list.values + list.count);
        continue;
      }
      if (list.count == kListLength) {
        GiveUpList(operation.key);
        transaction.Abort();
        return Attempt::kAborted;
      }
      list.values[list.count++] = operation.value;
      accesses[i]->Put(list);
    }
    return transaction.Commit() ? Attempt::kCommitted : Attempt::kAborted;
  }

 private:
  Table& table_;
  bool all_at_once_;
};

class ListAppend : public ListHistoryWorkload {
 public:
  using ListHistoryWorkload::ListHistoryWorkload;

  std::string_view name() const override { return "list-append"; }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<ListAppendClient>(*table_, transaction, options());
  }
  // A separate checker verifies the history.
  Status Verify(Engine&) override { return {}; }

 protected:
  Status LoadLists(Engine& engine) override {
    SLIM_ASSIGN(table_, engine.tables().Add({"lists", sizeof(List), kTuplesPerNode}));
    return {};
  }

 private:
  Table* table_ = nullptr;
};

}  // namespace

std::unique_ptr<Workload> MakeListAppend(const WorkloadOptions& options) {
  return std::make_unique<ListAppend>(options);
}

}  // namespace slimgraph::txn
