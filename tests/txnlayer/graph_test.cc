// The transactional graph, compared with a serial one: random transactions of several operations,
// of which some roll back.
#include "tests/txnlayer/graph_operation.h"

#include <cstdio>

#include "txnlayer/graph/fold.h"

namespace slimgraph::test {
namespace {

using txn::Answer;
using txn::GraphTransaction;
using Properties = GraphOracle::Properties;

constexpr txn::GraphShape kDirectedAndWeighted{24, 8, true, WeightType::kInt32};

constexpr int kTransactionsAfterwards = 40;

struct OracleRun {
  VertexId base_vertices = 60;
  std::uint64_t base_edges = 120;
  VertexId names = 70;
  int transactions = 250;
  txn::GraphShape shape = {24, 8};
  double fold_share = 0;
  bool scattered = false;
};

// Each fold changes this region, between two transactions.
RegionId ListsOf(const txn::TransactionalGraph& graph) { return graph.base().regions(0).lists; }

void RunAgainstOracle(const TxnSetting& setting, const OracleRun& run) {
  const std::uint64_t seed = TestSeed();
  const std::string path =
      run.base_vertices == 0 ? ""
                             : WriteRandomGraph(run.base_vertices, run.base_edges, seed, run.shape);
  const auto protocol = txn::MakeProtocol(setting.protocol, kBriefWaits);
  ASSERT_TRUE(protocol);
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource source(path);
    GraphOnNode made;
    MakeGraph(cluster, setting, **protocol, source,
              {.shape = run.shape,
               .indexes = IndexesOf(run.shape),
               .room_vertices = 100,
               .room_edges = 60'000,
               .fold_share = run.fold_share},
              made);
    if (::testing::Test::HasFatalFailure()) return;
    GraphOracle oracle(source, run.shape);
    txn::FoldWorker* const folder = made.graph->fold_worker();
    if (folder != nullptr) folder->Start();
    const auto killer = KillerOf(setting, *made.engine);
    // `folds`: also waits for a fold.
    const auto transact = [&](int transactions, std::uint64_t seed_of_all, bool folds) {
      return made.engine->Run([&](txn::Transaction& transaction) {
        std::mt19937_64 random(seed_of_all);
        GraphTransaction work(*made.graph, transaction);
        bool folded = !folds;
        bool done = folded;
        const RegionId first_lists = folded ? 0 : ListsOf(*made.graph);
        // On a busy machine folding may take longer.
        for (int i = 0; i < transactions || (!done && i < 100 * transactions); ++i) {
          // Half of the scattered names are new after the first fold, between those of the base.
          const VertexId names = run.scattered && !folded ? run.names / 2 : run.names;
          std::vector<Operation> operations;
          for (std::uint64_t left = 1 + random() % 4; left > 0; --left) {
            operations.emplace_back(random, names, run.shape, run.scattered);
          }
          const bool rolls_back = random() % 8 == 0;
          const txn::Verdict verdict = work.Run([&](GraphTransaction& g) {
            folded = folded || ListsOf(*made.graph) != first_lists;
            done = folded && !(folds && run.scattered && made.graph->base().ids().ascending());
            for (Operation& operation : operations) {
              if (operation.Do(g) == Answer::kAborted) return Answer::kAborted;
            }
            return rolls_back ? Answer::kNo : Answer::kYes;
          });
          ASSERT_NE(verdict.end, Answer::kAborted) << verdict.cause;
          std::optional<GraphOracle> before;
          if (rolls_back) before = oracle;
          for (const Operation& operation : operations) operation.ExpectAsIn(oracle);
          if (before) oracle = *std::move(before);
          if (::testing::Test::HasFailure()) return;
        }
      });
    };
    const Status ran = transact(run.transactions, seed + 1, folder != nullptr);
    ASSERT_TRUE(ran) << ran.error().message;
    if (cluster.computes() && setting.nodes > 1) {
      // Of blocks and of the base.
      const TrafficCount reads =
          cluster.fabric().traffic().OfStage(txn::TrafficStage(txn::Stage::kRead));
      if (setting.stages == "rpc") {
        EXPECT_EQ(reads.round_trips, 0u);
      } else if (setting.stages == "one-sided" && run.base_vertices > 0) {
        EXPECT_GT(reads.round_trips, 0u);
      }
    }
    if (folder != nullptr) {
      ASSERT_TRUE(folder->Finish());
      EXPECT_GT(folder->folds(), 0u);
      EXPECT_GT(made.graph->base().edges(), 0u);
      if (run.scattered) {
        EXPECT_FALSE(made.graph->base().ids().ascending());
      }
    }
    if (setting.killed_after_us.empty()) {
      // As after records were restored from logs.
      ASSERT_TRUE(made.graph->RefillIndexes());
      const Status ran_again = transact(kTransactionsAfterwards, seed + 2, false);
      ASSERT_TRUE(ran_again) << ran_again.error().message;
    }
    const auto census = made.graph->TakeCensus();
    ASSERT_TRUE(census) << census.error().message;
    if (setting.killed_after_us.empty()) ExpectSnapshotLike(cluster, *made.graph, oracle);
    if (cluster.self() != 0) return;
    EXPECT_EQ(census->vertices, oracle.vertices().size());
    EXPECT_EQ(census->edges, oracle.num_edges());
  });
  if (!path.empty()) std::remove(path.c_str());
}

class Graphs : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Graphs, ::testing::ValuesIn(AllProtocols()),
                         [](const auto& one) { return one.param; });

TEST_P(Graphs, MatchASerialGraph) {
  std::mt19937_64 random(TestSeed());
  for (const std::string& stages :
       {std::string("rpc"), std::string("one-sided"), RandomStages(GetParam(), random)}) {
    for (const bool directed : {false, true}) {
      RunAgainstOracle({.protocol = GetParam(),
                        .stages = stages,
                        .transport = random() % 2 == 0 ? "shm" : "tcp",
                        .nodes = 3,
                        .compute = 1,
                        .coroutines = 1},
                       {.shape = directed ? kDirectedAndWeighted : txn::GraphShape{24, 8}});
    }
  }
}

TEST_P(Graphs, MatchASerialGraphDuringFolds) {
  for (const char* const transport : {"shm", "tcp"}) {
    RunAgainstOracle(
        {.protocol = GetParam(), .transport = transport, .nodes = 3, .compute = 1, .coroutines = 1},
        {.transactions = 2000,
         .shape = transport == std::string("tcp") ? kDirectedAndWeighted : txn::GraphShape{24, 8},
         .fold_share = 0.01});
  }
}

// Node 2 is a memory node. After its death its backup takes over, even during a fold.
TEST_P(Graphs, MatchASerialGraphDuringFoldsAndADeath) {
  std::mt19937_64 random(TestSeed());
  for (const char* const transport : {"shm", "tcp"}) {
    RunAgainstOracle(
        {.protocol = GetParam(),
         .stages = RandomStages(GetParam(), random),
         .transport = transport,
         .nodes = 3,
         .compute = 1,
         .coroutines = 1,
         .replicas = 2,
         .killed_after_us = {{2, random() % 40'000}}},
        {.transactions = 3000,
         .shape = transport == std::string("tcp") ? kDirectedAndWeighted : txn::GraphShape{24, 8},
         .fold_share = 0.01});
  }
}

TEST_P(Graphs, GrowFromNothing) {
  for (const bool directed : {false, true}) {
    RunAgainstOracle(
        {.protocol = GetParam(), .nodes = 2, .compute = 1, .coroutines = 1},
        {.base_vertices = 0, .names = 40, .transactions = 500, .shape = {0, 0, directed}});
  }
}

TEST_P(Graphs, GrowFromNothingDuringFolds) {
  for (const bool directed : {false, true}) {
    RunAgainstOracle({.protocol = GetParam(), .nodes = 3, .compute = 1, .coroutines = 1},
                     {.base_vertices = 0,
                      .names = 150,
                      .transactions = 2500,
                      .shape = directed ? kDirectedAndWeighted : txn::GraphShape{24, 8},
                      .fold_share = 0.01,
                      .scattered = true});
  }
}

// All coroutines write the same edges. The final graph must equal the commits applied in the order
// of their times, since conflicting commits have ordered times.
TEST_P(Graphs, MatchConcurrentCommitsInTheOrderOfTheirTimes) {
  const std::uint64_t seed = TestSeed();
  const auto protocol = txn::MakeProtocol(GetParam(), kBriefWaits);
  std::mt19937_64 random(seed);
  for (const std::string& stages :
       {std::string("rpc"), std::string("one-sided"), RandomStages(GetParam(), random)}) {
    const txn::GraphShape shape{8, 8, /*directed=*/random() % 2 == 0};
    const std::string path = WriteRandomGraph(30, 40, seed, shape);
    const TxnSetting setting{.protocol = GetParam(),
                             .stages = stages,
                             .transport = random() % 2 == 0 ? "shm" : "tcp",
                             .nodes = 3,
                             .compute = 2,
                             .coroutines = 6};
    OnTxnJob(setting, [&](Cluster& cluster) {
      const FileSource source(path);
      GraphOnNode made;
      MakeGraph(cluster, setting, **protocol, source,
                {.shape = shape, .room_vertices = 100, .room_edges = 60'000}, made);
      if (::testing::Test::HasFatalFailure()) return;
      struct Written {
        txn::GraphTime time;
        std::uint64_t u;
        std::uint64_t v;
        std::uint64_t alive;
        std::uint64_t value;
      };
      std::vector<Written> all;
      const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
        std::mt19937_64 mine(seed + transaction.process());
        GraphTransaction work(*made.graph, transaction);
        for (int i = 0; i < 120; ++i) {
          const std::uint64_t hub = mine() % 2;
          const std::uint64_t u = mine() % 30;
          const std::uint64_t v = mine() % 30;
          const std::uint64_t value = mine();
          const Bytes properties = std::as_bytes(std::span(&value, 1));
          bool deleted = false;
          // Moves an edge from one vertex to another: both exist, or neither does.
          const txn::Verdict verdict = work.Run([&](GraphTransaction& g) {
            const Answer gone = g.DeleteEdge(hub, u);
            if (gone == Answer::kAborted) return gone;
            deleted = gone == Answer::kYes;
            return g.AddEdge(v, 29 - u, properties);
          });
          ASSERT_EQ(verdict.end, Answer::kYes) << verdict.cause;
          if (deleted) all.push_back({work.committed_at(), hub, u, 0, 0});
          all.push_back({work.committed_at(), v, 29 - u, 1, value});
        }
      });
      ASSERT_TRUE(ran) << ran.error().message;
      const auto census = made.graph->TakeCensus();
      ASSERT_TRUE(census) << census.error().message;
      const auto gathered = cluster.all().AllGather(std::as_bytes(std::span(all)));
      ASSERT_TRUE(gathered);
      std::vector<Written> writes;
      for (const auto& theirs : *gathered) {
        const std::size_t before = writes.size();
        writes.resize(before + theirs.size() / sizeof(Written));
        if (!theirs.empty()) std::memcpy(&writes[before], theirs.data(), theirs.size());
      }
      std::stable_sort(writes.begin(), writes.end(),
                       [](const Written& a, const Written& b) { return a.time < b.time; });
      GraphOracle oracle(source, shape);
      for (const Written& one : writes) {
        Properties properties(8);
        std::memcpy(properties.data(), &one.value, 8);
        const bool well = one.alive != 0 ? oracle.AddEdge(one.u, one.v, properties)
                                         : oracle.DeleteEdge(one.u, one.v);
        EXPECT_TRUE(well) << one.u << " " << one.v;
      }
      EXPECT_EQ(census->edges, oracle.num_edges());
      const Status looked = made.engine->Run([&](txn::Transaction& transaction) {
        if (transaction.process() != 0) return;
        GraphTransaction work(*made.graph, transaction);
        for (std::uint64_t side = 0; side < 60; ++side) {
          const std::uint64_t v = side / 2;
          const Direction direction = side % 2 == 0 ? Direction::kOut : Direction::kIn;
          const auto expected =
              direction == Direction::kOut ? oracle.edges(v) : oracle.edges_into(v);
          txn::NeighbourList list;
          std::vector<txn::StoredEdge> edges;
          Properties properties;
          // Under MVCC and SUNDIAL a read may be ordered before the last commits. Each read
          // advances the clock past some of them.
          std::map<std::uint64_t, Properties> found;
          for (int look = 0; look < (IsStrict(GetParam()) ? 1 : 20); ++look) {
            const txn::Verdict verdict = work.Run([&](GraphTransaction& g) {
              const Answer answer =
                  g.Neighbours(v, {.properties = true, .direction = direction}, list);
              CopyList(list, 8, edges, properties);
              return answer;
            });
            ASSERT_EQ(verdict.end, Answer::kYes) << verdict.cause;
            found.clear();
            for (std::size_t i = 0; i < edges.size(); ++i) {
              const auto from = properties.begin() + static_cast<std::ptrdiff_t>(8 * i);
              found[edges[i].neighbour] = Properties(from, from + 8);
            }
            if (found == expected) break;
          }
          EXPECT_EQ(found, expected) << "of vertex " << v;
        }
      });
      ASSERT_TRUE(looked) << looked.error().message;
    });
    std::remove(path.c_str());
  }
}

TEST(Graphs, MatchASerialGraphWithHubsOfManyBlocks) {
  for (const char* const protocol : {"occ", "nowait"}) {
    RunAgainstOracle({.protocol = protocol, .nodes = 2, .compute = 1, .coroutines = 1},
                     {.base_vertices = 2000,
                      .base_edges = 1000,
                      .names = 2200,
                      .transactions = 3000,
                      .shape = {8, 256, false, WeightType::kInt32}});
  }
}

}  // namespace
}  // namespace slimgraph::test
