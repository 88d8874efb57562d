#include "txnlayer/workload/internal/tpcc_new_order.h"

#include <algorithm>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn::tpcc {
namespace {

constexpr double kRollbacks = 0.01;

}  // namespace

std::vector<std::uint64_t> WarehousesOf(const TpccTables& tables, Engine& engine) {
  std::vector<std::uint64_t> mine;
  for (std::uint64_t w = 0; w < tables.warehouses; ++w) {
    const NodeId home = tables.warehouse->Home(OfWarehouse(w));
    if (engine.cluster().topology().delegate(home) == engine.self()) mine.push_back(w);
  }
  return mine;
}

NewOrderClient::NewOrderClient(const TpccTables& tables, Transaction& transaction, double remote,
                               std::uint64_t seed)
    : tables_(tables),
      remote_(remote),
      self_(transaction.engine().self()),
      nodes_(transaction.engine().cluster().topology().nodes()),
      all_at_once_(transaction.engine().protocol().fetches_once()),
      mine_(WarehousesOf(tables, transaction.engine())),
      random_(seed),
      expected_(tables.warehouses * kDistricts,
                tables.all() ? std::uint64_t{tables.population.customers} + 1 : 1) {}

void NewOrderClient::Choose() {
  const Population& population = tables_.population;
  warehouse_ =
      mine_.empty() ? Below(random_, tables_.warehouses) : mine_[Below(random_, mine_.size())];
  district_ = Below(random_, kDistricts);
  customer_ = DrawCustomer(random_, population);
  count_ = kFewestLines + Below(random_, kMostLines - kFewestLines + 1);
  rollback_ = Chance(random_, kRollbacks);
  for (std::size_t i = 0; i < count_; ++i) {
    Line& line = lines_[i];
    const auto known = [&](std::uint64_t item) {
      return std::any_of(lines_, lines_ + i, [&](const Line& l) { return l.item == item; });
    };
    do {
      line.item = DrawItem(random_, population);
    } while (known(line.item));
    line.supplier = warehouse_;
    line.quantity = static_cast<std::uint32_t>(1 + Below(random_, 10));
    if (tables_.warehouses > 1 && Chance(random_, remote_)) {
      line.supplier = Below(random_, tables_.warehouses - 1);
      if (line.supplier >= warehouse_) ++line.supplier;
    }
  }
  if (rollback_) lines_[count_ - 1].item = population.items;  // no item has this number
}

Attempt NewOrderClient::Try(Transaction& transaction) {
  Want wants[kMostRead + kMostInserts];
  Access* found[kMostRead + kMostInserts];
  std::size_t wanted = 0;
  std::uint64_t& expected = expected_[warehouse_ * kDistricts + district_];
  wants[wanted++] = {tables_.warehouse, OfWarehouse(warehouse_), false};
  wants[wanted++] = {tables_.district, OfDistrict(warehouse_, district_), true};
  const Key customer = OfCustomer(warehouse_, district_, customer_);
  wants[wanted++] = {tables_.customer, customer, false};
  for (std::size_t i = 0; i < count_; ++i) {
    wants[wanted++] = {tables_.item, OfItem(lines_[i].item, self_, nodes_), false};
    if (lines_[i].item == tables_.population.items) continue;
    wants[wanted++] = {tables_.stock, OfStock(lines_[i].supplier, lines_[i].item), true};
  }
  Access** const last_order = found + wanted;
  if (tables_.all()) wants[wanted++] = {tables_.last_order, customer, true};
  Access** made = found + wanted;
  if (all_at_once_) wanted += WantInserts(expected, wants + wanted);
  if (!transaction.Fetch({wants, wanted}, found)) return Attempt::kAborted;
  auto district = found[1]->Get<District>();
  const std::uint64_t order = district.next_order++;
  if (all_at_once_ && order != expected) {
    expected = order;
    transaction.Abort(AbortReason::kChanged);
    return Attempt::kAborted;
  }
  expected = order + 1;
  found[1]->Put(district);
  if (rollback_) {
    transaction.Abort();
    return Attempt::kRolledBack;
  }
  const double rate = (1 - found[2]->Get<Customer>().discount * 1e-4) *
                      (1 + (found[0]->Get<Warehouse>().tax + district.tax) * 1e-4);
  Access* inserts[kMostInserts];
  if (!all_at_once_) {
    made = inserts;
    const std::size_t count = WantInserts(order, wants);
    if (!transaction.Fetch({wants, count}, made)) return Attempt::kAborted;
  }
  FillIn(order, found + 3, made, rate);
  if (tables_.all()) (*last_order)->Put(OrderNumber{order});
  return transaction.Commit() ? Attempt::kCommitted : Attempt::kAborted;
}

std::size_t NewOrderClient::WantInserts(std::uint64_t order, Want* wants) const {
  wants[0] = {tables_.order, OfOrder(warehouse_, district_, order), true};
  wants[1] = {tables_.new_order, OfOrder(warehouse_, district_, order), true};
  for (std::size_t i = 0; i < count_; ++i) {
    wants[2 + i] = {tables_.order_line, OfLine(warehouse_, district_, order, i), true};
  }
  return 2 + count_;
}

void NewOrderClient::FillIn(std::uint64_t order, Access** found, Access** made, double rate) const {
  bool all_local = true;
  for (std::size_t i = 0; i < count_; ++i) {
    const Line& line = lines_[i];
    auto stock = found[2 * i + 1]->Get<Stock>();
    const auto quantity = static_cast<std::int32_t>(line.quantity);
    stock.quantity += stock.quantity >= quantity + 10 ? -quantity : 91 - quantity;
    stock.ytd += line.quantity;
    ++stock.order_count;
    const bool remote = line.supplier != warehouse_;
    stock.remote_count += remote ? 1 : 0;
    all_local = all_local && !remote;
    found[2 * i + 1]->Put(stock);
    const double cents = line.quantity * found[2 * i]->Get<Item>().price_cents * rate;
    OrderLine made_line{static_cast<std::uint32_t>(line.item),
                        static_cast<std::uint32_t>(line.supplier),
                        line.quantity,
                        0,
                        static_cast<std::uint64_t>(cents),
                        {}};
    std::memcpy(made_line.district_info, stock.district_info[district_],
                sizeof made_line.district_info);
    made[2 + i]->Put(made_line);
  }
  made[0]->Put(Order{NowNs(), static_cast<std::uint32_t>(customer_),
                     static_cast<std::uint32_t>(count_), all_local ? 1U : 0U, 0});
  made[1]->Put(NewOrder{order});
}

}  // namespace slimgraph::txn::tpcc
