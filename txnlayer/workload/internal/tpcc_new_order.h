// The new-order transaction of TPC-C (clause 2.4): up to 15 lines. One line in a hundred is from
// another warehouse, and one order in a hundred is rolled back because an item does not exist.
//
// The order's number, and so the keys of the inserts, are read from the district. Some protocols
// need all keys before anything is read. There the client guesses the number, and retries with the
// right one if the guess was wrong.
#pragma once

#include <vector>

#include "txnlayer/workload/internal/tpcc_tables.h"

namespace slimgraph::txn::tpcc {

constexpr double kRemoteLines = 0.01;

// The warehouses for which this node works.
std::vector<std::uint64_t> WarehousesOf(const TpccTables& tables, Engine& engine);

class NewOrderClient : public Client {
 public:
  // `remote`: the share of lines from other warehouses.
  NewOrderClient(const TpccTables& tables, Transaction& transaction, double remote,
                 std::uint64_t seed);

  void Choose() override;
  std::uint32_t partition() const override { return static_cast<std::uint32_t>(warehouse_); }
  Attempt Try(Transaction& transaction) override;

 private:
  struct Line {
    std::uint64_t item;
    std::uint64_t supplier;
    std::uint32_t quantity;
  };
  // The order, the new order, and the lines.
  static constexpr std::size_t kMostInserts = 2 + kMostLines;
  // The warehouse, the district, the customer, items and stock, and the customer's last order.
  static constexpr std::size_t kMostRead = 4 + 2 * kMostLines;

  // Returns their number.
  std::size_t WantInserts(std::uint64_t order, Want* wants) const;
  // `found`: the item and the stock of each line in turn; `made`: the inserted tuples.
  void FillIn(std::uint64_t order, Access** found, Access** made, double rate) const;

  const TpccTables& tables_;
  const double remote_;
  const NodeId self_;
  const NodeId nodes_;
  const bool all_at_once_;
  const std::vector<std::uint64_t> mine_;
  Random random_;
  std::uint64_t warehouse_ = 0;
  std::uint64_t district_ = 0;
  std::uint64_t customer_ = 0;
  std::size_t count_ = 0;
  bool rollback_ = false;
  Line lines_[kMostLines];
  std::vector<std::uint64_t> expected_;  // of each district: the expected number of the next order
};

}  // namespace slimgraph::txn::tpcc
