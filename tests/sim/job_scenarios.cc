// The scenarios of jobs: forming, exchanges, deaths, parts.
#include <map>
#include <set>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/fabric.h"
#include "tests/sim/scenario.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

// What the nodes of a run have seen: for each exchange, the result on each node that it reached.
struct Seen {
  std::map<std::uint64_t, std::map<NodeId, std::vector<std::string>>> exchanges;
  std::set<NodeId> done;

  // Says which exchange has given two nodes different results.
  std::string Difference() const {
    for (const auto& [number, results] : exchanges) {
      for (const auto& [node, result] : results) {
        if (result == results.begin()->second) continue;
        return fmt::format("exchange {} gave nodes {} and {} different results", number,
                           results.begin()->first, node);
      }
    }
    return "";
  }
};

std::string Contribution(std::uint64_t exchange, NodeId node) {
  return fmt::format("{} of {}", exchange, node);
}

// Nodes form a job, exchange, and leave. Faults may end it; but what an exchange returns is the
// same everywhere, and without a fault all nodes reach the end.
std::function<std::string()> PrepareJob(World& world, std::uint64_t most_exchanges,
                                        const World::Faults& faults) {
  const NodeId nodes = world.DrawNodes(2, 6);
  const std::uint64_t exchanges = world.DrawAmount(1, most_exchanges);
  const auto seen = std::make_shared<Seen>();
  world.StartNodes(nodes, [&world, nodes, exchanges, seen](NodeId self) {
    auto job = world.Join();
    if (!job) {
      world.Note(fmt::format("does not join: {}", job.error().message));
      return world.Check(world.faults_made() > 0, "node {}: {}", self, job.error().message);
    }
    for (std::uint64_t i = 0; i < exchanges; ++i) {
      SleepFor(std::chrono::nanoseconds(world.Random(100 * kMs)));
      const auto all = (*job)->Exchange(Contribution(i, self));
      if (!all) {
        world.Note(fmt::format("exchange {} fails: {}", i, all.error().message));
        return world.Check(world.faults_made() > 0, "node {}: exchange {}: {}", self, i,
                           all.error().message);
      }
      world.Check(all->size() == nodes, "exchange {} has {} parts", i, all->size());
      for (NodeId node = 0; node < nodes; ++node) {
        world.Check((*all)[node] == Contribution(i, node), "exchange {} on node {} has '{}' of {}",
                    i, self, (*all)[node], node);
      }
      seen->exchanges[i][self] = *all;
    }
    const Status left = (*job)->Leave(0);
    if (left) {
      seen->done.insert(self);
    } else {
      world.Note(fmt::format("does not leave: {}", left.error().message));
      world.Check(world.faults_made() > 0, "node {}: {}", self, left.error().message);
    }
  });
  world.StartFaults(faults);
  return [&world, nodes, seen] {
    if (world.faults_made() == 0 && seen->done.size() != nodes) {
      return fmt::format("only {} of {} nodes have left", seen->done.size(), nodes);
    }
    return seen->Difference();
  };
}

// Nodes work in parts of a job that survives deaths. Some die; the others finish the work together,
// in one part.
std::function<std::string()> PrepareSurvivors(World& world) {
  const NodeId nodes = world.DrawNodes(2, 6);
  const std::uint64_t exchanges = world.DrawAmount(1, 5);
  // By node: the nodes of the last part in which its work was done.
  const auto last = std::make_shared<std::map<NodeId, std::vector<std::string>>>();
  const auto ended = std::make_shared<std::set<NodeId>>();
  world.StartNodes(nodes, [&world, exchanges, last, ended](NodeId self) {
    auto job = world.Join();
    world.Check(job.has_value(), "node {} does not join", self);
    (*job)->SurviveDeaths(true);
    world.Check((*job)->Exchange("").has_value(), "the first exchange fails");
    if (self == 0) {
      world.StartFaults(
          {.most = 3, .stops = false, .cuts = false, .spares_hub = true, .within_ns = 300 * kMs});
    }
    const auto again = (*job)->RunAmongSurvivors(1, [&](Job& part) -> Status {
      for (std::uint64_t i = 0; i < exchanges; ++i) {
        SleepFor(std::chrono::nanoseconds(world.Random(50 * kMs)));
        SLIM_ASSIGN(const auto all, part.Exchange(fmt::format("{}", self)));
        (*last)[self] = all;
      }
      return {};
    });
    world.Check(again.has_value(), "node {}: {}", self, again ? "" : again.error().message);
    world.Note(fmt::format("is done after {} restarts", *again));
    ended->insert(self);
    world.Check((*job)->Leave(0).has_value(), "node {} does not leave", self);
  });
  return [&world, nodes, last, ended]() -> std::string {
    for (NodeId node = 0; node < nodes; ++node) {
      if (world.killed(node)) continue;
      if (!ended->contains(node)) return fmt::format("node {} has not finished", node);
      if ((*last)[node] != (*last)[0]) {
        return fmt::format("nodes 0 and {} finished in parts of {} and {} nodes", node,
                           (*last)[0].size(), (*last)[node].size());
      }
    }
    return "";
  };
}

// One node stands still. The others end within seconds, but not at once.
std::function<std::string()> PrepareSilence(World& world) {
  constexpr std::uint64_t kSoonestNs = 1'000 * kMs;
  constexpr std::uint64_t kLatestNs = 10'000 * kMs;
  const NodeId nodes = world.DrawNodes(2, 4);
  const auto stopped = static_cast<NodeId>(world.Draw(nodes));
  const auto stopped_ns = std::make_shared<std::uint64_t>(0);
  const auto ended = std::make_shared<std::set<NodeId>>();
  world.StartNodes(nodes, [&world, nodes, stopped, stopped_ns, ended](NodeId self) {
    auto job = world.Join();
    world.Check(job.has_value(), "node {} does not join", self);
    if (self == 0) {
      world.scheduler().Start(nodes, "stop", [&world, stopped, stopped_ns] {
        SleepFor(std::chrono::nanoseconds(world.Random(500 * kMs)));
        *stopped_ns = world.scheduler().now_ns();
        world.Note(fmt::format("stops node {} for a minute", stopped));
        world.scheduler().PauseNode(stopped, 60'000 * kMs);
      });
    }
    while (true) {
      SleepFor(std::chrono::milliseconds(10));
      const auto all = (*job)->Exchange("");
      if (all) continue;
      world.Note(fmt::format("ends: {}", all.error().message));
      const std::uint64_t waited_ns = world.scheduler().now_ns() - *stopped_ns;
      world.Check(*stopped_ns > 0 && waited_ns >= kSoonestNs, "node {} ends too soon: {}", self,
                  all.error().message);
      world.Check(self == stopped || waited_ns <= kLatestNs, "node {} ends after {} ms", self,
                  waited_ns / kMs);
      break;
    }
    ended->insert(self);
  });
  return [nodes, ended]() -> std::string {
    return ended->size() == nodes ? "" : fmt::format("{} of {} nodes ended", ended->size(), nodes);
  };
}

// Nodes access each other's memory. Each gives its fabric up at some time without closing it, as
// after an error, while the others go on. Their operations on it fail then, and do no harm.
std::function<std::string()> PrepareTeardown(World& world) {
  constexpr std::size_t kRegionBytes = 64 << 10;
  const NodeId nodes = world.DrawNodes(2, 4);
  const std::string transport = OneOf(world, {"sim", "sim-datagrams"});
  std::vector<std::uint64_t> leaves_after_ns;
  for (NodeId node = 0; node < nodes; ++node) leaves_after_ns.push_back(world.Draw(2 * kMs));
  return OnAllNodes(world, nodes, {}, [nodes, transport, leaves_after_ns](Job& job) {
    auto fabric =
        Unwrap(Fabric::Open(job, {.transport = transport, .network = "none", .endpoints = 1}));
    const SharedRegion region = Unwrap(fabric->Share(kRegionBytes));
    Unwrap(job.Exchange(""));
    Endpoint& endpoint = fabric->endpoint(0);
    std::vector<std::byte> bytes(kRegionBytes / 4);
    std::set<NodeId> gone = {job.self()};
    const std::uint64_t leaves_ns = NowNs() + leaves_after_ns[job.self()];
    for (NodeId node = 0; gone.size() < nodes && NowNs() < leaves_ns; node = (node + 1) % nodes) {
      if (gone.contains(node)) continue;
      endpoint.Read(node, region.id, 0, bytes);
      endpoint.Write(node, region.id, bytes.size() * (1 + job.self() % 3), bytes);
      if (endpoint.Flush() != Outcome::kOk) gone.insert(node);
    }
    fabric.reset();
    Unwrap(job.Exchange(""));
  });
}

}  // namespace

std::vector<Scenario> JobScenarios() {
  return {
      {"job", "a job forms, exchanges, and ends",
       [](World& world) { return PrepareJob(world, 10, {}); }},
      {"job-faults", "the same; nodes die or stop, links are cut",
       [](World& world) { return PrepareJob(world, 10, {.most = 3, .within_ns = 1'000 * kMs}); }},
      {"leaving", "nodes stop while a job ends",
       [](World& world) {
         return PrepareJob(world, 2,
                           {.most = 2, .kills = false, .cuts = false, .within_ns = 300 * kMs});
       }},
      {"survivors", "a job that survives deaths repeats its work among the living",
       PrepareSurvivors},
      {"teardown", "nodes give up their memory while others access it", PrepareTeardown},
      {"silence", "a node stands still, and the job ends within seconds", PrepareSilence},
  };
}

}  // namespace slimgraph::test
