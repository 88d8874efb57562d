#include "txnlayer/workload/list_history.h"

namespace slimgraph::txn {
namespace {

constexpr std::size_t kMostOperations = 4;

}  // namespace

void ListHistoryClient::Choose() {
  operations_.resize(1 + Below(random_, kMostOperations));
  for (ListOperation& operation : operations_) {
    const std::uint64_t place = Below(random_, generations_.size());
    operation = {.key = generations_[place] * generations_.size() + place,
                 .append = Chance(random_, 0.5)};
    if (operation.append) {
      operation.value = static_cast<std::uint32_t>(++values_ * processes_ + place_);
    }
  }
}

Attempt ListHistoryClient::Try(Transaction& transaction) {
  history_.Add(EventType::kInvoke, process_, operations_);
  const Attempt attempt = Run(transaction, operations_);
  const bool well = attempt == Attempt::kCommitted;
  history_.Add(well ? EventType::kOk : EventType::kFail, process_, operations_);
  // Its values have been used up.
  return well ? Attempt::kCommitted : Attempt::kGaveUp;
}

ListHistoryWorkload::ListHistoryWorkload(const WorkloadOptions& options)
    : journal_path_(options.journal) {
  if (options.rows != 0) options_.lists = options.rows;
  options_.seed = options.seed;
}

Status ListHistoryWorkload::Load(Engine& engine) {
  if (!engine.cluster().job().one_host()) {
    return UsageError("{} orders events by one machine's clock; this job has several", name());
  }
  const Topology& topology = engine.cluster().topology();
  options_.processes =
      std::uint64_t{topology.nodes()} * engine.cluster().threads() * engine.options().coroutines;
  SLIM_TRY(LoadLists(engine));
  if (journal_path_.empty()) return {};
  SLIM_ASSIGN(options_.journal, Journal::Create(JournalOf(journal_path_, engine.self())));
  return {};
}

}  // namespace slimgraph::txn
