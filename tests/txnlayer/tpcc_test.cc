// TPC-C: each consistency condition notices what breaks it, and each transaction leaves its
// records.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/support/unwrap.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/replay/access_trace.h"
#include "txnlayer/workload/internal/tpcc_client.h"

namespace slimgraph::test {
namespace {

using namespace txn::tpcc;
using txn::Table;

Table& TableOf(txn::Engine& engine, const std::string& name) {
  for (const auto& table : engine.tables()) {
    if (table->spec().name == name) return *table;
  }
  throw std::runtime_error("there is no table " + name);
}

enum class How { kChange, kRemove };

// While it lives, one record of a table is changed or removed: the first for which change(record)
// returns true.
template <typename Record>
class Damage {
 public:
  template <typename Change>
  Damage(txn::Engine& engine, const std::string& name, How how, Change change) {
    Table& table = TableOf(engine, name);
    engine.tables().ForEachTuple(table, [&](std::byte* tuple) {
      std::byte* const word = tuple + table.version_at(0);
      if (at_ != nullptr || (*word & kExists) == std::byte{0}) return;
      Record record;
      std::memcpy(&record, word + txn::kWordBytes, sizeof record);
      if (!change(record)) return;
      at_ = word;
      before_.assign(word, word + txn::kWordBytes + sizeof record);
      std::memcpy(word + txn::kWordBytes, &record, sizeof record);
      if (how == How::kRemove) *word &= ~kExists;
    });
    EXPECT_NE(at_, nullptr) << "no record of " << name << " suits";
  }
  ~Damage() { std::copy(before_.begin(), before_.end(), at_); }
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;

 private:
  static constexpr std::byte kExists{txn::kExistsBit};
  std::byte* at_ = nullptr;
  std::vector<std::byte> before_;
};

// One node, and one version of each record.
TxnSetting Small(const char* workload) {
  TxnSetting setting{.protocol = "occ", .workload = workload, .nodes = 1, .transactions = 50};
  setting.work.population = 0.01;
  setting.work.seed = TestSeed();
  return setting;
}

std::string MessageOf(const Status& status) { return status ? "" : status.error().message; }

TEST(Tpcc, EachConditionNoticesItsDamage) {
  RunSetting(Small("tpcc"), [](txn::Engine& engine, txn::Workload& workload,
                               const txn::DriveResult&) {
    const auto expect = [&](const char* what) {
      EXPECT_THAT(MessageOf(workload.Verify(engine)), ::testing::HasSubstr(what));
    };
    const auto pay_warehouse = [](Warehouse& warehouse) { return ++warehouse.ytd_cents != 0; };
    const auto pay_district = [](District& district) { return ++district.ytd_cents != 0; };
    {
      const Damage<Warehouse> damage(engine, "warehouse", How::kChange, pay_warehouse);
      expect("condition 1:");
      const Damage<District> another(engine, "district", How::kChange, pay_district);
      expect("condition 8:");
    }
    {
      const Damage<District> damage(engine, "district", How::kChange,
                                    [](District& one) { return ++one.next_order != 0; });
      expect("condition 2:");
    }
    {
      const Damage<Order> damage(engine, "order", How::kChange,
                                 [](Order& one) { return one.carrier++ == 0; });
      expect("condition 5:");
    }
    {
      const Damage<NewOrder> damage(engine, "new_order", How::kRemove,
                                    [](NewOrder&) { return true; });
      expect("condition 5:");
    }
    {
      const Damage<OrderLine> damage(engine, "order_line", How::kRemove,
                                     [](OrderLine&) { return true; });
      expect("condition 6:");
    }
    {
      const Damage<OrderLine> damage(engine, "order_line", How::kChange,
                                     [](OrderLine& one) { return one.delivered_s++ == 0; });
      expect("condition 7:");
    }
    {
      const Damage<History> damage(engine, "history", How::kChange, [](History& one) {
        one.district ^= OfDistrict(0, 1);
        return true;
      });
      expect("condition 9:");
    }
    {
      const Damage<FullCustomer> damage(engine, "customer", How::kChange,
                                        [](FullCustomer& one) { return ++one.balance_cents != 0; });
      expect("condition 10:");
    }
    {
      const Damage<OrderNumber> damage(engine, "undelivered", How::kChange,
                                       [](OrderNumber& one) { return ++one.order != 0; });
      expect("condition 11:");
    }
    {
      const Damage<FullCustomer> damage(engine, "customer", How::kChange,
                                        [](FullCustomer& one) { return ++one.paid_cents != 0; });
      expect("condition 12:");
    }
    {
      const Damage<FullCustomer> damage(engine, "customer", How::kChange,
                                        [](FullCustomer& one) { return ++one.payments != 0; });
      expect("times, not");
    }
    {
      const Damage<Stock> damage(engine, "stock", How::kChange,
                                 [](Stock& one) { return ++one.ytd != 0; });
      expect("taken from stock");
    }
    EXPECT_EQ(MessageOf(workload.Verify(engine)), "");
  });
}

// Conditions 3 and 4 follow from others where orders are delivered.
TEST(Tpcc, NewOrderAloneNoticesItsDamage) {
  RunSetting(Small("tpcc-neworder"),
             [](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult&) {
               const auto expect = [&](const char* what) {
                 EXPECT_THAT(MessageOf(workload.Verify(engine)), ::testing::HasSubstr(what));
               };
               {
                 const Damage<NewOrder> damage(engine, "new_order", How::kRemove,
                                               [](NewOrder& one) { return one.order == 2; });
                 expect("condition 3:");
               }
               {
                 const Damage<OrderLine> damage(engine, "order_line", How::kRemove,
                                                [](OrderLine&) { return true; });
                 expect("condition 4:");
               }
               {
                 const Damage<NewOrder> damage(engine, "new_order", How::kRemove,
                                               [](NewOrder& one) { return one.order == 1; });
                 expect("of them new");
               }
               EXPECT_EQ(MessageOf(workload.Verify(engine)), "");
             });
}

// The records of all nodes.
std::uint64_t Count(txn::Engine& engine, const std::string& name) {
  std::uint64_t count = 0;
  engine.tables().ForEachRecord(TableOf(engine, name), [&](txn::Key, const std::byte* record) {
    count += record == nullptr ? 0 : 1;
  });
  return *engine.cluster().all().AllSum(count);
}

TEST(Tpcc, EachCommitLeavesItsRecords) {
  for (const char* const protocol : {"occ", "calvin"}) {
    TxnSetting setting = Small("tpcc");
    setting.protocol = protocol;
    setting.nodes = 2;
    setting.transactions = 300;
    RunSetting(setting, [](txn::Engine& engine, txn::Workload& workload,
                           const txn::DriveResult& result) {
      const auto counts = workload.Counts();
      const auto of = [&](Kind kind) { return counts[static_cast<std::size_t>(kind)].second; };
      std::uint64_t all = 0;
      for (const auto& [name, count] : counts) {
        EXPECT_GT(count, 0U) << name;
        all += count;
      }
      EXPECT_EQ(all, result.figures.committed);
      // The shares of the standard are 45, 43, 4, 4 and 4 %.
      EXPECT_NEAR(static_cast<double>(of(Kind::kPayment)) / static_cast<double>(all), 0.43, 0.04);
      const std::uint64_t customers = Count(engine, "customer");
      EXPECT_EQ(customers, 2U * kDistricts * Population::Share(0.01).customers);
      EXPECT_EQ(Count(engine, "order"), customers + of(Kind::kNewOrder));
      EXPECT_EQ(Count(engine, "history"), customers + of(Kind::kPayment));
      const std::uint64_t undelivered =
          2U * kDistricts * (Population::Share(0.01).customers - Population::Share(0.01).delivered);
      const std::uint64_t delivered =
          undelivered + of(Kind::kNewOrder) - Count(engine, "new_order");
      EXPECT_LE(delivered, kDistricts * of(Kind::kDelivery));
      EXPECT_GT(delivered, 0U);
    });
  }
}

// What txn replay derives locks from.
TEST(Tpcc, AccessesAreRecorded) {
  constexpr std::uint64_t kRecorded = 300;
  TxnSetting setting = Small("tpcc");
  setting.work.rows = 3;
  OnTxnJob(setting, [&](Cluster& cluster) {
    const auto protocol = Unwrap(txn::MakeProtocol("nowait"));
    txn::EngineOptions options;
    options.stages = txn::StageCode::All(true);
    const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
    const auto workload = Unwrap(txn::MakeWorkload("tpcc", setting.work));
    Unwrap(workload->Load(*engine));
    const txn::AccessTrace trace = Unwrap(txn::RecordAccesses(*engine, *workload, kRecorded));
    EXPECT_EQ(trace.partitions, 3u);
    EXPECT_EQ(trace.transactions.size(), kRecorded);
    EXPECT_EQ(trace.kinds, workload->Kinds());
    std::map<std::uint32_t, std::uint32_t> partition_of_row;
    std::map<std::uint32_t, std::uint32_t> partition_of_part;
    std::set<std::uint32_t> kinds;
    for (const txn::TracedTransaction& one : trace.transactions) {
      kinds.insert(one.kind);
      std::size_t away = 0;
      std::size_t written = 0;
      std::set<std::uint32_t> rows;
      for (const txn::TracedRow& row : one.rows) {
        EXPECT_TRUE(rows.insert(row.row).second) << "a row is recorded twice";
        EXPECT_LT(row.row, trace.num_rows);
        EXPECT_EQ(partition_of_row.emplace(row.row, row.partition).first->second, row.partition);
        EXPECT_EQ(partition_of_part.emplace(row.part, row.partition).first->second, row.partition);
        away += row.partition != one.partition ? 1 : 0;
        written += row.write ? 1 : 0;
      }
      if (static_cast<Kind>(one.kind) != Kind::kPayment) {
        EXPECT_LE(2 * away, one.rows.size()) << "most rows are of the own warehouse";
      }
      switch (static_cast<Kind>(one.kind)) {
        case Kind::kNewOrder:
          // The district, the customer's last order, the order, and for each line it and the stock.
          EXPECT_GE(written, 4 + 2 * std::size_t{kFewestLines});
          break;
        case Kind::kPayment:
          EXPECT_EQ(written, 4u) << "warehouse, district, customer, history";
          break;
        case Kind::kDelivery:
          EXPECT_GE(written, 10u);
          break;
        default:
          EXPECT_EQ(written, 0u);
      }
    }
    EXPECT_EQ(kinds.size(), kKinds);
    EXPECT_EQ(trace.places.size(), trace.num_rows + partition_of_part.size());
  });
}

}  // namespace
}  // namespace slimgraph::test
