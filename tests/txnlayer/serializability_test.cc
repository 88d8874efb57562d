// Histories under high contention, checked by our own checker, and by `adya` if it is installed.
#include "tests/support/list_append_checker.h"
#include "tests/support/rdma_devices.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/protocol/internal/occ.h"

namespace slimgraph::test {
namespace {

// Returns how many edges were folded, if the setting asks for folds.
std::uint64_t ExpectGoodHistory(TxnSetting setting) {
  setting.work.seed = TestSeed();
  const SharedNumber folded;
  RunSetting(setting, [&](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult& r) {
    const auto lines = Lines(engine, workload, r);
    if (setting.work.fold_share > 0) *folded = FoldedEdges(workload);
    EXPECT_GT(r.figures.committed, 20u) << NameOf(setting);
    if (engine.self() != 0) return;
    const auto unnamed = static_cast<std::size_t>(txn::AbortReason::kUnnamed);
    const std::uint64_t aborted = r.figures.all_aborted() - r.figures.aborted[unnamed];
    EXPECT_EQ(lines.size(), 2 * (r.figures.committed + aborted));
    const bool strict = IsStrict(setting.protocol);
    EXPECT_EQ(CheckListAppend(lines, strict ? Level::kStrictSerializable : Level::kSerializable),
              "")
        << NameOf(setting);
    EXPECT_EQ(AskAdya(lines, strict), "") << NameOf(setting);
  });
  return *folded;
}

class Histories : public ::testing::TestWithParam<std::string> {
 protected:
  // Its transactions make many attempts, until they know the names of all that they touch.
  static bool IsSlowOnGraphs() { return GetParam() == "calvin"; }
};
INSTANTIATE_TEST_SUITE_P(All, Histories, ::testing::ValuesIn(AllProtocols()),
                         [](const auto& one) { return one.param; });

TEST_P(Histories, AreSerializableInBothFormsOfAllStages) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    for (const char* const transport : {"shm", "tcp"}) {
      for (const std::uint32_t coroutines : {1, 8}) {
        ExpectGoodHistory({.protocol = GetParam(),
                           .stages = stages,
                           .transport = transport,
                           .coroutines = coroutines});
      }
    }
  }
}

TEST_P(Histories, AreSerializableWithMixedForms) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 6; ++i) {
    ExpectGoodHistory({.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .transactions = 100,
                       .delay_us = random() % 2 == 0 ? 0u : 50u});
  }
}

// As `txn choose` measures the forms: each transaction draws its own code; under CALVIN, each
// epoch.
TEST_P(Histories, AreSerializableWhenFormsChangePerTransaction) {
  for (const char* const transport : {"shm", "tcp"}) {
    for (const std::uint32_t coroutines : {1, 8}) {
      ExpectGoodHistory({.protocol = GetParam(),
                         .mix_stages = true,
                         .transport = transport,
                         .nodes = 2,
                         .coroutines = coroutines,
                         .without = "passive"});
    }
  }
}

TEST_P(Histories, AreSerializableWithoutOptimisationsAndWithMoreThreads) {
  std::mt19937_64 random(TestSeed());
  const std::string code = RandomStages(GetParam(), random);
  ExpectGoodHistory({.protocol = GetParam(), .stages = code, .nodes = 2, .threads = 2});
  ExpectGoodHistory({.protocol = GetParam(), .stages = code, .compute = 2, .without = "passive"});
  ExpectGoodHistory(
      {.protocol = GetParam(), .stages = code, .without = "outstanding,doorbells,passive,cache"});
  ExpectGoodHistory({.protocol = GetParam(), .stages = code, .nodes = 2, .without = "own-home"});
}

// Adjacency lists as the lists: an append adds an edge, a read asks for neighbours. An index finds
// the lists, or none.
TEST_P(Histories, OfGraphsAreSerializable) {
  std::mt19937_64 random(TestSeed());
  const std::uint64_t transactions = IsSlowOnGraphs() ? 20 : 100;
  const auto expect = [&](const std::string& stages, const std::string& workload) {
    ExpectGoodHistory({.protocol = GetParam(),
                       .stages = stages,
                       .workload = workload,
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .transactions = transactions,
                       .delay_us = random() % 2 == 0 ? 0u : 20u});
  };
  expect("rpc", "index-append");
  expect("one-sided", "index-append");
  expect(RandomStages(GetParam(), random), "index-append");
  expect(RandomStages(GetParam(), random), "graph-append");
}

TEST_P(Histories, OfGraphsAreSerializableDuringFolds) {
  for (const char* const transport : {"shm", "tcp"}) {
    TxnSetting setting{
        .protocol = GetParam(),
        .stages = transport == std::string("shm") ? "one-sided" : "rpc",
        .workload = transport == std::string("shm") ? "graph-append" : "index-append",
        .transport = transport,
        .transactions = IsSlowOnGraphs() ? 100u : 300u};
    setting.work.fold_share = 0.01;
    setting.work.rows = 150;  // lists; with fewer, most tries abort and little is folded
    // On a busy machine folding may take longer.
    while (ExpectGoodHistory(setting) == 0 && !HasFailure()) {
      setting.transactions *= 2;
      ASSERT_LT(setting.transactions, 3000u) << "nothing is folded";
    }
  }
}

class HistoriesOverVerbs : public Histories {
  void SetUp() override {
    if (RdmaDevices().empty()) GTEST_SKIP() << "no RDMA device";
  }
};
INSTANTIATE_TEST_SUITE_P(verbs, HistoriesOverVerbs, ::testing::ValuesIn(AllProtocols()),
                         [](const auto& one) { return one.param; });

TEST_P(HistoriesOverVerbs, AreSerializable) {
  for (const char* const stages : {"one-sided", "rpc"}) {
    if (GetParam() != "calvin" && stages == std::string("rpc")) continue;
    for (const std::uint32_t coroutines : {1, 6}) {
      ExpectGoodHistory({.protocol = GetParam(),
                         .stages = stages,
                         .transport = "verbs",
                         .coroutines = coroutines,
                         .transactions = 60});
    }
  }
}

// A node whose clock is ahead writes. In the next run, nodes whose clocks were behind see that.
TEST_P(Histories, OfARunFollowThoseOfEarlierRuns) {
  OnTxnJob({.protocol = GetParam(), .nodes = 3}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol(GetParam());
    txn::EngineOptions options;
    options.coroutines = 1;
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"one bucket", 8, 3});
    constexpr std::uint64_t kSecond = 1'000'000;
    if (engine->self() == 0) {
      engine->AdvanceClocksPast(txn::TimestampOf(txn::ClockOf(engine->latest()) + kSecond, 0));
    }
    for (const bool writes : {true, false}) {
      ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
        if (writes != (engine->self() == 0)) return;
        bool done = false;
        for (std::uint32_t tries = 1; !done; ++tries) {
          // In it, the thread serves others, which may hold a lock.
          if (tries > 1) transaction.BackOff(std::min<std::uint32_t>(tries, 8));
          transaction.Begin(tries > 1);
          txn::Access* const access =
              writes ? transaction.Write(*table, 1) : transaction.Read(*table, 1);
          if (access == nullptr) continue;
          EXPECT_EQ(access->exists(), !writes);
          if (writes) access->Put(std::uint64_t{7});
          if (!writes && access->exists()) {
            EXPECT_EQ(access->Get<std::uint64_t>(), 7u);
          }
          done = transaction.Commit();
        }
      }));
    }
  });
}

// Without validation the checkers must find anomalies.
class BlindOcc : public txn::Occ {
 public:
  txn::Step Check(txn::Stage stage, txn::Access& access) const override {
    const txn::Step step = Occ::Check(stage, access);
    if (stage == txn::Stage::kValidate) return txn::Step::Done();
    return step;
  }
};

void ExpectBadHistory(const char* name) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    TxnSetting setting{
        .protocol = "occ", .stages = stages, .workload = name, .transactions = 400, .delay_us = 20};
    setting.work.seed = TestSeed();
    const BlindOcc blind;
    OnTxnJob(setting, [&](Cluster& cluster) {
      DriveSetting(
          cluster, setting, blind,
          [](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult& result) {
            const auto lines = Lines(engine, workload, result);
            if (engine.self() != 0) return;
            EXPECT_NE(CheckListAppend(lines, Level::kSerializable), "");
          });
    });
  }
}

TEST(CheckerSelfTest, DetectsOccWithoutValidation) { ExpectBadHistory("list-append"); }
TEST(CheckerSelfTest, DetectsOccWithoutValidationInGraphs) { ExpectBadHistory("graph-append"); }

}  // namespace
}  // namespace slimgraph::test
