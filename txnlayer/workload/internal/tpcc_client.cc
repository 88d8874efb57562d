#include "txnlayer/workload/internal/tpcc_client.h"

#include <algorithm>
#include <set>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn::tpcc {
namespace {

// In a hundred transactions; the rest are new orders.
constexpr std::uint64_t kPayments = 43;
constexpr std::uint64_t kOthersEach = 4;
constexpr double kByName = 0.6;
constexpr double kRemotePayments = 0.15;
constexpr std::int64_t kLeastPaymentCents = 1'00;
constexpr std::int64_t kMostPaymentCents = 5'000'00;
constexpr std::uint64_t kOrdersOfStockLevel = 20;
// More than any name has.
constexpr std::size_t kNamesakes = 512;

}  // namespace

TpccClient::TpccClient(const TpccTables& tables, Transaction& transaction, double remote,
                       std::uint64_t seed)
    : tables_(tables),
      new_order_(tables, transaction, remote, seed),
      steps_(transaction.engine().protocol(), StepwiseFetch::Unnamed::kAbort),
      mine_(WarehousesOf(tables, transaction.engine())),
      random_(~seed) {}

void TpccClient::Choose() {
  steps_.Forget();
  const std::uint64_t die = Below(random_, 100);
  kind_ = die < kPayments                     ? Kind::kPayment
          : die < kPayments + kOthersEach     ? Kind::kOrderStatus
          : die < kPayments + 2 * kOthersEach ? Kind::kDelivery
          : die < kPayments + 3 * kOthersEach ? Kind::kStockLevel
                                              : Kind::kNewOrder;
  if (kind_ == Kind::kNewOrder) return new_order_.Choose();
  warehouse_ =
      mine_.empty() ? Below(random_, tables_.warehouses) : mine_[Below(random_, mine_.size())];
  district_ = Below(random_, kDistricts);
  carrier_ = static_cast<std::uint32_t>(1 + Below(random_, kCarriers));
  threshold_ = static_cast<std::int32_t>(10 + Below(random_, 11));
  cents_ = kLeastPaymentCents +
           static_cast<std::int64_t>(Below(random_, kMostPaymentCents - kLeastPaymentCents + 1));
  std::uint64_t customers_warehouse = warehouse_;
  std::uint64_t customers_district = district_;
  if (kind_ == Kind::kPayment && tables_.warehouses > 1 && Chance(random_, kRemotePayments)) {
    customers_warehouse = Below(random_, tables_.warehouses - 1);
    if (customers_warehouse >= warehouse_) ++customers_warehouse;
    customers_district = Below(random_, kDistricts);
  }
  chosen_ = ChooseCustomer(customers_warehouse, customers_district);
}

TpccClient::Chosen TpccClient::ChooseCustomer(std::uint64_t warehouse, std::uint64_t district) {
  Chosen chosen{warehouse, district, Chance(random_, kByName)};
  chosen.number = chosen.by_name ? DrawLastName(random_, tables_.population)
                                 : DrawCustomer(random_, tables_.population);
  return chosen;
}

Attempt TpccClient::Try(Transaction& transaction) {
  Attempt attempt = Attempt::kAborted;
  saw_torn_ = false;
  if (kind_ == Kind::kNewOrder) {
    attempt = new_order_.Try(transaction);
  } else {
    steps_.Begin();
    const bool done = kind_ == Kind::kPayment       ? Pay(transaction)
                      : kind_ == Kind::kOrderStatus ? ReadLastOrder(transaction)
                      : kind_ == Kind::kDelivery    ? Deliver(transaction)
                                                    : CountLowStock(transaction);
    if (done && transaction.Commit()) attempt = Attempt::kCommitted;
  }
  if (attempt != Attempt::kCommitted) return attempt;
  ++commits_[static_cast<std::size_t>(kind_)];
  torn_ += saw_torn_ ? 1 : 0;
  return attempt;
}

bool TpccClient::Fetch(Transaction& transaction) {
  found_.resize(wants_.size());
  return steps_.Fetch(transaction, wants_, found_.data());
}

bool TpccClient::FindCustomer(Transaction& transaction, Key& key) {
  const auto& [warehouse, district, by_name, number] = chosen_;
  if (!by_name) {
    key = OfCustomer(warehouse, district, number);
    return true;
  }
  const Key first = OfName(warehouse, district, number, 0);
  const Key last = OfName(warehouse, district, number + 1, 0) - 1;
  if (!tables_.names->Keys(transaction, steps_, first, last, kNamesakes, namesakes_)) return false;
  key = OfCustomer(warehouse, district, CustomerOfName(namesakes_[(namesakes_.size() - 1) / 2]));
  return true;
}

void TpccClient::WantLines(Key order, const Order& read, bool write) {
  for (std::uint64_t line = 0; line < read.lines; ++line) {
    wants_.push_back(
        {tables_.order_line, DistrictOf(order) | (OrderOf(order) << kLineBits) | line, write});
  }
}

// Clause 2.5.
bool TpccClient::Pay(Transaction& transaction) {
  const Key district_key = OfDistrict(warehouse_, district_);
  Key key = 0;
  if (!FindCustomer(transaction, key)) return false;
  wants_ = {{tables_.warehouse, OfWarehouse(warehouse_), true},
            {tables_.district, district_key, true},
            {tables_.customer, key, true}};
  if (!Fetch(transaction)) return false;
  auto warehouse = found_[0]->Get<Warehouse>();
  warehouse.ytd_cents += static_cast<std::uint64_t>(cents_);
  found_[0]->Put(warehouse);
  auto district = found_[1]->Get<District>();
  district.ytd_cents += static_cast<std::uint64_t>(cents_);
  found_[1]->Put(district);
  Access* const access = found_[2];
  auto customer = access->Get<FullCustomer>();
  const std::uint64_t payment = customer.payments++;
  customer.balance_cents -= cents_;
  customer.paid_cents += cents_;
  if (customer.customer.credit[0] == 'B') {
    std::array<char, kCustomerData> data{};
    const auto end =
        fmt::format_to_n(data.begin(), kCustomerData, "{:x} {:x} {} ", key, district_key, cents_);
    std::copy_n(customer.data, data.end() - end.out, end.out);
    std::copy(data.begin(), data.end(), customer.data);
  }
  access->Put(customer);
  wants_ = {{tables_.history, OfPayment(chosen_.warehouse, chosen_.district, OrderOf(key), payment),
             true}};
  if (!Fetch(transaction)) return false;
  found_[0]->Put(History{NowNs(), district_key, cents_});
  return true;
}

// Clause 2.6.
bool TpccClient::ReadLastOrder(Transaction& transaction) {
  Key customer = 0;
  if (!FindCustomer(transaction, customer)) return false;
  wants_ = {{tables_.customer, customer}, {tables_.last_order, customer}};
  if (!Fetch(transaction)) return false;
  const Key order = DistrictOf(customer) | found_[1]->Get<OrderNumber>().order;
  wants_ = {{tables_.order, order}};
  if (!Fetch(transaction)) return false;
  const auto read = found_[0]->Get<Order>();
  saw_torn_ = !found_[0]->exists() || (DistrictOf(order) | read.customer) != customer;
  if (saw_torn_) return true;
  wants_.clear();
  WantLines(order, read, false);
  if (!Fetch(transaction)) return false;
  for (const Access* const line : found_) {
    const bool delivered = line->Get<OrderLine>().delivered_s != 0;
    saw_torn_ = saw_torn_ || !line->exists() || delivered != (read.carrier != 0);
  }
  return true;
}

// Clause 2.7, for all districts in one transaction.
bool TpccClient::Deliver(Transaction& transaction) {
  wants_.clear();
  for (std::uint64_t d = 0; d < kDistricts; ++d) {
    wants_.push_back({tables_.undelivered, OfDistrict(warehouse_, d), true});
  }
  if (!Fetch(transaction)) return false;
  const std::vector<Access*> undelivered = found_;
  wants_.clear();
  for (std::uint64_t d = 0; d < kDistricts; ++d) {
    const std::uint64_t oldest = undelivered[d]->Get<OrderNumber>().order;
    wants_.push_back({tables_.new_order, OfOrder(warehouse_, d, oldest), true});
    wants_.push_back({tables_.order, OfOrder(warehouse_, d, oldest), true});
  }
  if (!Fetch(transaction)) return false;
  // The orders that are delivered; a district may have none.
  struct Delivered {
    Access* order;
    Order read;
    std::size_t first_line;
    std::size_t customer;
  };
  std::vector<Delivered> all;
  const std::vector<Access*> orders = found_;
  wants_.clear();
  for (std::uint64_t d = 0; d < kDistricts; ++d) {
    Access* const new_order = orders[2 * d];
    Access* const order = orders[2 * d + 1];
    saw_torn_ = saw_torn_ || new_order->exists() != order->exists();
    if (!new_order->exists() || !order->exists()) continue;
    Transaction::Delete(*new_order);
    undelivered[d]->Put(OrderNumber{OrderOf(order->key) + 1});
    const auto read = order->Get<Order>();
    all.push_back({order, read, wants_.size(), wants_.size() + read.lines});
    WantLines(order->key, read, true);
    wants_.push_back({tables_.customer, DistrictOf(order->key) | read.customer, true});
  }
  if (all.empty()) return true;
  if (!Fetch(transaction)) return false;
  const auto now_s = static_cast<std::uint32_t>(1 + NowNs() / 1'000'000'000);
  for (Delivered& one : all) {
    one.read.carrier = carrier_;
    one.order->Put(one.read);
    std::uint64_t cents = 0;
    for (std::size_t i = one.first_line; i < one.customer; ++i) {
      auto line = found_[i]->Get<OrderLine>();
      saw_torn_ = saw_torn_ || !found_[i]->exists() || line.delivered_s != 0;
      line.delivered_s = now_s;
      cents += line.amount_cents;
      found_[i]->Put(line);
    }
    auto customer = found_[one.customer]->Get<FullCustomer>();
    customer.balance_cents += static_cast<std::int64_t>(cents);
    ++customer.deliveries;
    found_[one.customer]->Put(customer);
  }
  return true;
}

// Clause 2.8.
bool TpccClient::CountLowStock(Transaction& transaction) {
  const Key district = OfDistrict(warehouse_, district_);
  wants_ = {{tables_.district, district}};
  if (!Fetch(transaction)) return false;
  const std::uint64_t next = found_[0]->Get<District>().next_order;
  wants_.clear();
  for (std::uint64_t o = next - std::min(next - 1, kOrdersOfStockLevel); o < next; ++o) {
    wants_.push_back({tables_.order, district | o});
  }
  if (!Fetch(transaction)) return false;
  const std::vector<Access*> orders = found_;
  wants_.clear();
  for (const Access* const order : orders) {
    saw_torn_ = saw_torn_ || !order->exists();
    if (order->exists()) WantLines(order->key, order->Get<Order>(), false);
  }
  if (!Fetch(transaction)) return false;
  std::set<std::uint32_t> items;
  for (const Access* const line : found_) {
    saw_torn_ = saw_torn_ || !line->exists();
    if (line->exists()) items.insert(line->Get<OrderLine>().item);
  }
  wants_.clear();
  for (const std::uint32_t item : items) {
    wants_.push_back({tables_.stock, OfStock(warehouse_, item)});
  }
  if (!Fetch(transaction)) return false;
  // The standard shows the number on a terminal, and there are no terminals here.
  static_cast<void>(std::count_if(found_.begin(), found_.end(), [&](const Access* stock) {
    return stock->Get<Stock>().quantity < threshold_;
  }));
  return true;
}

}  // namespace slimgraph::txn::tpcc
