// One conformance suite for all transports, on jobs of several sizes. A test's body runs on every
// node of its own job.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "slimgraph/fabric/fabric.h"
#include "slimgraph/launch/job.h"
#include "tests/support/rdma_devices.h"
#include "tests/support/seed.h"

namespace slimgraph {

struct Setting {
  std::string transport;
  NodeId nodes;
  bool encrypts = false;
};
inline void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.encrypts ? "encrypted " : "") << setting.transport << " on " << setting.nodes
       << " nodes";
}

class FabricConformance : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (transport() == "verbs" && RdmaDevices().empty()) GTEST_SKIP() << "no RDMA device";
  }

  using Body = std::function<void(Job&, Fabric&)>;

  // Call it at most once in a test: with `mpi` the nodes are new processes that run the whole test.
  // `options.transport` is replaced by the setting's.
  void OnEveryNode(const Body& body, FabricOptions options = {}, int limit_s = 60);

  // The same, but the body destroys the fabric, or leaves it to be destroyed, without Close().
  using OwningBody = std::function<void(Job&, std::unique_ptr<Fabric>)>;
  void OnEveryNodeUnclosed(const OwningBody& body, FabricOptions options = {}, int limit_s = 60);

  // The same, but one node is killed, and the exit codes of the others must be 0. Closes nothing.
  void OnSurvivors(NodeId killed, const Body& body, int limit_s = 60);
  void OnSurvivorsUnclosed(NodeId killed, const OwningBody& body, int limit_s = 60);

  std::string transport() const { return GetParam().transport; }
  NodeId nodes() const { return GetParam().nodes; }

 private:
  static void RunNode(Job& job, const OwningBody& body, const FabricOptions& options);
};

// The settings for test suites: each transport on several numbers of nodes.
std::vector<Setting> AllSettings();
// The settings with 2 to `most` nodes.
std::vector<Setting> MultiNodeSettings(NodeId most = 8);
// Those of them whose transports reach memory that exists already.
std::vector<Setting> ShmAndTcpSettings(NodeId most);
std::string NameOfSetting(const ::testing::TestParamInfo<Setting>& info);

using test::TestSeed;

// `bytes` bytes, whose values depend on the position and the seed.
std::vector<std::byte> Pattern(std::size_t bytes, std::uint64_t seed);

NodeId RightOf(const Job& job);
MutableBytes AsBytes(std::vector<std::byte>& bytes);

// Rings and waits for all completions, in the order in which they arrive.
std::vector<Completion> Complete(Endpoint& endpoint);

// Waits until other nodes have raised the word at `address` of this node's memory to `least`. It
// polls, because one-sided writes wake nobody.
bool AwaitWord(Endpoint& endpoint, std::byte* address, std::uint64_t least);

// Waits for all nodes but `dead`, so that none takes the end of another for a second death.
// `meeting` has two words on each node.
void BarrierWithout(NodeId dead, Job& job, Endpoint& endpoint, const SharedRegion& meeting);

// Handles messages until all nodes have called it.
void BarrierWhileServing(Job& job, Endpoint& endpoint);

}  // namespace slimgraph
