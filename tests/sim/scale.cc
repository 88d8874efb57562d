// simulate scale [--work W,…] [--nodes N,…] [--network X,…] [--scale S] [--threads T]
//                [--fetch request|read] [--steal on|off] [--transactions K]
// runs pagerank, triangles and smallbank on simulated nodes, all of which compute. Prints for each
// point the simulated time of the run, and what a node sends in it on average. A result must be
// that of the first point of its work; smallbank verifies its data. `make scale` also draws a page.
#include "tests/sim/scale.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dgemini/programs.h"
#include "dgemini/serial.h"
#include "dkudu/cliques.h"
#include "slimgraph/base/split.h"
#include "slimgraph/files/generate.h"
#include "tests/dkudu/support.h"
#include "tests/sim/scenario.h"
#include "tests/support/unwrap.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph::test {
namespace {

struct ScalePoint {
  std::string work;
  std::string network;
  NodeId nodes = 0;
  std::uint32_t threads = 1;
  dkudu::Fetch fetch = dkudu::Fetch::kRequest;
  dkudu::Steal steal = dkudu::Steal::kOn;
  std::uint64_t transactions = 50;  // of each of four coroutines of a thread
};

// What the process of a point tells its parent.
struct ScaleFigures {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  TrafficCount messages;  // of all nodes
  TrafficCount operations;
  std::uint64_t units;  // commits of transactions; otherwise 1
  double result;        // the same on any number of nodes
  char failure[512];
};

// Begins and ends the measured run. Collective.
class Measurement {
 public:
  Measurement(World& world, Cluster& cluster, ScaleFigures& figures)
      : world_(world), cluster_(cluster), figures_(figures) {
    Unwrap(cluster.all().Barrier());
    cluster.fabric().ClearTraffic();
    if (cluster.self() == 0) figures.begin_ns = world.scheduler().now_ns();
  }
  void End() {
    Traffic traffic = cluster_.fabric().traffic();
    const TrafficCount messages = traffic.OfKind(TrafficKind::kMessage);
    figures_.messages += messages;
    for (const TrafficKind kind : {TrafficKind::kRead, TrafficKind::kWrite,
                                   TrafficKind::kCompareSwap, TrafficKind::kFetchAdd}) {
      figures_.operations += traffic.OfKind(kind);
    }
    figures_.end_ns = std::max(figures_.end_ns, world_.scheduler().now_ns());
    Unwrap(cluster_.all().Barrier());
  }

 private:
  World& world_;
  Cluster& cluster_;
  ScaleFigures& figures_;
};

void MeasurePageRank(World& world, Cluster& cluster, const std::string& path,
                     ScaleFigures& figures) {
  dgemini::Exchange exchange(cluster);
  const SlimFile file = Unwrap(SlimFile::Open(path));
  const auto work = Unwrap(dgemini::Workload::Load(
      cluster, file, dgemini::PageRankNeeds(dgemini::Mode::kAuto), [](const MemoryPlan&) {}));
  dgemini::Engine engine(cluster, *work, exchange, dgemini::Mode::kAuto);
  Measurement measurement(world, cluster, figures);
  const auto ranks = Unwrap(dgemini::PageRank(engine, {}));
  measurement.End();
  // Each vertex counts differently, so that a rank at the wrong place is noticed.
  figures.result = Unwrap(engine.Sum([&](VertexId v) { return ranks.rank[v] * (1 + v % 97); }));
}

void MeasureTriangles(World& world, Cluster& cluster, const ScalePoint& point,
                      const std::string& path, ScaleFigures& figures) {
  const dkudu::MiningOptions options{
      .chunk_bytes = 0, .cache_bytes = 1 << 20, .steal = point.steal, .fetch = point.fetch};
  MineOn(cluster, path, dkudu::ListPart::kUpper, options, [&](dkudu::MiningJob& mining) {
    Measurement measurement(world, cluster, figures);
    const std::uint64_t count = Unwrap(dkudu::CountCliques(mining, 3));
    measurement.End();
    figures.result = static_cast<double>(count);
  });
}

void MeasureSmallBank(World& world, Cluster& cluster, const ScalePoint& point,
                      ScaleFigures& figures) {
  const auto protocol = Unwrap(txn::MakeProtocol("occ"));
  txn::EngineOptions options;
  options.coroutines = 4;
  const std::string code(protocol->stages().size(), '1');
  options.stages = Unwrap(txn::StageCode::Parse(code, protocol->name(), protocol->stages()));
  const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
  txn::WorkloadOptions accounts;
  accounts.rows = std::uint64_t{1'000} * cluster.all().size();
  const auto workload = Unwrap(txn::MakeWorkload("smallbank", accounts));
  Unwrap(workload->Load(*engine));
  Measurement measurement(world, cluster, figures);
  const auto result =
      Unwrap(txn::Drive(*engine, *workload, {.seconds = 20, .transactions = point.transactions}));
  measurement.End();
  figures.units = result.figures.committed;
}

void RunPoint(const ScalePoint& point, const std::string& graph, ScaleFigures& figures) {
  World world(/*seed=*/1, {}, {.point_ns = 10, .calibrated = true});
  const auto check = OnAllNodes(world, point.nodes, {}, [&](Job& job) {
    const bool mines = point.work == "triangles";
    const auto cluster = Unwrap(Cluster::Start(job, {.compute = point.nodes,
                                                     .threads = point.threads,
                                                     .transport = "sim",
                                                     .network = point.network,
                                                     .serving_threads = mines ? 1U : 0U}));
    if (mines) {
      MeasureTriangles(world, *cluster, point, graph, figures);
    } else if (point.work == "pagerank") {
      MeasurePageRank(world, *cluster, graph, figures);
    } else {
      MeasureSmallBank(world, *cluster, point, figures);
    }
    Unwrap(cluster->Stop());
  });
  const auto outcome = world.scheduler().Run();
  const std::string failure = outcome.failure.empty() ? check() : outcome.failure;
  std::strncpy(figures.failure, failure.c_str(), sizeof figures.failure - 1);
}

// Measures the point in a process of its own, and prints its line. Returns whether it was measured
// and its result is right.
bool Measure(const ScalePoint& point, const std::string& graph, ScaleFigures& figures,
             double expected) {
  figures = {};
  figures.units = 1;
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    RunPoint(point, graph, figures);
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  std::string failure = figures.failure;
  if (status != 0 && failure.empty()) failure = fmt::format("its process ended with {}", status);
  if (failure.empty() && std::isfinite(expected) &&
      std::abs(figures.result - expected) > 1e-9 * std::abs(expected)) {
    failure = fmt::format("the result is {}, not {}", figures.result, expected);
  }
  const double nodes = point.nodes;
  const auto of_node = [&](std::uint64_t count) { return static_cast<double>(count) / nodes; };
  const std::chrono::duration<double> real = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{},{},{},{},{:.3f},{:.1f},{:.1f},{:.0f},{:.0f},{:.1f},{}\n", point.work, point.network,
      point.nodes, figures.units, static_cast<double>(figures.end_ns - figures.begin_ns) * 1e-6,
      of_node(figures.messages.operations), of_node(figures.operations.operations),
      of_node(figures.messages.bytes() + figures.operations.bytes()),
      static_cast<double>(usage.ru_maxrss) / 1024, real.count(), failure.empty() ? "ok" : failure);
  std::fflush(stdout);
  return failure.empty();
}

struct ScaleOptions {
  std::vector<std::string> work = {"pagerank", "triangles", "smallbank"};
  std::vector<std::string> networks = {"fdr", "edr", "tcp10"};
  std::vector<std::string> nodes = {"4", "8", "16", "32", "64", "128", "256", "512"};
  unsigned scale = 16;
  ScalePoint point;  // all but its work, network and nodes
};

std::vector<std::string> WordsOf(const char* list) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(list)) words.emplace_back(word);
  return words;
}

}  // namespace

int MeasureScale(int argc, char** argv) {
  ScaleOptions options;
  for (int i = 0; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* const value = argv[i + 1];
    if (name == "--work") {
      options.work = WordsOf(value);
    } else if (name == "--network") {
      options.networks = WordsOf(value);
    } else if (name == "--nodes") {
      options.nodes = WordsOf(value);
    } else if (name == "--scale") {
      options.scale = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    } else if (name == "--threads") {
      options.point.threads = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    } else if (name == "--transactions") {
      options.point.transactions = std::strtoull(value, nullptr, 10);
    } else if (name == "--fetch") {
      options.point.fetch =
          value == std::string_view("read") ? dkudu::Fetch::kRead : dkudu::Fetch::kRequest;
    } else if (name == "--steal") {
      options.point.steal =
          value == std::string_view("off") ? dkudu::Steal::kOff : dkudu::Steal::kOn;
    } else {
      fmt::print(stderr, "simulate scale: {} is unknown\n", name);
      return 2;
    }
  }
  for (const std::string& work : options.work) {
    if (work == "pagerank" || work == "triangles" || work == "smallbank") continue;
    fmt::print(stderr,
               "simulate scale: --work {} is unknown; use pagerank, triangles or smallbank\n",
               work);
    return 2;
  }
  GenerateOptions graph;
  graph.out = ScenarioFolder() + "/scale.slim";
  graph.scale = options.scale;
  Unwrap(Generate(graph));
  auto* const figures = static_cast<ScaleFigures*>(::mmap(
      nullptr, sizeof(ScaleFigures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  fmt::print(
      "work,network,nodes,units,simulated_ms,messages_per_node,operations_per_node,"
      "bytes_per_node,peak_mib,real_s,outcome\n");
  std::fflush(stdout);
  bool all_well = true;
  for (const std::string& work : options.work) {
    double expected = NAN;
    for (const std::string& network : options.networks) {
      for (const std::string& nodes : options.nodes) {
        ScalePoint point = options.point;
        point.work = work;
        point.network = network;
        point.nodes = static_cast<NodeId>(std::strtoul(nodes.c_str(), nullptr, 10));
        all_well = Measure(point, graph.out, *figures, expected) && all_well;
        if (!std::isfinite(expected)) expected = figures->result;
      }
    }
  }
  return all_well ? 0 : 1;
}

}  // namespace slimgraph::test
