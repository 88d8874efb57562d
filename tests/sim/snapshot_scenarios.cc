// The scenario of snapshots: while transactions change a graph, also with folds, snapshots of it
// are taken, and each is compared with the graph that the history of commits produces.
#include <algorithm>
#include <filesystem>

#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/gather.h"
#include "tests/dkudu/support.h"
#include "tests/sim/engines.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/history_graph.h"
#include "txnlayer/disk/store.h"
#include "txnlayer/graph/snapshot.h"

namespace slimgraph::test {
namespace {

constexpr std::size_t kSnapshots = 3;

struct SnapshotSetting {
  NodeId nodes = 1;
  EngineSetting engine;
  txn::GraphShape shape;
  std::string graph;  // the file
  std::string workload;
  txn::WorkloadOptions work;
};

SnapshotSetting DrawSetting(World& world) {
  SnapshotSetting drawn;
  drawn.nodes = world.DrawNodes(1, 4);
  drawn.engine = DrawEngine(world, drawn.nodes);
  drawn.engine.options.coroutines = static_cast<std::uint32_t>(1 + world.Draw(4));
  drawn.engine.options.replicas =
      static_cast<std::uint32_t>(1 + world.Draw(std::min<std::uint64_t>(2, drawn.nodes)));
  drawn.shape = {8, 8, world.Draw(2) == 0, WeightType::kNone};
  drawn.workload = OneOf(world, {"graph-churn", "graph-churn", "linkbench"});
  drawn.graph = ScenarioFolder() + "/snapshots.slim";
  std::mt19937_64 random(world.Draw(~std::uint64_t{0}));
  const auto vertices = static_cast<VertexId>(10 + random() % 40);
  Unwrap(WriteSlimFile(drawn.shape.directed ? RandomDirectedGraph(random, vertices, 0.3)
                                            : RandomGraph(random, vertices, 0.3),
                       drawn.graph));
  drawn.work.store = ScenarioFolder() + "/snapshots.store";
  std::filesystem::remove_all(drawn.work.store);
  Unwrap(txn::Store::Create(drawn.work.store, drawn.graph, {.vertex_bytes = 8, .edge_bytes = 8}));
  drawn.work.seed = random();
  drawn.work.note_updates = true;
  if (drawn.engine.options.replicas == 1 && world.Draw(2) == 0) drawn.work.fold_share = 0.02;
  return drawn;
}

std::string NameOf(const SnapshotSetting& s) {
  return fmt::format("{} under {} {} with {} replicas on ({},{}), {} x {}, {}, {}{}", s.workload,
                     s.engine.protocol, s.engine.stages, s.engine.options.replicas, s.nodes,
                     s.engine.compute, s.engine.threads, s.engine.options.coroutines,
                     s.engine.transport, s.shape.directed ? "directed" : "undirected",
                     s.work.fold_share > 0 ? ", with folds" : "");
}

struct Found {
  txn::GraphTime time = 0;
  OriginalIds ids;
  Csr lists;
};

// The transactions and the reader have different clusters in one job.
std::vector<Found> TakeSnapshots(txn::Engine& engine, txn::TransactionalGraph& graph) {
  Job& job = engine.cluster().job();
  std::vector<Found> all;
  const auto cluster = Unwrap(Cluster::Start(job, engine.cluster().options()));
  {
    txn::SnapshotMemory room(*cluster);
    while (all.size() < kSnapshots) {
      const auto snapshot = Unwrap(txn::Snapshot::Take(room, graph));
      Found& found = all.emplace_back();
      found.time = snapshot->time();
      if (job.self() == 0) {
        found.ids = Unwrap(snapshot->ReadOriginalIds());
        found.lists = Unwrap(ReadCsr(*snapshot));
      }
      Unwrap(cluster->all().Barrier());
    }
  }
  Unwrap(cluster->Stop());
  return all;
}

void Compare(World& world, const Found& found, const HistoryGraph::Numbered& expected) {
  std::vector<txn::VertexName> names;
  for (VertexId v = 0; v < found.ids.count(); ++v) names.push_back(found.ids[v]);
  world.Check(names == expected.names, "a snapshot has {} vertices, and the history {}",
              names.size(), expected.names.size());
  world.Check(found.lists.offsets == expected.lists.offsets &&
                  found.lists.neighbours == expected.lists.neighbours,
              "a snapshot has {} arcs, and the history {}, or they are others",
              found.lists.neighbours.size(), expected.lists.neighbours.size());
}

void RunWithSnapshots(World& world, Job& job, const SnapshotSetting& setting) {
  const auto cluster = StartCluster(job, setting.engine);
  {
    const StartedEngine engine = StartEngine(*cluster, setting.engine);
    const auto workload = Unwrap(txn::MakeWorkload(setting.workload, setting.work));
    Unwrap(workload->Load(*engine));
    std::vector<Found> found;
    std::string failure;
    Thread reader([&] {
      try {
        found = TakeSnapshots(*engine, *workload->graph());
      } catch (const std::exception& failed) {
        failure = failed.what();
      }
      engine->SetDeadline(NowNs());
    });
    const auto result = Unwrap(txn::Drive(*engine, *workload, {.seconds = 20}));
    engine->EndRuns();
    reader.join();
    if (!failure.empty()) throw std::runtime_error(failure);
    auto words = Unwrap(GatherList<std::uint64_t>(cluster->all(), workload->updates()));
    if (job.self() == 0) {
      HistoryGraph history(setting.graph, setting.shape, std::move(words));
      for (const Found& one : found) Compare(world, one, history.At(one.time));
      world.Note(fmt::format("{} commits, {} of them before the last snapshot",
                             result.figures.committed, history.applied()));
    }
  }
  Unwrap(cluster->Stop());
}

std::function<std::string()> PrepareSnapshots(World& world) {
  const auto setting = std::make_shared<SnapshotSetting>(DrawSetting(world));
  const World::Faults stops{
      .most = 2, .kills = false, .cuts = false, .within_ns = 100 * kMs, .longest_ns = 500 * kMs};
  return OnAllNodes(world, setting->nodes, stops, [&world, setting](Job& job) {
    if (job.self() == 0) world.Note(NameOf(*setting));
    RunWithSnapshots(world, job, *setting);
  });
}

}  // namespace

std::vector<Scenario> SnapshotScenarios() {
  return {{"snapshots", "snapshots while transactions run are the graph of the history so far",
           PrepareSnapshots}};
}

}  // namespace slimgraph::test
