// What workloads share whose transactions read and append to a few lists, for checkers of
// histories: a list tells in which order its values came. Each attempt is a transaction of its own
// in the history, with values of its own; none is tried again.
#pragma once

#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

// A list that has so many values gives its place to a new one.
constexpr std::uint32_t kListLength = 59;

struct ListHistoryOptions {
  std::uint64_t lists = 6;  // that are in use at a time
  std::uint64_t processes = 1;
  std::uint64_t seed = 1;
  std::shared_ptr<Journal> journal;  // null: none
};

class ListHistoryClient : public Client {
 public:
  ListHistoryClient(Transaction& transaction, const ListHistoryOptions& options)
      : process_(transaction.process()),
        processes_(options.processes),
        random_(options.seed * 1'000'003 + transaction.process()),
        generations_(options.lists) {
    history_.SetJournal(options.journal);
  }

  void Choose() override;
  Attempt Try(Transaction& transaction) override;

  const History& history() const { return history_; }

 protected:
  // Carries them out, and fills in what reads have found.
  virtual Attempt Run(Transaction& transaction, std::vector<ListOperation>& operations) = 0;
  // The list that a key stands for is full.
  void GiveUpList(std::uint64_t key) { ++generations_[key % generations_.size()]; }
  Random& random() { return random_; }

 private:
  std::uint64_t process_;
  std::uint64_t processes_;
  Random random_;
  std::vector<std::uint64_t> generations_;  // of the list in each place
  std::vector<ListOperation> operations_;
  std::uint64_t values_ = 0;
  History history_;
};

class ListHistoryWorkload : public Workload {
 public:
  explicit ListHistoryWorkload(const WorkloadOptions& options);

  void Configure(const WorkloadOptions&) override {}
  Status Load(Engine& engine) final;
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
