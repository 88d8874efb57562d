// The common part of workloads whose transactions read and append to a few lists, for checkers of
// histories: a list shows the order of its values. Each attempt is a separate transaction in the
// history, with its own values, and is not retried.
#pragma once

#include <algorithm>

#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

// A list with this many values is replaced by a new one.
constexpr std::uint32_t kListLength = 59;

struct ListHistoryOptions {
  std::uint64_t lists = 6;  // in use at a time
  std::uint64_t processes = 1;
  std::uint64_t earlier_runs = 0;  // which belong to the same history
  std::uint64_t seed = 1;
  std::shared_ptr<Journal> journal;  // null: none
};

class ListHistoryClient : public Client {
 public:
  ListHistoryClient(Transaction& transaction, const ListHistoryOptions& options)
      : process_(options.earlier_runs * kProcessesOfARun + transaction.process()),
        processes_(options.processes),
        process_index_(transaction.process()),
        random_(options.seed * 1'000'003 + process_),
        generations_(options.lists),
        first_value_(options.earlier_runs * kValuesOfARun) {
    history_.SetJournal(options.journal);
  }

  void Choose() override;
  bool only_reads() const override {
    return std::none_of(operations_.begin(), operations_.end(),
                        [](const ListOperation& operation) { return operation.append; });
  }
  Attempt Try(Transaction& transaction) override;

  const History& history() const { return history_; }

 protected:
  // Executes the operations, and fills in the results of reads.
  virtual Attempt Run(Transaction& transaction, std::vector<ListOperation>& operations) = 0;
  // The list of that key is full.
  void GiveUpList(std::uint64_t key) { ++generations_[key % generations_.size()]; }
  Random& random() { return random_; }

 private:
  // The processes and values reserved for each run. A later run may have more processes or fewer.
  static constexpr std::uint64_t kProcessesOfARun = 1 << 16;
  static constexpr std::uint64_t kValuesOfARun = 1 << 24;

  std::uint64_t process_;  // unique over all runs
  std::uint64_t processes_;
  std::uint64_t process_index_;  // among the processes of this run
  Random random_;
  std::vector<std::uint64_t> generations_;  // of the list at each index
  std::vector<ListOperation> operations_;
  std::uint64_t first_value_;
  std::uint64_t values_ = 0;
  History history_;
};

class ListHistoryWorkload : public Workload {
 public:
  explicit ListHistoryWorkload(const WorkloadOptions& options);

  // Another run on the same lists, with values of its own.
  void Configure(const WorkloadOptions&) override { ++options_.earlier_runs; }
  Status Load(Engine& engine) final;
  Status Resume(Engine&, std::uint64_t run) final {
    options_.earlier_runs = run - 1;
    return {};
  }
  void Collect(Client& client) override {
    history_.Append(static_cast<ListHistoryClient&>(client).history());
  }
  const History* history() const override { return &history_; }

 protected:
  virtual Status LoadLists(Engine& engine) = 0;
  const ListHistoryOptions& options() const { return options_; }

 private:
  ListHistoryOptions options_;
  std::string journal_path_;
  History history_;
};

}  // namespace slimgraph::txn
