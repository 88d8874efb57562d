// The tables of TPC-C that new-order needs, their keys and records.
#pragma once

#include "txnlayer/workload/workload.h"

namespace slimgraph::txn::tpcc {

constexpr std::uint32_t kDistricts = 10;
constexpr std::uint32_t kCustomers = 3000;  // of a district
constexpr std::uint32_t kItems = 100'000;
constexpr std::uint32_t kMostLines = 15;

// All keys of a warehouse share its node.
constexpr unsigned kWarehouseShift = 40;
constexpr Key OfWarehouse(std::uint64_t w) { return w << kWarehouseShift; }
constexpr Key OfDistrict(std::uint64_t w, std::uint64_t d) { return OfWarehouse(w) | (d << 32); }
constexpr Key OfCustomer(std::uint64_t w, std::uint64_t d, std::uint64_t c) {
  return OfDistrict(w, d) | c;
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
constexpr Key DistrictOf(Key key) { return key >> 32 << 32; }
// Items are the same everywhere, and each node has a copy.
constexpr Key OfItem(std::uint64_t item, NodeId node, NodeId nodes) { return item * nodes + node; }

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
  std::uint32_t carrier;
};
struct NewOrder {
  std::uint64_t order;
};
struct OrderLine {
  std::uint32_t item;
  std::uint32_t supplier;
  std::uint32_t quantity;
  std::uint32_t unused;
  std::uint64_t amount_cents;
  char district_info[24];
};

struct TpccTables {
  std::uint64_t warehouses = 1;
  Table* warehouse = nullptr;
  Table* district = nullptr;
  Table* customer = nullptr;
  Table* item = nullptr;
  Table* stock = nullptr;
  Table* order = nullptr;
  Table* new_order = nullptr;
  Table* order_line = nullptr;
};

// Collective: makes the tables and fills this node's part, without orders.
Status LoadTables(Engine& engine, TpccTables& tables);

// Collective: checks the consistency conditions 1 to 4 of the standard (clause 3.3.2), and that the
// ordered quantities were taken from stock.
Status CheckConsistency(Engine& engine, const TpccTables& tables);

}  // namespace slimgraph::txn::tpcc
