#include "txnlayer/workload/internal/tpcc_tables.h"

#include <map>

namespace slimgraph::txn::tpcc {
namespace {

constexpr std::uint64_t kDistrictYtdCents = 30'000'00;
// Room for orders on each node. Memory is only taken when it is first used.
constexpr std::uint64_t kOrdersPerNode = 400'000;
// For this many orders, memory is taken in advance.
constexpr std::uint64_t kPrefaultedOrders = 64'000;
// Consecutive orders of a district lie in adjacent buckets.
constexpr unsigned kNeighbourBits = 6;
constexpr std::uint64_t kMeanLines = 11;

template <typename Record>
bool LoadRecord(Table& table, Key key, const Record& record) {
  return table.Load(key, std::as_bytes(std::span(&record, 1)));
}

bool LoadWarehouse(TpccTables& tables, std::uint64_t w, Random& random) {
  const Warehouse warehouse{kDistricts * kDistrictYtdCents,
                            static_cast<std::uint32_t>(Below(random, 2001)), "warehouse"};
  if (!LoadRecord(*tables.warehouse, OfWarehouse(w), warehouse)) return false;
  for (std::uint32_t d = 0; d < kDistricts; ++d) {
    const District district{kDistrictYtdCents, static_cast<std::uint32_t>(Below(random, 2001)), 1,
                            "district"};
    if (!LoadRecord(*tables.district, OfDistrict(w, d), district)) return false;
    for (std::uint32_t c = 0; c < kCustomers; ++c) {
      const Customer customer{static_cast<std::uint32_t>(Below(random, 5001)),
                              {Chance(random, 0.1) ? 'B' : 'G', 'C'},
                              "customer"};
      if (!LoadRecord(*tables.customer, OfCustomer(w, d, c), customer)) return false;
    }
  }
  Stock stock{};
  for (std::uint32_t item = 0; item < kItems; ++item) {
    stock.quantity = static_cast<std::int32_t>(10 + Below(random, 91));
    if (!LoadRecord(*tables.stock, OfStock(w, item), stock)) return false;
  }
  return true;
}

// The orders found for one district.
struct Found {
  std::uint64_t orders = 0;
  std::uint64_t last_order = 0;
  std::uint64_t new_orders = 0;
  std::uint64_t first_new_order = ~std::uint64_t{0};
  std::uint64_t last_new_order = 0;
  std::uint64_t expected_lines = 0;
  std::uint64_t lines = 0;
};

template <typename Visit>
void ForEach(Engine& engine, Table& table, Visit visit) {
  engine.tables().ForEachRecord(table, [&](Key key, const std::byte* record) {
    if (record != nullptr) visit(key, record);
  });
}

template <typename Record>
Record As(const std::byte* bytes) {
  Record record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

Status CheckDistrict(Key key, const District& district, const Found& found) {
  const std::uint64_t last = district.next_order - 1;
  if (last != found.last_order || (last != 0 && last != found.last_new_order)) {
    return VerificationError(
        "TPC-C condition 2: district {:x} has given {} order numbers, the last order is {}, the "
        "last "
        "new order {}",
        key, last, found.last_order, found.last_new_order);
  }
  if (found.new_orders > 0 &&
      found.last_new_order - found.first_new_order + 1 != found.new_orders) {
    return VerificationError("TPC-C condition 3: district {:x} has {} new orders from {} to {}",
                             key, found.new_orders, found.first_new_order, found.last_new_order);
  }
  if (found.expected_lines != found.lines) {
    return VerificationError("TPC-C condition 4: the orders of district {:x} have {} lines, not {}",
                             key, found.lines, found.expected_lines);
  }
  return {};
}

}  // namespace

Status LoadTables(Engine& engine, TpccTables& tables) {
  const NodeId nodes = engine.cluster().topology().nodes();
  const std::uint64_t mine = tables.warehouses / nodes + 1;
  const auto add = [&](const char* name, std::size_t bytes, std::uint64_t tuples) {
    return engine.tables().Add({.name = name,
                                .record_bytes = static_cast<std::uint32_t>(bytes),
                                .tuples_per_node = tuples,
                                .home_shift = kWarehouseShift});
  };
  // `of_each`: the number of tuples per order.
  const auto add_orders = [&](const char* name, std::size_t bytes, std::uint64_t of_each,
                              unsigned neighbour_bits) {
    return engine.tables().Add({.name = name,
                                .record_bytes = static_cast<std::uint32_t>(bytes),
                                .tuples_per_node = kOrdersPerNode * of_each,
                                .most_tuples = kAsManyAsFit,
                                .home_shift = kWarehouseShift,
                                .neighbour_bits = neighbour_bits,
                                .prefaulted_tuples = kPrefaultedOrders * of_each});
  };
  SLIM_ASSIGN(tables.warehouse, add("warehouse", sizeof(Warehouse), mine));
  SLIM_ASSIGN(tables.district, add("district", sizeof(District), mine * kDistricts));
  SLIM_ASSIGN(tables.customer, add("customer", sizeof(Customer), mine * kDistricts * kCustomers));
  SLIM_ASSIGN(tables.stock, add("stock", sizeof(Stock), mine * kItems));
  SLIM_ASSIGN(tables.order, add_orders("order", sizeof(Order), 1, kNeighbourBits));
  SLIM_ASSIGN(tables.new_order, add_orders("new_order", sizeof(NewOrder), 1, kNeighbourBits));
  SLIM_ASSIGN(tables.order_line,
              add_orders("order_line", sizeof(OrderLine), kMeanLines, kNeighbourBits + kLineBits));
  SLIM_ASSIGN(tables.item, engine.tables().Add({"item", sizeof(Item), kItems + 1}));
  Random random(1);
  bool fits = true;
  for (std::uint64_t w = 0; w < tables.warehouses; ++w) {
    if (tables.warehouse->Home(OfWarehouse(w)) != engine.self()) continue;
    fits = fits && LoadWarehouse(tables, w, random);
  }
  // The same seed on all nodes.
  Random item_random(2);
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const Item item{static_cast<std::uint32_t>(100 + Below(item_random, 9901)), i, "item", "data"};
    fits = fits && LoadRecord(*tables.item, OfItem(i, engine.self(), nodes), item);
  }
  if (!fits) return InputError("the tables of TPC-C are full after loading");
  return {};
}

Status CheckConsistency(Engine& engine, const TpccTables& tables) {
  std::map<Key, Found> found;  // by district
  std::map<Key, std::uint64_t> districts_ytd;
  std::uint64_t sums[2] = {0, 0};  // ordered, taken from stock
  ForEach(engine, *tables.order, [&](Key key, const std::byte* record) {
    Found& district = found[DistrictOf(key)];
    ++district.orders;
    district.last_order = std::max(district.last_order, OrderOf(key));
    district.expected_lines += As<Order>(record).lines;
  });
  ForEach(engine, *tables.new_order, [&](Key key, const std::byte*) {
    Found& district = found[DistrictOf(key)];
    ++district.new_orders;
    district.first_new_order = std::min(district.first_new_order, OrderOf(key));
    district.last_new_order = std::max(district.last_new_order, OrderOf(key));
  });
  ForEach(engine, *tables.order_line, [&](Key key, const std::byte* record) {
    ++found[DistrictOf(key)].lines;
    sums[0] += As<OrderLine>(record).quantity;
  });
  ForEach(engine, *tables.stock,
          [&](Key, const std::byte* record) { sums[1] += As<Stock>(record).ytd; });
  Status status;
  ForEach(engine, *tables.district, [&](Key key, const std::byte* record) {
    const auto district = As<District>(record);
    districts_ytd[key >> kWarehouseShift] += district.ytd_cents;
    if (status) status = CheckDistrict(key, district, found[key]);
  });
  ForEach(engine, *tables.warehouse, [&](Key key, const std::byte* record) {
    const std::uint64_t ytd = As<Warehouse>(record).ytd_cents;
    if (status && ytd != districts_ytd[key >> kWarehouseShift]) {
      status =
          VerificationError("TPC-C condition 1: warehouse {} has {} and its districts {}",
                            key >> kWarehouseShift, ytd, districts_ytd[key >> kWarehouseShift]);
    }
  });
  SLIM_TRY(status);
  SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  if (sums[0] == sums[1]) return {};
  return VerificationError("TPC-C: {} items were ordered, and {} taken from stock", sums[0],
                           sums[1]);
}

}  // namespace slimgraph::txn::tpcc
