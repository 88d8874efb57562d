// One suite for all transports: what any of them must do, on jobs of several sizes. A test's body
// runs on every node of a job of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "slimgraph/fabric/fabric.h"
#include "slimgraph/launch/job.h"
#include "tests/support/rdma_devices.h"

namespace slimgraph {

struct Setting {
  std::string transport;
  NodeId nodes;
};
inline void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.transport << " on " << setting.nodes << " nodes";
}

class FabricConformance : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (transport() == "verbs" && RdmaDevices().empty()) GTEST_SKIP() << "no RDMA device";
  }

  using Body = std::function<void(Job&, Fabric&)>;

  // At most once in a test: under `mpi` the nodes are new processes that run the whole test.
  // `options.transport` is the setting's.
  void OnEveryNode(const Body& body, FabricOptions options = {}, int limit_s = 60);

  // The same where a node is killed; the exit codes of the others are 0. Closes nothing.
  void OnSurvivors(NodeId killed, const Body& body, int limit_s = 60);

  std::string transport() const { return GetParam().transport; }
  NodeId nodes() const { return GetParam().nodes; }

 private:
  void RunNode(Job& job, const Body& body, const FabricOptions& options, bool close);
};

// For the next suites: on how many nodes each transport is tried.
std::vector<Setting> AllSettings();
// Of those, with at least two nodes, and at most `most`.
std::vector<Setting> SettingsFrom2(NodeId most = 8);
std::string NameOfSetting(const ::testing::TestParamInfo<Setting>& info);

// Taken from SLIMGRAPH_TEST_SEED, otherwise new; printed when the test fails.
std::uint64_t TestSeed();

// `bytes` that differ from position to position and from seed to seed.
std::vector<std::byte> Pattern(std::size_t bytes, std::uint64_t seed);

NodeId RightOf(const Job& job);
MutableBytes AsBytes(std::vector<std::byte>& bytes);

// Rings and waits for all completions, in order of arrival.
std::vector<Completion> Complete(Endpoint& endpoint);

// Waits until others have brought the word at `address` of this node's memory to `least`; what they
// write there wakes nobody.
bool AwaitWord(Endpoint& endpoint, std::byte* address, std::uint64_t least);

// All but `dead` wait for each other, so that none takes the end of another for a second death.
// `meeting`: two words on each node.
void MeetWithout(NodeId dead, Job& job, Endpoint& endpoint, const SharedRegion& meeting);

// Serves messages until all nodes have come here.
void MeetServing(Job& job, Endpoint& endpoint);

}  // namespace slimgraph
