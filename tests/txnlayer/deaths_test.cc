// Nodes die by SIGKILL, at the end of every stage and at random moments. Committed writes survive,
// uncommitted ones disappear, the survivors go on, and the histories show no anomaly.
#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "tests/support/list_append_checker.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/graph_support.h"
#include "txnlayer/internal/replication/log_ring.h"

namespace slimgraph::test {
namespace {

using txn::LogRing;
using txn::LogShape;
using txn::Stage;

class Deaths : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Deaths,
                         ::testing::Values("nowait", "waitdie", "boundedwait", "occ", "to", "mvcc",
                                           "sundial", "calvin"),
                         [](const auto& one) { return one.param; });

// Returns how many edges were folded, if the setting asks for folds.
std::uint64_t ExpectGoodHistoryDespiteDeaths(const TxnSetting& setting) {
  const SharedNumber folded;
  RunSetting(setting, [&](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult& r) {
    // In some stages too few transactions run for the first death. If it happened, the second must
    // too.
    EXPECT_FALSE(setting.death_in_repair.node && r.lost.size() == 1) << NameOf(setting);
    const auto lines = Lines(engine, workload, r);
    if (engine.self() != 0) return;
    if (setting.work.fold_share > 0) *folded = FoldedEdges(workload);
    const bool strict = IsStrict(setting.protocol);
    const Level level = strict ? Level::kStrictSerializable : Level::kSerializable;
    EXPECT_EQ(CheckListAppend(lines, level), "") << NameOf(setting);
    EXPECT_EQ(AskAdya(lines, strict), "") << NameOf(setting);
  });
  return *folded;
}

TEST_P(Deaths, AtTheEndOfAnyStageKeepHistoriesSerializable) {
  std::mt19937_64 random(TestSeed());
  const auto protocol = *txn::MakeProtocol(GetParam(), kBriefWaits);
  for (const Stage stage : protocol->stages()) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .transactions = 100,
                       .replicas = 2};
    setting.death = {.node = 1 + random() % 2, .stage = stage, .times = 1 + random() % 60};
    setting.work.seed = random();
    ExpectGoodHistoryDespiteDeaths(setting);
  }
}

TEST_P(Deaths, KeepHistoriesOfGraphsSerializable) {
  std::mt19937_64 random(TestSeed());
  const auto protocol = *txn::MakeProtocol(GetParam(), kBriefWaits);
  for (const Stage stage : {Stage::kLock, Stage::kLog, Stage::kCommit}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .workload = OnGraph(random),
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .transactions = 80,
                       .replicas = 2};
    setting.death = {.node = 1 + random() % 2, .stage = stage, .times = 1 + random() % 60};
    setting.work.seed = random();
    ExpectGoodHistoryDespiteDeaths(setting);
  }
}

// Deaths during a fold or between two folds.
TEST_P(Deaths, KeepHistoriesOfFoldedGraphsSerializable) {
  std::mt19937_64 random(TestSeed());
  for (const char* const transport : {"shm", "tcp"}) {
    TxnSetting setting{
        .protocol = GetParam(),
        .stages = RandomStages(GetParam(), random),
        .workload = transport == std::string("shm") ? "graph-append" : "index-append",
        .transport = transport,
        .nodes = 4,
        .coroutines = 4,
        .transactions = 0,
        .seconds = 0.5,
        .per_second = 6000,
        .replicas = 3};
    setting.killed_after_us = {{1, 1000 + random() % 150'000}, {3, 50'000 + random() % 100'000}};
    setting.work.seed = random();
    setting.work.fold_share = 0.01;
    setting.work.rows = 150;  // lists; with fewer, most tries abort and little is folded
    // On a busy machine folding may take longer.
    while (ExpectGoodHistoryDespiteDeaths(setting) == 0 && !HasFailure()) {
      setting.seconds *= 2;
      ASSERT_LT(setting.seconds, 10) << "nothing is folded";
    }
  }
}

// The clock of the node that dies is an hour ahead. No snapshot or fold may be earlier than what it
// has written.
TEST_P(Deaths, HideNothingFromSnapshots) {
  const TxnSetting setting{.protocol = GetParam(),
                           .nodes = 3,
                           .coroutines = 1,
                           .replicas = 2,
                           .killed_after_us = {{1, 0}}};  // by itself
  constexpr txn::VertexName kVertex = 7;
  constexpr txn::GraphTime kHour = txn::GraphTime{3'600'000} << txn::kLogicalBits;
  const auto protocol = Unwrap(txn::MakeProtocol(setting.protocol, kBriefWaits));
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource empty("");
    GraphOnNode made;
    MakeGraph(cluster, setting, *protocol, empty, {.room_vertices = 64, .room_edges = 64}, made);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    if (cluster.self() == 1) made.graph->clock().Saw(made.graph->clock().Next() + kHour);
    const auto ran = made.engine->Run([&](txn::Transaction& transaction) {
      if (cluster.self() == 1) {
        txn::GraphTransaction work(*made.graph, transaction);
        for (bool committed = false, again = false; !committed; again = true) {
          transaction.Begin(again);
          work.Open(again);
          committed = work.AddVertex(kVertex, {}) != txn::Answer::kAborted && work.Commit();
        }
        KillProcess();
      }
      while (made.engine->lost().empty()) transaction.IdleUntil(NowNs() + 1'000'000);
    });
    ASSERT_TRUE(ran) << ran.error().message;
    GraphOracle oracle(empty, made.graph->shape());
    oracle.AddVertex(kVertex, {});
    ExpectSnapshotLike(cluster, *made.graph, oracle);
  });
}

TEST_P(Deaths, AtAnyMomentKeepHistoriesSerializable) {
  std::mt19937_64 random(TestSeed());
  for (const char* const stages : {"rpc", "one-sided"}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = stages,
                       .nodes = 4,
                       .compute = random() % 2 == 0 ? 0u : 3u,
                       .threads = 2,
                       .coroutines = 4,
                       .transactions = 0,
                       .seconds = 0.5,
                       .per_second = 6000,
                       .delay_us = random() % 2 == 0 ? 0u : 20u,
                       .replicas = 3};
    setting.killed_after_us = {{1, 1000 + random() % 50'000}, {3, 70'000 + random() % 50'000}};
    setting.work.seed = random();
    ExpectGoodHistoryDespiteDeaths(setting);
  }
}

// A second node dies in each step of the repair after the first death.
TEST_P(Deaths, OfTwoNodesAlmostAtOnceKeepHistoriesSerializable) {
  std::mt19937_64 random(TestSeed());
  const auto protocol = *txn::MakeProtocol(GetParam(), kBriefWaits);
  for (std::uint32_t step = 1; step <= txn::DeathInRepair::kSteps; ++step) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .nodes = 4,
                       .coroutines = 4,
                       .transactions = 60,
                       .replicas = 3};
    const auto stages = protocol->stages();
    setting.death = {
        .node = 2, .stage = stages[random() % stages.size()], .times = 1 + random() % 30};
    setting.death_in_repair = {.node = random() % 2 == 0 ? 1u : 3u, .step = step};
    setting.work.seed = random();
    ExpectGoodHistoryDespiteDeaths(setting);
  }
}

TEST_P(Deaths, ConserveMoney) {
  std::mt19937_64 random(TestSeed());
  for (const bool memory_node : {false, true}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .workload = "smallbank",
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .nodes = 3,
                       .compute = memory_node ? 2u : 3u,
                       .transactions = 0,
                       .seconds = 0.4,
                       .replicas = 2};
    setting.killed_after_us = {{memory_node ? 2 : 1, 2000 + random() % 50'000}};
    setting.work.rows = 500;
    setting.work.seed = random();
    RunSetting(setting, [](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
      EXPECT_LE(result.lost.size(), 1u);  // none if the machine was too busy to kill in time
      EXPECT_GT(result.figures.committed, 0u);
    });
  }
}

TEST_P(Deaths, KeepTpccConsistent) {
  std::mt19937_64 random(TestSeed());
  TxnSetting setting{.protocol = GetParam(),
                     .stages = RandomStages(GetParam(), random),
                     .workload = "tpcc",
                     .nodes = 2,
                     .coroutines = 4,
                     .transactions = 150,
                     .replicas = 2};
  setting.death = {.node = 1, .stage = Stage::kCommit, .times = 50 + random() % 200};
  setting.work.hot = 0.2;
  setting.work.population = 0.02;
  setting.work.seed = random();
  RunSetting(setting);
}

// Records of all lengths, through many wraps of the ring: a record is found complete or not at all.
TEST(LogRing, FindsOnlyCompleteRecords) {
  std::mt19937_64 random(TestSeed());
  const LogShape shape(LogShape::kLeastBytes);
  std::vector<std::byte> memory(shape.bytes());
  const auto store = [&](std::uint64_t position, std::uint64_t value, std::uint64_t behind = 0) {
    std::memcpy(memory.data() + shape.OffsetOf(position) + behind * txn::kWordBytes, &value,
                sizeof value);
  };
  const LogRing ring(shape, memory.data());
  std::uint64_t written = shape.first();
  std::uint64_t read = shape.first();
  std::vector<std::uint64_t> found;
  for (int i = 0; i < 5000; ++i) {
    EXPECT_FALSE(ring.ReadNext(read, found));
    const std::uint64_t words = 2 + random() % (i % 50 == 0 ? shape.most_record_words() - 2 : 100);
    const LogShape::RecordSlot place = shape.SlotFor(written, words);
    if (place.skipped_from != place.position) {
      store(place.position, 0);
      store(place.skipped_from, place.skip_stamp());
    }
    std::vector<std::uint64_t> record(words - 2);
    for (std::uint64_t& word : record) word = random() % 3 == 0 ? place.stamp() : random();
    for (std::uint64_t at = 0; at < record.size(); ++at) store(place.position, record[at], 1 + at);
    std::uint64_t same = read;
    EXPECT_FALSE(ring.ReadNext(same, found)) << "found without stamps";
    store(place.position, place.stamp(), words - 1);
    store(place.position, 0, words);
    same = read;
    EXPECT_FALSE(ring.ReadNext(same, found)) << "found without its first stamp";
    store(place.position, place.stamp());
    ASSERT_TRUE(ring.ReadNext(read, found));
    EXPECT_EQ(found, record);
    written = place.end();
    EXPECT_EQ(read, written);
  }
}

}  // namespace
}  // namespace slimgraph::test
