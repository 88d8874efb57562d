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
  std::uint64_t earlier_runs = 0;  // of which all are one history
  std::uint64_t seed = 1;
  std::shared_ptr<Journal> journal;  // null: none
};

class ListHistoryClient : public Client {
 public:
  ListHistoryClient(Transaction& transaction, const ListHistoryOptions& options)
      : process_(options.earlier_runs * options.processes + transaction.process()),
        processes_(options.processes),
        place_(transaction.process()),
        random_(options.seed * 1'000'003 + process_),
        generations_(options.lists),
        values_(options.earlier_runs * kValuesOfARun) {
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
  // Of each process, before those of a later run begin.
  static constexpr std::uint64_t kValuesOfARun = 1 << 16;

  std::uint64_t process_;  // no other, of whatever run, has that number
  std::uint64_t processes_;
  std::uint64_t place_;  // among the processes of this run
  Random random_;
  std::vector<std::uint64_t> generations_;  // of the list in each place
  std::vector<ListOperation> operations_;
  std::uint64_t values_;
  History history_;
};

class ListHistoryWorkload : public Workload {
 public:
  explicit ListHistoryWorkload(const WorkloadOptions& options);

  void Configure(const WorkloadOptions&) override {}
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
