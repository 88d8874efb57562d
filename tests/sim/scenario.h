// A scenario of the simulation: a workload, its faults, and its check.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/simulated_world.h"

namespace slimgraph::test {

// More nodes than a word has bits. They use a simulated transport: in one process, others would
// need a descriptor for each pair of nodes.
constexpr NodeId kCrowd = 64;

struct Scenario {
  const char* name;
  const char* what;
  // Starts the nodes. Returns a check of the whole run, which is called after it.
  std::function<std::function<std::string()>(World&)> prepare;
  // One of so many seeds is run: runs of many nodes take long.
  std::uint64_t one_of_seeds = 1;
};
constexpr std::uint64_t kOneSeedOfCrowds = 10;

std::vector<Scenario> JobScenarios();
std::vector<Scenario> VertexScenarios();
std::vector<Scenario> MiningScenarios();
std::vector<Scenario> TransactionScenarios();
std::vector<Scenario> SnapshotScenarios();
std::vector<Scenario> DiskScenarios();
std::vector<Scenario> DurableScenarios();
std::vector<Scenario> AllScenarios();

// A folder for the files of scenarios, which is removed at the end of the program.
const std::string& ScenarioFolder();

// Runs `body` on all nodes of a job, which ends by an exception if it fails. It may fail only if
// the faults end jobs; then all nodes end. None waits forever.
std::function<std::string()> OnAllNodes(World& world, NodeId nodes, const World::Faults& faults,
                                        std::function<void(Job&)> body);

// One of the words at random.
inline const char* OneOf(World& world, std::initializer_list<const char*> words) {
  return *(words.begin() + world.Draw(words.size()));
}

// A transport for a job of so many nodes, at random.
inline const char* DrawTransport(World& world, NodeId nodes) {
  const char* transport = OneOf(world, {"sim", "sim", "sim-datagrams", "shm", "tcp"});
  if (!world.transport().empty()) transport = world.transport().c_str();
  const bool simulated = std::string_view(transport).starts_with("sim");
  return nodes > kCrowd && !simulated ? "sim" : transport;
}

}  // namespace slimgraph::test
