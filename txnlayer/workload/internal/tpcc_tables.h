// The tables of TPC-C, their keys and records.
//
// `new-order` alone needs a part of them, with short records and without orders at first. All five
// transactions need all tables, with records as long as in the standard and its initial orders.
// The standard finds some rows by an index. Customers of a name are in an ordered table. The others
// have a table of their own: a customer's last order, and the oldest order of a district that is
// not delivered.
#pragma once

#include "txnlayer/ordered/ordered_table.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn::tpcc {

constexpr std::uint32_t kDistricts = 10;
constexpr std::uint32_t kMostLines = 15;
constexpr std::uint32_t kFewestLines = 5;
constexpr std::uint32_t kCarriers = 10;

// How many rows a warehouse has at first.
struct Population {
  std::uint32_t customers = 3000;  // of a district, each with one order
  std::uint32_t delivered = 2100;  // of these orders
  std::uint32_t items = 100'000;
  std::uint32_t last_names = 1000;  // of customers

  // That share of the standard's customers and items, but enough for any order.
  static Population Share(double share);
};

// All keys of a warehouse share its node.
constexpr unsigned kWarehouseShift = 40;
constexpr unsigned kDistrictShift = 32;
constexpr Key OfWarehouse(std::uint64_t w) { return w << kWarehouseShift; }
constexpr Key OfDistrict(std::uint64_t w, std::uint64_t d) {
  return OfWarehouse(w) | (d << kDistrictShift);
}
constexpr Key OfCustomer(std::uint64_t w, std::uint64_t d, std::uint64_t c) {
  return OfDistrict(w, d) | c;
}
// A customer, in the order of names. Customers of the same name are in the order of first names.
constexpr unsigned kCustomerBits = 12;
constexpr Key OfName(std::uint64_t w, std::uint64_t d, std::uint64_t name, std::uint64_t c) {
  return OfDistrict(w, d) | (name << kCustomerBits) | c;
}
constexpr std::uint64_t CustomerOfName(Key key) { return key & ((1U << kCustomerBits) - 1); }
// The payment of that number of a customer.
constexpr unsigned kPaymentBits = 20;
constexpr Key OfPayment(std::uint64_t w, std::uint64_t d, std::uint64_t c, std::uint64_t payment) {
  return OfDistrict(w, d) | (c << kPaymentBits) | payment;
}
constexpr Key CustomerOfPayment(Key key) {
  return (key >> kDistrictShift << kDistrictShift) | (key & 0xFFFF'FFFF) >> kPaymentBits;
}
constexpr Key OfStock(std::uint64_t w, std::uint64_t item) { return OfWarehouse(w) | item; }
constexpr Key OfOrder(std::uint64_t w, std::uint64_t d, std::uint64_t o) {
  return OfDistrict(w, d) | o;
}
constexpr std::uint64_t OrderOf(Key key) { return key & 0xFFFF'FFFF; }
constexpr unsigned kLineBits = 4;
constexpr Key OfLine(std::uint64_t w, std::uint64_t d, std::uint64_t o, std::uint64_t line) {
  return OfDistrict(w, d) | (o << kLineBits) | line;
}
constexpr Key OrderOfLine(Key key) {
  return (key >> kDistrictShift << kDistrictShift) | OrderOf(key) >> kLineBits;
}
constexpr Key DistrictOf(Key key) { return key >> kDistrictShift << kDistrictShift; }
constexpr std::uint64_t WarehouseOf(Key key) { return key >> kWarehouseShift; }
// Items are the same everywhere, and each node has a copy.
constexpr Key OfItem(std::uint64_t item, NodeId node, NodeId nodes) { return item * nodes + node; }

// Records begin with these. The rest, up to the standard's length, is text that no transaction
// reads.
struct Warehouse {
  std::uint64_t ytd_cents;
  std::uint32_t tax;  // in ten-thousandths, like all rates here
  char name[12];
};
struct District {
  std::uint64_t ytd_cents;
  std::uint32_t tax;
  std::uint32_t next_order;
  char name[16];
};
struct Customer {
  std::uint32_t discount;
  char credit[4];
  char last[16];
};
constexpr std::size_t kCustomerData = 500;
// Of a customer who pays and gets deliveries.
struct FullCustomer {
  Customer customer;
  std::int64_t balance_cents;
  std::int64_t paid_cents;
  std::uint32_t payments;
  std::uint32_t deliveries;
  char data[kCustomerData];
};
struct Item {
  std::uint32_t price_cents;
  std::uint32_t image;
  char name[24];
  char data[48];
};
struct Stock {
  std::int32_t quantity;
  std::uint32_t order_count;
  std::uint32_t remote_count;
  std::uint32_t unused;
  std::uint64_t ytd;
  char district_info[kDistricts][24];
  char data[48];
};
struct Order {
  std::uint64_t entered_ns;
  std::uint32_t customer;
  std::uint32_t lines;
  std::uint32_t all_local;
  std::uint32_t carrier;  // 0: it is not delivered
};
struct NewOrder {
  std::uint64_t order;
};
struct OrderLine {
  std::uint32_t item;
  std::uint32_t supplier;
  std::uint32_t quantity;
  std::uint32_t delivered_s;  // 0: not yet
  std::uint64_t amount_cents;
  char district_info[24];
};
// A payment.
struct History {
  std::uint64_t paid_ns;
  std::uint64_t district;  // the key of that where it was paid
  std::int64_t amount_cents;
};
// The last order of a customer, or the oldest of a district that is not delivered.
struct OrderNumber {
  std::uint64_t order;
};

struct TpccTables {
  std::uint64_t warehouses = 1;
  Population population;
  Table* warehouse = nullptr;
  Table* district = nullptr;
  Table* customer = nullptr;
  Table* item = nullptr;
  Table* stock = nullptr;
  Table* order = nullptr;
  Table* new_order = nullptr;
  Table* order_line = nullptr;
  // Null: for new-order alone.
  Table* history = nullptr;
  Table* last_order = nullptr;
  Table* undelivered = nullptr;
  std::unique_ptr<OrderedTable> names;

  bool all() const { return history != nullptr; }
};

// Collective: makes the tables and fills this node's part. `all`: for all five transactions.
Status LoadTables(Engine& engine, TpccTables& tables, bool all);

// Collective: checks the consistency conditions of the standard (clause 3.3.2), and that the
// ordered quantities were taken from stock. Without payments and deliveries, only conditions 1 to 4
// say anything.
Status CheckConsistency(Engine& engine, const TpccTables& tables);

// Clause 2.1.6: a number below `bound`, of which some are far more frequent.
std::uint64_t NonUniform(Random& random, std::uint64_t a, std::uint64_t bound);
inline std::uint64_t DrawCustomer(Random& random, const Population& population) {
  return NonUniform(random, 1023, population.customers);
}
inline std::uint64_t DrawItem(Random& random, const Population& population) {
  return NonUniform(random, 8191, population.items);
}
inline std::uint64_t DrawLastName(Random& random, const Population& population) {
  return NonUniform(random, 255, population.last_names);
}

}  // namespace slimgraph::txn::tpcc
