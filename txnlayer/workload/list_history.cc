#include "txnlayer/workload/list_history.h"

namespace slimgraph::txn {
namespace {

constexpr std::size_t kMostOperations = 4;

}  // namespace

void ListHistoryClient::Choose() {
  operations_.resize(1 + Below(random_, kMostOperations));
  for (ListOperation& operation : operations_) {
    const std::uint64_t index = Below(random_, generations_.size());
    operation = {.key = generations_[index] * generations_.size() + index,
                 .append = Chance(random_, 0.5)};
    if (operation.append) {
      operation.value =
          static_cast<std::uint32_t>(first_value_ + ++values_ * processes_ + process_index_);
    }
  }
}

Attempt ListHistoryClient::Try(Transaction& transaction) {
  history_.Add(EventType::kInvoke, process_, operations_);
  const Attempt attempt = Run(transaction, operations_);
  const bool well = attempt == Attempt::kCommitted;
  history_.Add(well ? EventType::kOk : EventType::kFail, process_, operations_);
  // A retry would append the same values again, so there is none.
  return well ? Attempt::kCommitted : Attempt::kRolledBack;
}

ListHistoryWorkload::ListHistoryWorkload(const WorkloadOptions& options)
    : journal_path_(options.journal) {
  if (options.rows != 0) options_.lists = options.rows;
  options_.seed = options.seed;
}

Status ListHistoryWorkload::Load(Engine& engine) {
  if (!engine.cluster().job().one_host()) {
    return UsageError(
        "{} orders events by one machine's clock, but this job runs on several machines", name());
  }
  const Topology& topology = engine.cluster().topology();
  options_.processes = std::uint64_t{topology.nodes()} * engine.cluster().threads() *
                       engine.options().most_coroutines;
  SLIM_TRY(LoadLists(engine));
  if (journal_path_.empty()) return {};
  SLIM_ASSIGN(options_.journal, Journal::Create(JournalOf(journal_path_, engine.self())));
  return {};
}

}  // namespace slimgraph::txn
