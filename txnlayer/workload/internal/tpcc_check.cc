// The consistency conditions of TPC-C (clause 3.3.2), over the records of all nodes.
#include <map>
#include <unordered_map>

#include "txnlayer/workload/internal/tpcc_tables.h"

namespace slimgraph::txn::tpcc {
namespace {

// What was found about a district.
struct FoundInDistrict {
  std::uint64_t orders = 0;
  std::uint64_t last_order = 0;
  std::uint64_t new_orders = 0;
  std::uint64_t first_new_order = ~std::uint64_t{0};
  std::uint64_t last_new_order = 0;
  std::uint64_t expected_lines = 0;
  std::uint64_t lines = 0;
  std::uint64_t delivered = 0;  // orders with a carrier
};
struct FoundAboutOrder {
  std::uint32_t expected_lines = 0;
  std::uint32_t lines = 0;
  std::uint32_t delivered_lines = 0;
  std::uint32_t carrier = 0;
  Key customer = 0;
  std::int64_t cents = 0;
  bool is_new = false;
  bool exists = false;
};
struct FoundAboutCustomer {
  std::int64_t delivered_cents = 0;
  std::int64_t paid_cents = 0;
  std::uint64_t payments = 0;
  std::uint64_t deliveries = 0;  // and the initial orders that were delivered
};

template <typename Record>
Record As(const std::byte* bytes) {
  Record record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

class Check {
 public:
  Check(Engine& engine, const TpccTables& tables) : engine_(engine), tables_(tables) {}

  Status Run() {
    Gather();
    Status status = tables_.all() ? CheckOrders() : Status();
    if (status && tables_.all()) status = CheckCustomers();
    if (status) status = CheckDistricts();
    // All nodes take part in what follows, whatever they have found.
    SLIM_ASSIGN(const Status payments, CheckPayments());
    SLIM_ASSIGN(const Status stock, CheckStock());
    SLIM_TRY(status);
    SLIM_TRY(payments);
    return stock;
  }

 private:
  template <typename Record, typename Visit>
  void ForEach(Table* table, Visit visit) {
    if (table == nullptr) return;
    engine_.tables().ForEachRecord(*table, [&](Key key, const std::byte* record) {
      if (record != nullptr) visit(key, As<Record>(record));
    });
  }

  void Gather() {
    ForEach<Order>(tables_.order, [&](Key key, const Order& order) {
      FoundInDistrict& district = districts_[DistrictOf(key)];
      ++district.orders;
      district.last_order = std::max(district.last_order, OrderOf(key));
      district.expected_lines += order.lines;
      district.delivered += order.carrier != 0 ? 1 : 0;
      if (!tables_.all()) return;
      FoundAboutOrder& found = orders_[key];
      found.exists = true;
      found.expected_lines = order.lines;
      found.carrier = order.carrier;
      found.customer = DistrictOf(key) | order.customer;
    });
    ForEach<NewOrder>(tables_.new_order, [&](Key key, const NewOrder&) {
      FoundInDistrict& district = districts_[DistrictOf(key)];
      ++district.new_orders;
      district.first_new_order = std::min(district.first_new_order, OrderOf(key));
      district.last_new_order = std::max(district.last_new_order, OrderOf(key));
      if (tables_.all()) orders_[key].is_new = true;
    });
    ForEach<OrderLine>(tables_.order_line, [&](Key key, const OrderLine& line) {
      ++districts_[DistrictOf(key)].lines;
      const bool initial =
          tables_.all() && OrderOf(OrderOfLine(key)) <= tables_.population.customers;
      if (!initial) ordered_ += line.quantity;
      if (!tables_.all()) return;
      FoundAboutOrder& order = orders_[OrderOfLine(key)];
      ++order.lines;
      order.delivered_lines += line.delivered_s != 0 ? 1 : 0;
      order.cents += static_cast<std::int64_t>(line.amount_cents);
    });
    ForEach<Stock>(tables_.stock, [&](Key, const Stock& stock) { taken_ += stock.ytd; });
    for (const auto& [key, order] : orders_) {
      if (order.carrier == 0) continue;
      customers_[order.customer].delivered_cents += order.cents;
      ++customers_[order.customer].deliveries;
    }
    ForEach<History>(tables_.history, [&](Key key, const History& payment) {
      FoundAboutCustomer& customer = customers_[CustomerOfPayment(key)];
      customer.paid_cents += payment.amount_cents;
      ++customer.payments;
    });
  }

  // Conditions 5 to 7.
  Status CheckOrders() const {
    for (const auto& [key, order] : orders_) {
      if (!order.exists || order.is_new != (order.carrier == 0)) {
        return VerificationError("TPC-C condition 5: order {:x} has carrier {}, and {} new", key,
                                 order.carrier, order.is_new ? "is" : "is not");
      }
      if (order.expected_lines != order.lines) {
        return VerificationError("TPC-C condition 6: order {:x} has {} lines, not {}", key,
                                 order.lines, order.expected_lines);
      }
      if (order.delivered_lines != (order.carrier == 0 ? 0 : order.lines)) {
        return VerificationError(
            "TPC-C condition 7: order {:x} has carrier {}, and {} of its {} lines are delivered",
            key, order.carrier, order.delivered_lines, order.lines);
      }
    }
    return {};
  }

  // Conditions 10 and 12.
  Status CheckCustomers() {
    Status status;
    ForEach<FullCustomer>(tables_.customer, [&](Key key, const FullCustomer& customer) {
      const FoundAboutCustomer& found = customers_[key];
      const std::int64_t balance = found.delivered_cents - found.paid_cents;
      if (customer.balance_cents != balance) {
        status = VerificationError(
            "TPC-C condition 10: customer {:x} has a balance of {}, but orders of {} were "
            "delivered and {} were paid",
            key, customer.balance_cents, found.delivered_cents, found.paid_cents);
      } else if (customer.balance_cents + customer.paid_cents != found.delivered_cents) {
        status = VerificationError(
            "TPC-C condition 12: customer {:x} has a balance of {} after paying {}, but orders of "
            "{} were delivered",
            key, customer.balance_cents, customer.paid_cents, found.delivered_cents);
      } else if (customer.payments != found.payments) {
        status = VerificationError("TPC-C: customer {:x} has paid {} times, not {}", key,
                                   found.payments, customer.payments);
      }
    });
    return status;
  }

  // Conditions 2 to 4, and 11 as it is after deliveries: the orders that are not new were
  // delivered, and are the oldest.
  Status CheckDistricts() {
    std::unordered_map<Key, std::uint64_t> undelivered;
    ForEach<OrderNumber>(tables_.undelivered, [&](Key key, const OrderNumber& first) {
      undelivered[key] = first.order;
    });
    Status status;
    ForEach<District>(tables_.district, [&](Key key, const District& district) {
      const FoundInDistrict& found = districts_[key];
      const std::uint64_t last = district.next_order - 1;
      if (last != found.last_order || (found.new_orders > 0 && last != found.last_new_order)) {
        status = VerificationError(
            "TPC-C condition 2: district {:x} has given {} order numbers, the last order is {}, "
            "the last new order {}",
            key, last, found.last_order, found.last_new_order);
      } else if (found.new_orders > 0 &&
                 found.last_new_order - found.first_new_order + 1 != found.new_orders) {
        status =
            VerificationError("TPC-C condition 3: district {:x} has {} new orders from {} to {}",
                              key, found.new_orders, found.first_new_order, found.last_new_order);
      } else if (found.expected_lines != found.lines) {
        status = VerificationError(
            "TPC-C condition 4: the orders of district {:x} have {} lines, not {}", key,
            found.lines, found.expected_lines);
      } else if (tables_.all() && (found.orders - found.new_orders != found.delivered ||
                                   found.delivered + 1 != undelivered[key])) {
        status = VerificationError(
            "TPC-C condition 11: district {:x} has {} orders, {} of them new and {} delivered; the "
            "next to be delivered is {}",
            key, found.orders, found.new_orders, found.delivered, undelivered[key]);
      } else if (!tables_.all() && found.new_orders != found.orders) {
        status = VerificationError("TPC-C: district {:x} has {} orders, {} of them new", key,
                                   found.orders, found.new_orders);
      }
    });
    return status;
  }

  // Conditions 1, 8 and 9. Payments lie with their customers, who may be of another warehouse.
  Result<Status> CheckPayments() {
    std::vector<std::int64_t> paid(tables_.warehouses * kDistricts);
    const auto at = [](Key district) {
      return WarehouseOf(district) * kDistricts +
             ((district & (OfWarehouse(1) - 1)) >> kDistrictShift);
    };
    ForEach<History>(tables_.history, [&](Key, const History& payment) {
      paid[at(payment.district)] += payment.amount_cents;
    });
    SLIM_TRY(engine_.cluster().all().AllReduce(std::span<std::int64_t>(paid), std::plus<>()));
    std::unordered_map<std::uint64_t, std::uint64_t> of_districts;  // by warehouse
    Status status;
    ForEach<District>(tables_.district, [&](Key key, const District& district) {
      of_districts[WarehouseOf(key)] += district.ytd_cents;
      if (!tables_.all() || district.ytd_cents == static_cast<std::uint64_t>(paid[at(key)])) return;
      status = VerificationError("TPC-C condition 9: district {:x} has {}, and {} were paid", key,
                                 district.ytd_cents, paid[at(key)]);
    });
    ForEach<Warehouse>(tables_.warehouse, [&](Key key, const Warehouse& warehouse) {
      const auto* const first = &paid[at(key)];
      const std::int64_t sum = std::accumulate(first, first + kDistricts, std::int64_t{0});
      if (warehouse.ytd_cents != of_districts[WarehouseOf(key)]) {
        status = VerificationError("TPC-C condition 1: warehouse {} has {} and its districts {}",
                                   WarehouseOf(key), warehouse.ytd_cents,
                                   of_districts[WarehouseOf(key)]);
      } else if (tables_.all() && warehouse.ytd_cents != static_cast<std::uint64_t>(sum)) {
        status = VerificationError("TPC-C condition 8: warehouse {} has {}, and {} were paid",
                                   WarehouseOf(key), warehouse.ytd_cents, sum);
      }
    });
    return status;
  }

  Result<Status> CheckStock() {
    std::uint64_t sums[2] = {ordered_, taken_};
    SLIM_TRY(engine_.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    if (sums[0] == sums[1]) return Status();
    return Status(VerificationError("TPC-C: {} items were ordered, and {} taken from stock",
                                    sums[0], sums[1]));
  }

  Engine& engine_;
  const TpccTables& tables_;
  std::unordered_map<Key, FoundInDistrict> districts_;
  std::unordered_map<Key, FoundAboutOrder> orders_;        // with all tables
  std::unordered_map<Key, FoundAboutCustomer> customers_;  // with all tables
  std::uint64_t ordered_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace

Status CheckConsistency(Engine& engine, const TpccTables& tables) {
  return Check(engine, tables).Run();
}

}  // namespace slimgraph::txn::tpcc
