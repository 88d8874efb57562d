// Snapshots while transactions run: engines must find on a snapshot what a serial computation finds
// on the graph that the history of commits produces up to the snapshot's time.
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "dgemini/programs.h"
#include "dgemini/serial.h"
#include "dkudu/cliques.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/gather.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/graph_support.h"
#include "tests/txnlayer/history_graph.h"
#include "txnlayer/disk/store.h"
#include "txnlayer/graph/fold.h"
#include "txnlayer/graph/internal/moments.h"
#include "txnlayer/graph/snapshot.h"

namespace slimgraph::test {
namespace {

using txn::GraphTime;

// The results of engines on a snapshot; complete on node 0.
struct Found {
  GraphTime time = 0;
  bool in_run = false;
  OriginalIds ids;
  Csr lists;
  Csr incoming;  // only of directed graphs
  std::vector<std::uint32_t> depths;
  std::vector<VertexId> components;
  std::vector<double> ranks;
  std::vector<std::uint64_t> distances;  // only if edges have weights
  std::uint64_t triangles = 0;
  std::uint64_t cliques = 0;
};

template <typename T>
Result<std::vector<T>> Gathered(dgemini::Engine& engine, dgemini::VertexArray<T> values) {
  SLIM_TRY(engine.Gather(values));
  std::vector<T> all;
  for (VertexId v = 0; v < engine.vertices(); ++v) all.push_back(values[v]);
  return all;
}

Status RunOnComputeNode(Cluster& cluster, dgemini::Workload& work, dgemini::Exchange& exchange,
                        bool weighted, Found& found) {
  dgemini::Engine engine(cluster, work, exchange, dgemini::Mode::kAuto);
  SLIM_ASSIGN(auto depths, dgemini::Bfs(engine, 0));
  SLIM_ASSIGN(auto components, dgemini::Components(engine, engine.directed()));
  SLIM_ASSIGN(auto ranks, dgemini::PageRank(engine, {}));
  SLIM_TRY(cluster.compute().Barrier());
  SLIM_ASSIGN(found.depths, Gathered(engine, std::move(depths)));
  SLIM_ASSIGN(found.components, Gathered(engine, std::move(components)));
  SLIM_ASSIGN(found.ranks, Gathered(engine, std::move(ranks.rank)));
  if (!weighted) return {};
  SLIM_ASSIGN(auto distances,
              dgemini::Sssp<std::int32_t>(engine, 0, std::uint64_t{50}, std::uint64_t{200}));
  SLIM_ASSIGN(found.distances, Gathered(engine, std::move(distances)));
  return {};
}

Status RunPrograms(Job& job, ClusterOptions options, const txn::Snapshot& snapshot, Found& found) {
  options.serving_threads = 0;
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, options));
  dgemini::Exchange exchange(*cluster);
  const bool weighted = snapshot.weight_type() != WeightType::kNone;
  SLIM_ASSIGN(const auto work, dgemini::Workload::Load(*cluster, snapshot,
                                                       {.weights = weighted,
                                                        .pull_in = true,
                                                        .pull_out = true,
                                                        .vertex_bytes = 24,
                                                        .share_bytes = 20},
                                                       [](const MemoryPlan&) {}));
  SLIM_TRY(cluster->all().Barrier());
  if (cluster->computes()) SLIM_TRY(RunOnComputeNode(*cluster, *work, exchange, weighted, found));
  SLIM_TRY(work->ServeWhile([&] { return cluster->all().Barrier(); }));
  return cluster->Stop();
}

Status Mine(Job& job, ClusterOptions options, const txn::Snapshot& snapshot, Found& found) {
  options.serving_threads = 1;
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, options));
  const dkudu::MiningOptions mining{.chunk_bytes = 0};
  const auto bytes = [](const dkudu::MiningGraph& graph, const dkudu::MiningOptions& with) {
    return dkudu::CliqueBytes(graph, with, 4);
  };
  const auto working = [&](const dkudu::MiningGraph& graph) {
    return dkudu::WorkingMemoryOf(graph, mining, *cluster, bytes);
  };
  SLIM_ASSIGN(const auto graph,
              dkudu::MiningGraph::Load(*cluster, snapshot, dkudu::ListPart::kUpper, working,
                                       [](const MemoryPlan&) {}));
  SLIM_ASSIGN(const auto lists, dkudu::ListExchange::Start(*cluster, *graph, mining.fetch));
  std::vector<StageSeconds> seconds(cluster->threads());
  dkudu::MiningJob mining_job{*cluster, *graph, *lists, mining, seconds};
  SLIM_ASSIGN(found.triangles, dkudu::CountCliques(mining_job, 3));
  SLIM_ASSIGN(found.cliques, dkudu::CountCliques(mining_job, 4));
  SLIM_TRY(lists->Stop());
  return cluster->Stop();
}

Status ReadSnapshot(const ClusterOptions& options, txn::SnapshotMemory& room,
                    txn::TransactionalGraph& graph, Found& found) {
  Job& job = room.cluster().job();
  SLIM_ASSIGN(const auto snapshot, txn::Snapshot::Take(room, graph));
  found.time = snapshot->time();
  found.in_run = snapshot->in_run();
  SLIM_ASSIGN(found.ids, snapshot->ReadOriginalIds());
  SLIM_TRY(RunPrograms(job, options, *snapshot, found));
  if (!snapshot->directed()) SLIM_TRY(Mine(job, options, *snapshot, found));
  if (job.self() != 0) return {};
  SLIM_ASSIGN(found.lists, ReadCsr(*snapshot));
  if (snapshot->directed()) {
    SLIM_ASSIGN(found.incoming, ReadCsr(*snapshot, Direction::kIn));
  }
  return {};
}

// Takes snapshots one after the other, in the same memory. After a death, nodes may have different
// numbers of results.
Status ReadAmong(Job& job, const ClusterOptions& options, txn::TransactionalGraph& graph,
                 std::uint64_t most, std::vector<Found>& all) {
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, options));
  txn::SnapshotMemory room(*cluster);
  while (true) {
    const bool over = !all.empty() && !all.back().in_run;
    SLIM_ASSIGN(const auto read, cluster->all().AllMax(over ? most : std::uint64_t{all.size()}));
    if (read >= most) return cluster->Stop();
    // The last snapshot is to have changes. Each fold begins to count them anew.
    const bool waits = job.self() == 0 && all.size() + 1 >= most;
    for (int i = 0; waits && graph.written() == 0 && i < 20'000; ++i) {
      SleepFor(std::chrono::milliseconds(1));
    }
    Found found;
    SLIM_TRY(ReadSnapshot(options, room, graph, found));
    all.push_back(std::move(found));
  }
}

// The transactions and the reader have different clusters in one job. If a death interrupts the
// reader, it begins again with the survivors.
std::vector<Found> ReadSnapshots(txn::Engine& engine, txn::TransactionalGraph& graph,
                                 std::uint64_t most) {
  const Cluster& transactions = engine.cluster();
  std::vector<Found> all;
  const auto read = engine.cluster().job().RunAmongSurvivors(2, [&](Job& part) {
    ClusterOptions options = transactions.options();
    options.compute = 0;
    for (NodeId node = 0; node < part.nodes(); ++node) {
      if (transactions.topology().is_compute(part.node_in_job(node))) ++options.compute;
    }
    return ReadAmong(part, options, graph, most, all);
  });
  EXPECT_TRUE(read) << read.error().message;
  return all;
}

Csr Transposed(const Csr& graph) {
  Csr transposed;
  std::vector<std::vector<EdgeOffset>> arcs(graph.vertices());
  std::vector<VertexId> from;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    for (const VertexId u : graph.list(v)) {
      arcs[u].push_back(from.size());
      from.push_back(v);
    }
  }
  for (const auto& list : arcs) {
    for (const EdgeOffset arc : list) {
      transposed.neighbours.push_back(from[arc]);
      if (!graph.weights.empty()) transposed.weights.push_back(graph.weights[arc]);
    }
    transposed.offsets.push_back(transposed.neighbours.size());
  }
  return transposed;
}

// By brute force: extends cliques by larger neighbours.
std::uint64_t CountCliquesOf(const Csr& graph, unsigned size) {
  const auto adjacent = [&](VertexId u, VertexId v) {
    return std::binary_search(graph.list(u).begin(), graph.list(u).end(), v);
  };
  std::uint64_t count = 0;
  std::vector<VertexId> clique;
  const std::function<void()> grow = [&] {
    if (clique.size() == size) {
      ++count;
      return;
    }
    for (const VertexId v : graph.list(clique[0])) {
      if (v <= clique.back()) continue;
      if (!std::all_of(clique.begin(), clique.end(), [&](VertexId u) { return adjacent(u, v); })) {
        continue;
      }
      clique.push_back(v);
      grow();
      clique.pop_back();
    }
  };
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    clique = {v};
    grow();
  }
  return count;
}

void ExpectSame(const Found& found, bool directed, const HistoryGraph::Numbered& graph) {
  ASSERT_EQ(found.ids.count(), graph.names.size());
  for (VertexId v = 0; v < found.ids.count(); ++v) ASSERT_EQ(found.ids[v], graph.names[v]);
  ASSERT_EQ(found.lists.offsets, graph.lists.offsets);
  ASSERT_EQ(found.lists.neighbours, graph.lists.neighbours);
  ASSERT_EQ(found.lists.weights, graph.lists.weights);
  EXPECT_EQ(found.depths, dgemini::serial::Bfs(graph.lists, 0));
  EXPECT_EQ(found.components, dgemini::serial::Components(graph.lists));
  const std::vector<double> ranks = dgemini::serial::PageRank(graph.lists, {}).rank;
  for (VertexId v = 0; v < ranks.size(); ++v) ASSERT_NEAR(found.ranks[v], ranks[v], 1e-12);
  if (!graph.lists.weights.empty()) {
    const std::vector<double> distances = dgemini::serial::Sssp(graph.lists, 0);
    ASSERT_EQ(found.distances.size(), distances.size());
    for (VertexId v = 0; v < distances.size(); ++v) {
      const bool far = found.distances[v] == dgemini::kUnreachable<std::uint64_t>;
      ASSERT_EQ(far ? INFINITY : static_cast<double>(found.distances[v]), distances[v]) << v;
    }
  }
  if (directed) {
    const Csr incoming = Transposed(graph.lists);
    EXPECT_EQ(found.incoming.offsets, incoming.offsets);
    EXPECT_EQ(found.incoming.neighbours, incoming.neighbours);
    EXPECT_EQ(found.incoming.weights, incoming.weights);
    return;
  }
  EXPECT_EQ(found.triangles, CountCliquesOf(graph.lists, 3));
  EXPECT_EQ(found.cliques, CountCliquesOf(graph.lists, 4));
}

// A store of a random graph, removed at the end of the test.
class Scratch {
 public:
  Scratch(std::uint64_t seed, const txn::GraphShape& shape)
      : graph(WriteRandomGraph(kVertices, kEdges, seed, shape)),
        store(::testing::TempDir() + fmt::format("snapshot.{}.store", ::getpid())) {
    std::filesystem::remove_all(store);
    Unwrap(txn::Store::Create(
        store, graph, {.vertex_bytes = shape.vertex_bytes, .edge_bytes = shape.extra_bytes()}));
  }
  ~Scratch() {
    std::filesystem::remove_all(store);
    std::filesystem::remove(graph);
  }
  static constexpr VertexId kVertices = 500;
  static constexpr std::uint64_t kEdges = 4000;
  const std::string graph;
  const std::string store;
};

// A run ends when all snapshots have been read, or after this time.
constexpr double kLongestRunS = 60;
// A run takes at least this long.
constexpr std::uint64_t kShortestRunNs = 500'000'000;

// Takes snapshots during a run, and compares each with the history.
void ExpectSnapshotsOfHistory(TxnSetting setting, bool directed, bool weighted, int most = 3) {
  const txn::GraphShape shape{8, 8, directed, weighted ? WeightType::kInt32 : WeightType::kNone};
  const Scratch scratch(TestSeed(), shape);
  setting.work.store = scratch.store;
  setting.work.seed = TestSeed();
  setting.work.note_updates = true;
  if (setting.replicas == 1) setting.work.fold_share = 0.1;
  const auto protocol = Unwrap(txn::MakeProtocol(setting.protocol));
  OnTxnJob(setting, [&](Cluster& cluster) {
    const txn::EngineOptions options{.stages = Unwrap(txn::StageCode::Parse(
                                         setting.stages, protocol->name(), protocol->stages())),
                                     .coroutines = setting.coroutines,
                                     .replicas = setting.replicas};
    const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
    const auto workload = Unwrap(txn::MakeWorkload(setting.workload, setting.work));
    Unwrap(workload->Load(*engine));
    const txn::FoldWorker* const folder = workload->graph()->fold_worker();
    std::vector<Found> found;
    const std::uint64_t start_ns = NowNs();
    Thread reader([&] {
      found = ReadSnapshots(*engine, *workload->graph(), most);
      const std::uint64_t shortest_ns = start_ns + kShortestRunNs;
      if (NowNs() < shortest_ns) SleepFor(std::chrono::nanoseconds(shortest_ns - NowNs()));
      const auto done = [&] {
        return engine->lost().size() >= setting.killed_after_us.size() &&
               (folder == nullptr || folder->folds() > 0);
      };
      while (!done() && !engine->over()) {
        SleepFor(std::chrono::milliseconds(1));
      }
      engine->SetDeadline(NowNs());
    });
    const auto killer = KillerOf(setting, *engine);
    const auto result = txn::Drive(*engine, *workload, {.seconds = kLongestRunS});
    engine->EndRuns();
    reader.join();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GT(result->figures.committed, 0u);
    if (folder != nullptr) {
      EXPECT_GT(folder->folds(), 0u);
    }
    auto words = Unwrap(GatherList<std::uint64_t>(cluster.all(), workload->updates()));
    if (cluster.self() != 0) return;
    EXPECT_TRUE(found.front().in_run);
    HistoryGraph history(scratch.graph, shape, std::move(words));
    for (const Found& one : found) ExpectSame(one, directed, history.At(one.time));
    EXPECT_GT(history.applied(), 0u);
  });
}

class Snapshots : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Snapshots,
                         ::testing::Values("nowait", "waitdie", "occ", "to", "mvcc", "sundial",
                                           "calvin"),
                         [](const auto& one) { return one.param; });

TEST_P(Snapshots, MatchTheHistoryWhileEdgesChange) {
  std::mt19937_64 random(TestSeed());
  for (const NodeId compute : {4, 2, 1}) {
    ExpectSnapshotsOfHistory({.protocol = GetParam(),
                              .stages = RandomStages(GetParam(), random),
                              .workload = "graph-churn",
                              .transport = random() % 2 == 0 ? "shm" : "tcp",
                              .nodes = 4,
                              .compute = compute},
                             /*directed=*/random() % 2 == 0, /*weighted=*/random() % 2 == 0);
  }
}

TEST_P(Snapshots, MatchTheHistoryWhileVerticesChange) {
  for (const char* const transport : {"shm", "tcp"}) {
    ExpectSnapshotsOfHistory({.protocol = GetParam(),
                              .stages = transport == std::string("shm") ? "one-sided" : "rpc",
                              .workload = "linkbench",
                              .transport = transport,
                              .nodes = 3,
                              .compute = 2,
                              .threads = 2},
                             /*directed=*/transport == std::string("tcp"),
                             /*weighted=*/transport == std::string("shm"));
  }
}

// A memory node dies, because the journal of a node that runs transactions would be lost with it.
TEST_P(Snapshots, MatchTheHistoryWhenANodeDies) {
  std::mt19937_64 random(TestSeed());
  for (const char* const transport : {"shm", "tcp"}) {
    ExpectSnapshotsOfHistory({.protocol = GetParam(),
                              .stages = RandomStages(GetParam(), random),
                              .workload = "graph-churn",
                              .transport = transport,
                              .nodes = 4,
                              .compute = 2,
                              .replicas = 2,
                              .killed_after_us = {{3, random() % 200'000}}},
                             /*directed=*/transport == std::string("tcp"),
                             /*weighted=*/transport == std::string("tcp"), 4);
  }
}

// Node 1 pins the time of a snapshot late. Before that, it changes a full block in which node 0
// has already committed after that time.
TEST_P(Snapshots, KeepWhatTheySeeIfANodePinsLate) {
  enum Step : std::uint64_t { kFilling, kFull, kOvertaken, kChanged };
  const SharedNumber step;
  OnTxnJob({.protocol = GetParam(), .nodes = 2}, [&](Cluster& cluster) {
    const auto protocol = Unwrap(txn::MakeProtocol(GetParam(), kBriefWaits));
    const FileSource source("");
    GraphOnNode made;
    MakeGraph(cluster, {.protocol = GetParam(), .coroutines = 1}, *protocol, source, {}, made);
    made.engine->ExpectRun();
    Thread reader([&] {
      const auto other = Unwrap(Cluster::Start(cluster.job(), cluster.options()));
      while (*step < kFull) SleepFor(std::chrono::microseconds(50));
      const auto moment = Unwrap(txn::BetweenCommits(*other, *made.graph, [&](GraphTime time) {
        while (cluster.self() == 1 && *step < kChanged) SleepFor(std::chrono::microseconds(50));
        made.graph->Pin(time);
        return Status();
      }));
      made.engine->AwaitRunEnd();
      const auto holders = Unwrap(txn::PartitionHolders::Find(*other, made.engine->view()));
      const auto all = [](txn::VertexName, txn::VertexName) { return true; };
      const auto found = txn::FindEdges(*made.graph, holders, moment.time, false, all);
      EXPECT_EQ(Unwrap(other->all().AllSum<std::uint64_t>(found.edges.size())), 2u);
      for (const txn::EdgeChange& change : found.edges) EXPECT_TRUE(change.alive());
      Unwrap(other->Stop());
    });
    EXPECT_TRUE(made.engine->Run([&](txn::Transaction& one) {
      txn::GraphTransaction work(*made.graph, one);
      const auto run = [&](const txn::GraphTransaction::Body& body) {
        EXPECT_EQ(work.Run(body).end, txn::Answer::kYes);
      };
      const auto await = [&](Step wanted) {
        while (*step < wanted) one.task().Sleep(50'000);
      };
      const auto add = [](txn::GraphTransaction& in) { return in.AddEdge(1, 2, {}); };
      const auto remove = [](txn::GraphTransaction& in) { return in.DeleteEdge(1, 2); };
      if (cluster.self() == 1) {
        await(kOvertaken);
        run([&](txn::GraphTransaction& in) {
          const txn::Answer answer = add(in);
          if (answer == txn::Answer::kYes) *step = kChanged;
          return answer;
        });
        return;
      }
      for (const txn::VertexName vertex : {1, 2}) {
        run([&](txn::GraphTransaction& in) { return in.AddVertex(vertex, {}); });
      }
      // Each makes an entry. One remains free, for the removal.
      for (std::uint32_t i = 1; i < txn::EdgeBlock::Capacity({}); ++i) run(add);
      *step = kFull;
      while (made.graph->pinned() == txn::kTimeLast) one.task().Sleep(50'000);
      run(remove);
      *step = kOvertaken;
    }));
    made.engine->EndRuns();
    reader.join();
  });
}

}  // namespace
}  // namespace slimgraph::test
