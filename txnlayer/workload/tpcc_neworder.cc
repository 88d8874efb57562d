// The complete new-order transaction of TPC-C (clause 2.4): up to 15 lines. One line in a hundred
// is from another warehouse, and one order in a hundred is rolled back because an item does not
// exist. The run starts without the orders of the standard's initial population.
//
// The order's number, and so the keys of the inserts, are read from the district. Some protocols
// need all keys before anything is read. There the client guesses the number, and retries with the
// right one if the guess was wrong.
#include "slimgraph/base/clock.h"
#include "txnlayer/workload/internal/tpcc_tables.h"

namespace slimgraph::txn {
namespace {

using namespace tpcc;

constexpr double kRollbacks = 0.01;
constexpr double kRemoteLines = 0.01;
constexpr std::uint32_t kNoItem = kItems;  // no item has this number

// Clause 2.1.6.
std::uint64_t NonUniform(Random& random, std::uint64_t a, std::uint64_t c, std::uint64_t bound) {
  return ((Below(random, a + 1) | Below(random, bound)) + c) % bound;
}

class NewOrderClient : public Client {
 public:
  NewOrderClient(const TpccTables& tables, Transaction& transaction, double remote,
                 std::uint64_t seed)
      : tables_(tables), remote_(remote), random_(seed) {
    const Topology& topology = transaction.engine().cluster().topology();
    self_ = transaction.engine().self();
    nodes_ = topology.nodes();
    all_at_once_ = transaction.engine().protocol().fetches_once();
    expected_.assign(tables.warehouses * kDistricts, 1);
    for (std::uint64_t w = 0; w < tables.warehouses; ++w) {
      const NodeId home = tables.warehouse->Home(OfWarehouse(w));
      if (topology.delegate(home) == self_) mine_.push_back(w);
    }
  }

  void Choose() override {
    warehouse_ =
        mine_.empty() ? Below(random_, tables_.warehouses) : mine_[Below(random_, mine_.size())];
    district_ = Below(random_, kDistricts);
    customer_ = NonUniform(random_, 1023, 259, kCustomers);
    count_ = 5 + Below(random_, kMostLines - 4);
    rollback_ = Chance(random_, kRollbacks);
    for (std::size_t i = 0; i < count_; ++i) {
      Line& line = lines_[i];
      const auto known = [&](std::uint64_t item) {
        return std::any_of(lines_, lines_ + i, [&](const Line& l) { return l.item == item; });
      };
      do {
        line.item = NonUniform(random_, 8191, 7911, kItems);
      } while (known(line.item));
      line.supplier = warehouse_;
      line.quantity = static_cast<std::uint32_t>(1 + Below(random_, 10));
      if (tables_.warehouses > 1 && Chance(random_, remote_)) {
        line.supplier = Below(random_, tables_.warehouses - 1);
        if (line.supplier >= warehouse_) ++line.supplier;
      }
    }
    if (rollback_) lines_[count_ - 1].item = kNoItem;
  }

  Attempt Try(Transaction& transaction) override {
    Want wants[3 + 2 * kMostLines + kMostInserts];
    Access* found[3 + 2 * kMostLines + kMostInserts];
    std::size_t wanted = 0;
    std::uint64_t& expected = expected_[warehouse_ * kDistricts + district_];
    wants[wanted++] = {tables_.warehouse, OfWarehouse(warehouse_), false};
    wants[wanted++] = {tables_.district, OfDistrict(warehouse_, district_), true};
    wants[wanted++] = {tables_.customer, OfCustomer(warehouse_, district_, customer_), false};
    for (std::size_t i = 0; i < count_; ++i) {
      wants[wanted++] = {tables_.item, OfItem(lines_[i].item, self_, nodes_), false};
      if (lines_[i].item == kNoItem) continue;
      wants[wanted++] = {tables_.stock, OfStock(lines_[i].supplier, lines_[i].item), true};
    }
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
    return transaction.Commit() ? Attempt::kCommitted : Attempt::kAborted;
  }

 private:
  struct Line {
    std::uint64_t item;
    std::uint64_t supplier;
    std::uint32_t quantity;
  };

  static constexpr std::size_t kMostInserts = 2 + kMostLines;

  // The order, the new order, and the lines. Returns their number.
  std::size_t WantInserts(std::uint64_t order, Want* wants) const {
    wants[0] = {tables_.order, OfOrder(warehouse_, district_, order), true};
    wants[1] = {tables_.new_order, OfOrder(warehouse_, district_, order), true};
    for (std::size_t i = 0; i < count_; ++i) {
      wants[2 + i] = {tables_.order_line, OfLine(warehouse_, district_, order, i), true};
    }
    return 2 + count_;
  }

  // `found`: the item and the stock of each line in turn; `made`: the inserted tuples.
  void FillIn(std::uint64_t order, Access** found, Access** made, double rate) const {
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

  const TpccTables& tables_;
  double remote_;
  Random random_;
  NodeId self_ = 0;
  NodeId nodes_ = 1;
  std::vector<std::uint64_t> mine_;  // warehouses for which this node works
  std::uint64_t warehouse_ = 0;
  std::uint64_t district_ = 0;
  std::uint64_t customer_ = 0;
  std::size_t count_ = 0;
  bool rollback_ = false;
  Line lines_[kMostLines];
  bool all_at_once_ = false;
  std::vector<std::uint64_t> expected_;  // of each district: the expected number of the next order
};

class TpccNewOrder : public Workload {
 public:
  explicit TpccNewOrder(const WorkloadOptions& options)
      : warehouses_(options.rows), seed_(options.seed) {
    Configure(options);
  }

  std::string_view name() const override { return "tpcc-neworder"; }

  void Configure(const WorkloadOptions& options) override {
    remote_ = options.hot < 0 ? kRemoteLines : options.hot;
  }

  Status Load(Engine& engine) override {
    tables_.warehouses =
        warehouses_ == 0 ? engine.cluster().topology().nodes() : std::uint64_t{warehouses_};
    return LoadTables(engine, tables_);
  }

  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<NewOrderClient>(tables_, transaction, remote_,
                                            seed_ * 1'000'003 + transaction.process());
  }

  Status Verify(Engine& engine) override { return CheckConsistency(engine, tables_); }

 private:
  std::uint64_t warehouses_;
  std::uint64_t seed_;
  double remote_ = 0;
  TpccTables tables_;
};

}  // namespace

std::unique_ptr<Workload> MakeTpccNewOrder(const WorkloadOptions& options) {
  return std::make_unique<TpccNewOrder>(options);
}

}  // namespace slimgraph::txn
