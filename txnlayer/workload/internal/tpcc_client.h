// A client of TPC-C's five transactions, in the mix of the standard (clause 5.2.3). It neither
// waits nor thinks between them.
#pragma once

#include <array>
#include <vector>

#include "txnlayer/stepwise_fetch.h"
#include "txnlayer/workload/internal/tpcc_new_order.h"

namespace slimgraph::txn::tpcc {

enum class Kind : std::uint8_t { kNewOrder, kPayment, kOrderStatus, kDelivery, kStockLevel };
constexpr std::size_t kKinds = 5;
constexpr std::array<const char*, kKinds> kKindNames = {"new_order", "payment", "order_status",
                                                        "delivery", "stock_level"};

class TpccClient : public Client {
 public:
  TpccClient(const TpccTables& tables, Transaction& transaction, double remote, std::uint64_t seed);

  void Choose() override;
  bool only_reads() const override {
    return kind_ == Kind::kOrderStatus || kind_ == Kind::kStockLevel;
  }
  std::uint32_t kind() const override { return static_cast<std::uint32_t>(kind_); }
  std::uint32_t partition() const override {
    return kind_ == Kind::kNewOrder ? new_order_.partition()
                                    : static_cast<std::uint32_t>(warehouse_);
  }
  Attempt Try(Transaction& transaction) override;

  const std::array<std::uint64_t, kKinds>& commits() const { return commits_; }
  // How many transactions have committed after they had read a part of another's changes.
  std::uint64_t torn() const { return torn_; }

 private:
  // A customer, by number or by last name.
  struct Chosen {
    std::uint64_t warehouse = 0;
    std::uint64_t district = 0;
    bool by_name = false;
    std::uint64_t number = 0;  // of the customer, or of the name
  };
  Chosen ChooseCustomer(std::uint64_t warehouse, std::uint64_t district);

  // Each fetches and changes its tuples. False: the transaction was aborted.
  bool Pay(Transaction& transaction);
  bool ReadLastOrder(Transaction& transaction);
  bool Deliver(Transaction& transaction);
  bool CountLowStock(Transaction& transaction);

  // Fetches wants_ to found_.
  bool Fetch(Transaction& transaction);
  void WantLines(Key order, const Order& read, bool write);
  // Finds the key of the chosen customer: the middle one of that name, if it is by name.
  bool FindCustomer(Transaction& transaction, Key& key);

  const TpccTables& tables_;
  NewOrderClient new_order_;
  StepwiseFetch steps_;
  const std::vector<std::uint64_t> mine_;
  Random random_;
  Kind kind_ = Kind::kNewOrder;
  std::uint64_t warehouse_ = 0;
  std::uint64_t district_ = 0;
  Chosen chosen_;
  std::int64_t cents_ = 0;      // of a payment
  std::uint32_t carrier_ = 0;   // of a delivery
  std::int32_t threshold_ = 0;  // of a stock level
  bool saw_torn_ = false;       // in this attempt
  std::vector<Want> wants_;
  std::vector<Access*> found_;
  std::vector<Key> namesakes_;
  std::array<std::uint64_t, kKinds> commits_ = {};
  std::uint64_t torn_ = 0;
};

}  // namespace slimgraph::txn::tpcc
