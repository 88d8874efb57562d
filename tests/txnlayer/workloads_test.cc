// Workloads whose data show whether transactions were isolated: money is conserved, no update is
// lost, and no transaction waits forever.
#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

class Workloads : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Workloads, ::testing::ValuesIn(AllProtocols()),
                         [](const auto& one) { return one.param; });

// The workload verifies its sums after the run.
TEST_P(Workloads, ConserveMoneyAndUpdates) {
  std::mt19937_64 random(TestSeed());
  for (const char* const workload : {"smallbank", "ycsb"}) {
    for (const std::string& stages :
         {std::string("rpc"), std::string("one-sided"), RandomStages(GetParam(), random)}) {
      TxnSetting setting{.protocol = GetParam(),
                         .stages = stages,
                         .workload = workload,
                         .transport = random() % 2 == 0 ? "shm" : "tcp",
                         .transactions = 100};
      setting.work.rows = 2000;
      setting.work.seed = TestSeed();
      RunSetting(setting, [](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
        EXPECT_GT(result.figures.committed, 0u);
      });
    }
  }
}

// All coroutines use the same few rows.
TEST_P(Workloads, CommitUnderExtremeContention) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = stages,
                       .workload = "ycsb",
                       .nodes = 2,
                       .transactions = 15};
    setting.work.rows = 2000;
    setting.work.hot = 0.99;
    setting.work.seed = TestSeed();
    RunSetting(setting, [&](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
      EXPECT_EQ(result.figures.committed, 2u * 8 * 15) << "all in the end";
    });
  }
}

// The backoff grows with the duration of transactions, so the number of tries stays low.
TEST_P(Workloads, RetryRarelyWhenTransactionsAreLong) {
  TxnSetting setting{.protocol = GetParam(),
                     .workload = "ycsb",
                     .nodes = 2,
                     .transactions = 5,
                     .seconds = 60,
                     .delay_us = 1000};
  setting.work.rows = 160;
  setting.work.hot = 1;
  setting.work.seed = TestSeed();
  RunSetting(setting, [&](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
    EXPECT_EQ(result.figures.committed, 2u * 8 * 5);
    EXPECT_LT(result.figures.all_aborted(), 30 * result.figures.committed);
  });
}

// Memory nodes hold tuples and run no transactions. One-sided stages send them no requests.
TEST_P(Workloads, SendNothingToMemoryNodesWithOneSidedStages) {
  TxnSetting setting{.protocol = GetParam(), .workload = "smallbank", .nodes = 3, .compute = 1};
  setting.work.rows = 300;
  setting.work.seed = TestSeed();
  RunSetting(setting, [](txn::Engine& engine, txn::Workload&, const txn::DriveResult& result) {
    EXPECT_EQ(engine.figures().committed > 0, engine.self() == 0);
    EXPECT_GT(result.figures.committed, 0u);
    // Only messages for barriers and the end of the run.
    const Traffic traffic = engine.cluster().fabric().traffic();
    if (engine.self() != 0) {
      EXPECT_LT(traffic.OfKind(TrafficKind::kMessage).operations, 60u);
    }
  });
}

// The workloads check TPC-C's consistency conditions.
TEST_P(Workloads, KeepTpccConsistent) {
  std::mt19937_64 random(TestSeed());
  for (const char* const workload : {"tpcc", "tpcc-neworder"}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .workload = workload,
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .nodes = 2,
                       .transactions = 100};
    setting.work.seed = TestSeed();
    setting.work.population = 0.02;
    setting.work.hot = 0.2;  // order lines of the other node's warehouse
    RunSetting(setting, [](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
      EXPECT_GT(result.figures.committed, 1500u);
      EXPECT_GT(result.figures.aborted[static_cast<std::size_t>(txn::AbortReason::kUser)], 0u);
    });
  }
}

}  // namespace
}  // namespace slimgraph::test
