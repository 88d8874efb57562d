#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>

#include "slimgraph/base/process.h"
#include "tests/sim/scenario.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

struct Scratch {
  Scratch() {
    path = (std::filesystem::temp_directory_path() / "slimgraph-sim-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

}  // namespace

const std::string& ScenarioFolder() {
  static const Scratch scratch;
  return scratch.path;
}

std::function<std::string()> OnAllNodes(World& world, NodeId nodes, const World::Faults& faults,
                                        std::function<void(Job&)> body) {
  const auto done = std::make_shared<std::set<NodeId>>();
  const bool may_fail = faults.ends_jobs();
  world.StartNodes(nodes, [&world, body = std::move(body), done, may_fail](NodeId self) {
    try {
      const auto job = Unwrap(world.Join(OnLoss::kEndJob));
      body(*job);
      Unwrap(job->Leave(0));
      done->insert(self);
    } catch (const std::exception& failure) {
      world.Note(failure.what());
      world.Check(may_fail && world.faults_made() > 0, "node {}: {}", self, failure.what());
      EndProcess(1);
    }
  });
  world.StartFaults(faults);
  return [&world, nodes, done, may_fail]() -> std::string {
    if (may_fail && world.faults_made() > 0) return "";
    for (NodeId node = 0; node < nodes; ++node) {
      if (!done->contains(node) && !world.died(node)) return fmt::format("node {} failed", node);
    }
    return "";
  };
}

std::vector<Scenario> AllScenarios() {
  std::vector<Scenario> all;
  for (auto* const make : {JobScenarios, VertexScenarios, MiningScenarios, TransactionScenarios,
                           SnapshotScenarios, DiskScenarios, DurableScenarios}) {
    std::ranges::move(make(), std::back_inserter(all));
  }
  return all;
}

}  // namespace slimgraph::test
