// The scenarios of snapshots. While transactions change a graph, also with folds, snapshots of it
// are taken, and each is compared with the graph that the history of commits produces. And
// snapshots are compared with what transactions have seen.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/gather.h"
#include "tests/dkudu/support.h"
#include "tests/sim/engines.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/history_graph.h"
#include "txnlayer/disk/store.h"
#include "txnlayer/graph/graph_transaction.h"
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
  // Transactions keep an index of the vertices, and the workload compares it with them at the end.
  std::vector<txn::PropertyIndex> indexes;
  if (world.Draw(2) == 0) indexes = {{"first", 0, txn::FieldType::kU8}};
  Unwrap(txn::Store::Create(drawn.work.store, drawn.graph, {.vertex_bytes = 8, .edge_bytes = 8},
                            indexes));
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

// --- Snapshots and transactions together have a serial order. Each group has three edges, which do
// not exist at first, and a vertex. There is a transaction of each kind for each group:
//   kAddX, kAddZ: add the edge X, or the edge Z
//   kAddYWithoutX: adds the edge Y unless there is an X
//   kRead: reads X and Z
//   kExtend: reads X and an edge that changes often; SUNDIAL then extends the lease of X
//   the others: remove the vertex, or add it again
enum Kind : std::uint8_t { kAddX, kAddZ, kAddYWithoutX, kRead, kExtend, kFirstToggle, kKinds = 8 };
enum Edge : std::uint8_t { kX, kY, kZ, kEdges };
constexpr VertexId kEnds = 2;
constexpr VertexId kOfAGroup = kEnds * kEdges;
constexpr std::uint64_t kLongestPauseNs = 300'000;

struct OrderSetting {
  NodeId nodes = 1;
  EngineSetting engine;
  // The clocks of this node's timestamps are behind those of the others.
  NodeId late = 0;
  std::uint64_t late_us = 0;
  VertexId groups = 0;
  std::string graph;
  std::vector<std::uint32_t> work;  // kinds and groups, in the order in which they are handed out
};

class FileSource : public txn::BaseSource {
 public:
  explicit FileSource(const std::string& path) : file_(Unwrap(SlimFile::Open(path))) {}
  const SlimFile* file() const override { return &file_; }

 private:
  SlimFile file_;
};

// What all nodes of the simulation have found.
struct Order {
  std::size_t handed_out = 0;
  std::map<VertexId, std::pair<bool, bool>> read;  // by group: whether kRead has seen X and Z
  // By group: the commits that removed or added its vertex, and whether it exists since then.
  std::map<VertexId, std::map<txn::GraphTime, bool>> toggles;
  struct Seen {
    txn::GraphTime time = 0;
    std::set<std::uint64_t> vertices = {};
    std::set<std::pair<std::uint64_t, std::uint64_t>> edges = {};
  };
  std::vector<Seen> snapshots;
};

// The vertex of a group, behind the ends of all edges.
VertexId VertexOf(VertexId groups, VertexId group) { return groups * kOfAGroup + kEnds + group; }

OrderSetting DrawOrderSetting(World& world) {
  OrderSetting drawn;
  drawn.nodes = world.DrawNodes(1, 3);
  drawn.engine = DrawEngine(world, drawn.nodes);
  drawn.engine.options.coroutines = static_cast<std::uint32_t>(2 + world.Draw(5));
  drawn.engine.options.mix_stages = world.Draw(8) == 0;
  drawn.late = static_cast<NodeId>(world.Draw(drawn.nodes));
  drawn.late_us = world.Draw(2) * world.Draw(2000);
  drawn.groups = static_cast<VertexId>(world.DrawAmount(4, 20));
  EdgeList base{.vertices = VertexOf(drawn.groups, drawn.groups), .edges = {}, .weights = {}};
  drawn.graph = ScenarioFolder() + "/order.slim";
  Unwrap(WriteSlimFile(base, drawn.graph));
  for (VertexId i = 0; i < drawn.groups * kKinds; ++i) drawn.work.push_back(i);
  std::mt19937_64 random(world.Draw(~std::uint64_t{0}));
  // Transactions of a group are mostly at work at the same time.
  for (std::size_t i = 0; i + 1 < drawn.work.size(); ++i) {
    const std::size_t near = std::min<std::size_t>(drawn.work.size() - i, 2 * kKinds);
    std::swap(drawn.work[i], drawn.work[i + random() % near]);
  }
  return drawn;
}

class Orders {
 public:
  Orders(World& world, const OrderSetting& setting, Order& order)
      : world_(world), setting_(setting), order_(order) {}

  void Work(txn::TransactionalGraph& graph, txn::Transaction& transaction) {
    txn::GraphTransaction work(graph, transaction);
    while (order_.handed_out < setting_.work.size()) {
      const std::uint32_t item = setting_.work[order_.handed_out++];
      const VertexId group = item / kKinds;
      const auto kind = static_cast<Kind>(item % kKinds);
      const bool x_first = world_.Draw(2) == 0;
      std::pair<bool, bool> seen;
      const auto verdict = work.Run(
          [&](txn::GraphTransaction& one) { return Body(one, kind, group, x_first, seen); },
          kind == kRead);
      world_.Check(verdict.end == txn::Answer::kYes, "a transaction failed: {}", verdict.cause);
      if (kind == kRead) order_.read[group] = seen;
      if (kind >= kFirstToggle) order_.toggles[group][work.committed_at()] = seen.first;
      Pause(transaction);
    }
  }

 private:
  void Pause(txn::Transaction& transaction) {
    if (world_.Draw(3) > 0) transaction.task().Sleep(world_.Draw(kLongestPauseNs));
  }

  txn::Answer Add(txn::GraphTransaction& one, VertexId group, Edge edge) {
    const VertexId from = group * kOfAGroup + edge * kEnds;
    return one.AddEdge(from, from + 1, {});
  }

  txn::Answer Read(txn::GraphTransaction& one, VertexId group, Edge edge, bool& seen) {
    const VertexId from = group * kOfAGroup + edge * kEnds;
    txn::StoredEdge stored;
    const txn::Answer answer = one.GetEdge(from, from + 1, stored, {});
    seen = answer == txn::Answer::kYes;
    if (answer != txn::Answer::kAborted) Pause(one.transaction());
    return answer;
  }

  txn::Answer Toggle(txn::GraphTransaction& one, VertexId group, bool& exists) {
    const VertexId vertex = VertexOf(setting_.groups, group);
    txn::Answer answer = one.GetVertex(vertex, {});
    if (answer == txn::Answer::kAborted) return answer;
    exists = answer == txn::Answer::kNo;
    answer = exists ? one.AddVertex(vertex, {}) : one.DeleteVertex(vertex);
    if (answer != txn::Answer::kAborted) Pause(one.transaction());
    return answer;
  }

  txn::Answer Body(txn::GraphTransaction& one, Kind kind, VertexId group, bool x_first,
                   std::pair<bool, bool>& seen) {
    if (kind >= kFirstToggle) return Toggle(one, group, seen.first);
    bool& x = seen.first;
    const auto aborted = [](txn::Answer answer) { return answer == txn::Answer::kAborted; };
    // Whoever meets it learns the timestamps of others, so that clocks cannot differ for long.
    const bool often = setting_.engine.protocol == "sundial";
    if (kind == kAddX && often && aborted(Add(one, setting_.groups, kX))) {
      return txn::Answer::kAborted;
    }
    if (kind == kAddX) return Add(one, group, kX);
    if (kind == kAddZ) return Add(one, group, kZ);
    if (kind == kRead && !x_first && aborted(Read(one, group, kZ, seen.second))) {
      return txn::Answer::kAborted;
    }
    if (aborted(Read(one, group, kX, x))) return txn::Answer::kAborted;
    if (kind == kRead && x_first && aborted(Read(one, group, kZ, seen.second))) {
      return txn::Answer::kAborted;
    }
    bool there = false;
    if (kind == kExtend && often && aborted(Read(one, setting_.groups, kX, there))) {
      return txn::Answer::kAborted;
    }
    return kind == kAddYWithoutX && !x ? Add(one, group, kY) : txn::Answer::kYes;
  }

  World& world_;
  const OrderSetting& setting_;
  Order& order_;
};

// Takes snapshots until the run is over. The last one is of the final state.
void FollowOrder(txn::Engine& engine, txn::TransactionalGraph& graph, Order& order) {
  Job& job = engine.cluster().job();
  const auto cluster = Unwrap(Cluster::Start(job, engine.cluster().options()));
  {
    txn::SnapshotMemory room(*cluster);
    for (bool in_run = true; in_run;) {
      const auto snapshot = Unwrap(txn::Snapshot::Take(room, graph));
      in_run = snapshot->in_run();
      if (job.self() == 0) {
        const Csr lists = Unwrap(ReadCsr(*snapshot));
        const OriginalIds ids = Unwrap(snapshot->ReadOriginalIds());
        Order::Seen& seen = order.snapshots.emplace_back(Order::Seen{.time = snapshot->time()});
        for (VertexId v = 0; v < lists.vertices(); ++v) {
          seen.vertices.insert(ids[v]);
          for (const VertexId u : lists.list(v)) seen.edges.emplace(ids[v], ids[u]);
        }
      }
      Unwrap(cluster->all().Barrier());
    }
  }
  Unwrap(cluster->Stop());
}

void CheckOrder(World& world, const OrderSetting& setting, const Order& order) {
  const auto has = [&](const auto& snapshot, VertexId group, Edge edge) {
    const VertexId from = group * kOfAGroup + edge * kEnds;
    return snapshot.contains({from, from + 1});
  };
  const auto& last = order.snapshots.back().edges;
  std::uint64_t between = 0;
  for (const auto& [time, vertices, snapshot] : order.snapshots) {
    for (const auto& [group, toggles] : order.toggles) {
      const auto later = toggles.upper_bound(time);
      const bool exists = later == toggles.begin() || std::prev(later)->second;
      world.Check(vertices.contains(VertexOf(setting.groups, group)) == exists,
                  "group {}: a snapshot {} the vertex", group, exists ? "lacks" : "still has");
    }
    world.Check(std::ranges::includes(last, snapshot), "a snapshot has an edge that none added");
    for (VertexId group = 0; group < setting.groups; ++group) {
      const bool x = has(snapshot, group, kX);
      const bool z = has(snapshot, group, kZ);
      if (x != z) ++between;
      world.Check(!x || has(snapshot, group, kY) || !has(last, group, kY),
                  "group {}: a snapshot has X without Y, and Y was added as there was no X", group);
      const auto& [saw_x, saw_z] = order.read.at(group);
      world.Check(x == z || saw_x == saw_z || x == saw_x,
                  "group {}: a snapshot and a transaction saw X and Z in different orders", group);
    }
  }
  world.Note(fmt::format("{} snapshots, {} times between two edges of a group",
                         order.snapshots.size(), between));
}

void RunInOrder(World& world, Job& job, const OrderSetting& setting, Order& order) {
  const auto cluster = StartCluster(job, setting.engine);
  {
    if (job.self() == setting.late) SleepFor(std::chrono::microseconds(setting.late_us));
    const StartedEngine engine = StartEngine(*cluster, setting.engine);
    const FileSource source(setting.graph);
    const auto graph = Unwrap(txn::TransactionalGraph::Make(*engine, source, {}));
    engine->ExpectRun();
    std::string failure;
    Thread reader([&] {
      try {
        FollowOrder(*engine, *graph, order);
      } catch (const std::exception& failed) {
        failure = failed.what();
      }
    });
    Orders orders(world, setting, order);
    Unwrap(engine->Run([&](txn::Transaction& one) { orders.Work(*graph, one); }));
    engine->EndRuns();
    reader.join();
    if (!failure.empty()) throw std::runtime_error(failure);
    Unwrap(cluster->all().Barrier());
    if (job.self() == 0) CheckOrder(world, setting, order);
  }
  Unwrap(cluster->Stop());
}

std::function<std::string()> PrepareOrder(World& world) {
  const auto setting = std::make_shared<OrderSetting>(DrawOrderSetting(world));
  const auto order = std::make_shared<Order>();
  const World::Faults stops{
      .most = 2, .kills = false, .cuts = false, .within_ns = 20 * kMs, .longest_ns = 200 * kMs};
  return OnAllNodes(world, setting->nodes, stops, [&world, setting, order](Job& job) {
    if (job.self() == 0) {
      world.Note(fmt::format("{}{} {} on ({},{}), {} x {}, {}", setting->engine.protocol,
                             NameOfTimestamps(setting->engine), setting->engine.stages,
                             setting->nodes, setting->engine.compute, setting->engine.threads,
                             setting->engine.options.coroutines, setting->engine.transport));
    }
    RunInOrder(world, job, *setting, *order);
  });
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
  return {
      {"snapshots", "snapshots while transactions run are the graph of the history so far",
       PrepareSnapshots},
      {"snapshot-order", "snapshots fit into the serial order of the transactions", PrepareOrder}};
}

}  // namespace slimgraph::test
