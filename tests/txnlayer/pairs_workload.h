// A workload that notices phantoms. Transactions insert and erase pairs of keys, far apart, in an
// ordered table, and scan the lower keys and the upper ones. In each transaction, both scans must
// find the same pairs.
#pragma once

#include <memory>

#include "txnlayer/ordered/ordered_table.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::test {

class PairsWorkload : public txn::Workload {
 public:
  // `pairs`: how many there may be; half of them are there at first.
  PairsWorkload(std::uint64_t pairs, std::uint64_t seed) : pairs_(pairs), seed_(seed) {}

  std::string_view name() const override { return "pairs"; }
  Status Load(txn::Engine& engine) override;
  void Configure(const txn::WorkloadOptions&) override {}
  std::unique_ptr<txn::Client> MakeClient(txn::Transaction& transaction) override;
  void Collect(txn::Client& client) override;
  Status Verify(txn::Engine& engine) override;

  // On all nodes, after Verify(): transactions that have scanned, and found some pairs.
  std::uint64_t scans() const { return scans_; }

 private:
  const std::uint64_t pairs_;
  const std::uint64_t seed_;
  std::unique_ptr<txn::OrderedTable> table_;
  std::uint64_t scans_ = 0;
  std::uint64_t torn_ = 0;  // scans that found different pairs
};

}  // namespace slimgraph::test
