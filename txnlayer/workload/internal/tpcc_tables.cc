#include "txnlayer/workload/internal/tpcc_tables.h"

#include <algorithm>
#include <numeric>

namespace slimgraph::txn::tpcc {
namespace {

constexpr std::int64_t kFirstPaymentCents = 10'00;
constexpr std::uint64_t kDistrictYtdCents = 30'000'00;  // where new-order is alone
constexpr double kBadCredit = 0.1;
// Room for orders on each node. Memory is only taken when it is first used.
constexpr std::uint64_t kOrdersPerNode = 400'000;
// For this many orders, memory is taken in advance.
constexpr std::uint64_t kPrefaultedOrders = 64'000;
// Consecutive orders of a district lie in adjacent buckets.
constexpr unsigned kNeighbourBits = 6;
constexpr std::uint64_t kMeanLines = 11;

// The lengths of the standard's rows (clause 1.3.1, in bytes of its example).
struct RowBytes {
  std::uint32_t warehouse = 89;
  std::uint32_t district = 95;
  std::uint32_t customer = 655;
  std::uint32_t stock = 306;
  std::uint32_t order = 24;
  std::uint32_t order_line = 54;
  std::uint32_t history = 46;
  std::uint32_t item = 82;
};

// Fills this node's part of the tables.
class Loader {
 public:
  Loader(Engine& engine, TpccTables& tables) : engine_(engine), tables_(tables) {}

  // False: a table is full.
  bool Load() {
    for (std::uint64_t w = 0; w < tables_.warehouses; ++w) {
      if (tables_.warehouse->Home(OfWarehouse(w)) != engine_.self()) continue;
      random_ = Random(w + 1);
      LoadWarehouse(w);
    }
    random_ = Random(0);  // the same items on all nodes
    const NodeId nodes = engine_.cluster().topology().nodes();
    for (std::uint32_t i = 0; i < tables_.population.items; ++i) {
      const auto cents = static_cast<std::uint32_t>(100 + Below(random_, 9901));
      Put(*tables_.item, OfItem(i, engine_.self(), nodes), Item{cents, i, "item", "data"});
    }
    return fits_;
  }

 private:
  // The record, and letters behind it.
  template <typename Record>
  void Put(Table& table, Key key, const Record& record) {
    const std::size_t bytes = table.spec().record_bytes;
    const std::size_t letters = bytes - std::min(bytes, sizeof record);
    bytes_.resize(bytes);
    std::memcpy(bytes_.data(), &record, std::min(bytes, sizeof record));
    for (std::size_t i = 0; i < letters; ++i) {
      bytes_[sizeof record + i] = static_cast<std::byte>('a' + i % 26);
    }
    fits_ = fits_ && table.Load(key, bytes_);
  }

  std::uint32_t DrawRate(std::uint64_t most) {
    return static_cast<std::uint32_t>(Below(random_, most + 1));
  }

  void LoadWarehouse(std::uint64_t w) {
    const std::uint64_t district_cents =
        tables_.all() ? std::uint64_t{tables_.population.customers} * kFirstPaymentCents
                      : kDistrictYtdCents;
    Put(*tables_.warehouse, OfWarehouse(w),
        Warehouse{kDistricts * district_cents, DrawRate(2000), "warehouse"});
    Stock stock{};
    for (std::uint32_t item = 0; item < tables_.population.items; ++item) {
      stock.quantity = static_cast<std::int32_t>(10 + Below(random_, 91));
      Put(*tables_.stock, OfStock(w, item), stock);
    }
    const std::uint32_t orders = tables_.all() ? tables_.population.customers : 0;
    for (std::uint32_t d = 0; d < kDistricts; ++d) {
      Put(*tables_.district, OfDistrict(w, d),
          District{district_cents, DrawRate(2000), orders + 1, "district"});
      LoadCustomers(w, d);
      if (tables_.all()) LoadOrders(w, d);
    }
  }

  void LoadCustomers(std::uint64_t w, std::uint32_t d) {
    const Population& population = tables_.population;
    for (std::uint32_t c = 0; c < population.customers; ++c) {
      const Customer customer{
          DrawRate(5000), {Chance(random_, kBadCredit) ? 'B' : 'G', 'C'}, "customer"};
      if (!tables_.all()) {
        Put(*tables_.customer, OfCustomer(w, d, c), customer);
        continue;
      }
      Put(*tables_.customer, OfCustomer(w, d, c),
          FullCustomer{.customer = customer,
                       .balance_cents = -kFirstPaymentCents,
                       .paid_cents = kFirstPaymentCents,
                       .payments = 1,
                       .deliveries = 0,
                       .data = "data"});
      Put(*tables_.history, OfPayment(w, d, c, 0),
          History{0, OfDistrict(w, d), kFirstPaymentCents});
    }
  }

  // One order of each customer, in random order. The oldest are delivered.
  void LoadOrders(std::uint64_t w, std::uint32_t d) {
    const Population& population = tables_.population;
    std::vector<std::uint32_t> customers(population.customers);
    std::iota(customers.begin(), customers.end(), 0);
    std::shuffle(customers.begin(), customers.end(), random_);
    for (std::uint32_t i = 0; i < population.customers; ++i) {
      const std::uint64_t number = i + 1;
      const bool delivered = number <= population.delivered;
      const auto lines =
          static_cast<std::uint32_t>(kFewestLines + Below(random_, kMostLines - kFewestLines + 1));
      const auto carrier = static_cast<std::uint32_t>(1 + Below(random_, kCarriers));
      Put(*tables_.order, OfOrder(w, d, number),
          Order{0, customers[i], lines, 1, delivered ? carrier : 0});
      if (!delivered) Put(*tables_.new_order, OfOrder(w, d, number), NewOrder{number});
      Put(*tables_.last_order, OfCustomer(w, d, customers[i]), OrderNumber{number});
      for (std::uint32_t line = 0; line < lines; ++line) {
        const auto item = static_cast<std::uint32_t>(Below(random_, population.items));
        const std::uint64_t cents = delivered ? 0 : 1 + Below(random_, 999'999);
        Put(*tables_.order_line, OfLine(w, d, number, line),
            OrderLine{item, static_cast<std::uint32_t>(w), 5, delivered ? 1U : 0U, cents, {}});
      }
    }
    Put(*tables_.undelivered, OfDistrict(w, d),
        OrderNumber{std::uint64_t{population.delivered} + 1});
  }

  Engine& engine_;
  TpccTables& tables_;
  Random random_{0};
  std::vector<std::byte> bytes_;
  bool fits_ = true;
};

// The names of the customers of the warehouses `first`, `first + apart`, `first + 2 * apart`, ...
std::vector<Key> NamesOfCustomers(const TpccTables& tables, std::uint64_t first,
                                  std::uint64_t apart) {
  const Population& population = tables.population;
  std::vector<Key> names;
  for (std::uint64_t w = first; w < tables.warehouses; w += apart) {
    for (std::uint32_t d = 0; d < kDistricts; ++d) {
      Random random(OfDistrict(w, d) + 1);
      for (std::uint32_t c = 0; c < population.customers; ++c) {
        // Each name has a customer (clause 4.3.3.1).
        const std::uint64_t name = c < population.last_names ? c : DrawLastName(random, population);
        names.push_back(OfName(w, d, name, c));
      }
    }
  }
  return names;
}

}  // namespace

Population Population::Share(double share) {
  const Population whole;
  const auto of = [share](std::uint32_t number, std::uint32_t least) {
    return std::max(least, static_cast<std::uint32_t>(number * share));
  };
  Population part;
  part.customers = of(whole.customers, 10);
  part.delivered = part.customers * 7 / 10;
  part.items = of(whole.items, 2 * kMostLines);
  part.last_names = std::min(part.customers, whole.last_names);
  return part;
}

std::uint64_t NonUniform(Random& random, std::uint64_t a, std::uint64_t bound) {
  // The standard lets the constant be chosen, once for each `a`.
  const std::uint64_t constant = a == 8191 ? 7911 : a == 1023 ? 259 : 123;
  return ((Below(random, a + 1) | Below(random, bound)) + constant) % bound;
}

Status LoadTables(Engine& engine, TpccTables& tables, bool all) {
  const RowBytes full;
  const Population& population = tables.population;
  const NodeId nodes = engine.cluster().topology().nodes();
  const std::uint64_t mine = tables.warehouses / nodes + 1;
  const std::uint64_t customers = mine * kDistricts * population.customers;
  // `most`: 0, or kAsManyAsFit. `bytes`: what transactions use. `row`: the standard's length.
  const auto add = [&](const char* name, std::size_t bytes, std::uint32_t row, TableSpec spec) {
    spec.name = name;
    spec.record_bytes = static_cast<std::uint32_t>(bytes);
    if (all) spec.record_bytes = std::max(spec.record_bytes, row);
    spec.home_shift = kWarehouseShift;
    return engine.tables().Add(spec);
  };
  // `of_each`: the number of tuples per order.
  const auto orders = [&](std::uint64_t of_each, unsigned neighbour_bits) {
    return TableSpec{.name = {},
                     .tuples_per_node = (kOrdersPerNode + (all ? customers : 0)) * of_each,
                     .most_tuples = kAsManyAsFit,
                     .neighbour_bits = neighbour_bits,
                     .prefaulted_tuples = kPrefaultedOrders * of_each};
  };
  const auto rows = [](std::uint64_t tuples) {
    return TableSpec{.name = {}, .tuples_per_node = tuples};
  };
  SLIM_ASSIGN(tables.warehouse, add("warehouse", sizeof(Warehouse), full.warehouse, rows(mine)));
  SLIM_ASSIGN(tables.district,
              add("district", sizeof(District), full.district, rows(mine * kDistricts)));
  SLIM_ASSIGN(tables.customer, add("customer", all ? sizeof(FullCustomer) : sizeof(Customer),
                                   full.customer, rows(customers)));
  SLIM_ASSIGN(tables.stock, add("stock", sizeof(Stock), full.stock, rows(mine * population.items)));
  SLIM_ASSIGN(tables.order, add("order", sizeof(Order), full.order, orders(1, kNeighbourBits)));
  SLIM_ASSIGN(tables.new_order, add("new_order", sizeof(NewOrder), 0, orders(1, kNeighbourBits)));
  SLIM_ASSIGN(tables.order_line, add("order_line", sizeof(OrderLine), full.order_line,
                                     orders(kMeanLines, kNeighbourBits + kLineBits)));
  const std::uint32_t item_row = all ? full.item : 0;
  SLIM_ASSIGN(tables.item,
              engine.tables().Add(
                  {.name = "item",
                   .record_bytes = std::max(item_row, static_cast<std::uint32_t>(sizeof(Item))),
                   .tuples_per_node = population.items + 1,
                   .constant = true}));
  if (all) {
    SLIM_ASSIGN(tables.history, add("history", sizeof(History), full.history, orders(1, 0)));
    SLIM_ASSIGN(tables.last_order, add("last_order", sizeof(OrderNumber), 0, rows(customers)));
    SLIM_ASSIGN(tables.undelivered,
                add("undelivered", sizeof(OrderNumber), 0, rows(mine * kDistricts)));
    SLIM_ASSIGN(tables.names, OrderedTable::Make(engine, {.name = "names",
                                                          .record_bytes = 0,
                                                          .keys_per_node = customers,
                                                          .home_shift = kWarehouseShift}));
  }
  if (!Loader(engine, tables).Load()) {
    return InputError("the tables of TPC-C are full after loading");
  }
  return all ? tables.names->Load(NamesOfCustomers(tables, engine.self(), nodes)) : Status();
}

}  // namespace slimgraph::txn::tpcc
