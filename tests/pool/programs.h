// This test's program in its other roles: a node of a pool, a loader with a graph of a few words,
// and the nodes of a job. And pools that do not outlive a test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "slimgraph/pool/pool.h"
#include "tests/support/command.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {

// The words of a job of this program. Each node of the pool shows its part of the graph to node 0.
constexpr const char* kJobCommand = "job";
// A job whose deputies end at once, with an error.
constexpr const char* kBrokenJobCommand = "broken-job";
// A job whose deputies stay until they are killed, whatever becomes of the job.
constexpr const char* kDeafJobCommand = "deaf-job";

// A job whose deputies write into the file that the next word names, and end.
constexpr const char* kWritingJobCommand = "writing-job";

// What the loader makes of a file with the text "BYTES": a memory of so many bytes on each node,
// which starts with the node's number as one byte, and the facts "BYTES of NODES". Other texts:
// "fail", "die", "hang", "stops" (once it has passed its part), "differs", of which each node has
// other facts, and "slow", for which node 0 waits for a file with ".go" after the name. Views are
// the same, and their facts begin with their names; the view "fail" cannot be made, and "wait"
// waits for a file with ".go" after its name.
void WriteGraph(const std::string& path, const std::string& text);

// Each test has a folder of pools of its own; all of its processes are killed at the end.
class Pools : public ::testing::Test {
 protected:
  Pools();
  ~Pools() override;

  PoolDescriptor Start(const std::string& name, NodeId nodes, std::uint64_t memory_bytes = 0);
  // Loads a graph of so many bytes on each node.
  Result<PoolLoaded> Load(const std::string& pool, const std::string& graph,
                          const std::string& text);
  std::string File(const std::string& name) const { return folder_.File(name); }
  std::string folder() const { return folder_.path(); }
  // All living processes that have this test's folder in their environment.
  std::vector<pid_t> Processes() const;
  // Waits until only `count` of them are left; false if they are not within 20 s.
  bool AwaitProcesses(std::size_t count) const;

 private:
  ScratchDirectory folder_;
};

// Another process, which runs `work` and ends. Processes() does not have it.
pid_t Fork(const std::function<void()>& work);

// What a job sees: one text for each node of the pool, "GRAPH FACTS: FIRST BYTE, BYTES", and the
// job's quota if it has one, "; from FIRST LENDER on BYTES and BYTES/s".
Result<std::vector<std::string>> RunJob(const std::string& pool, const std::string& graph,
                                        NodeId compute, const std::string& command = kJobCommand,
                                        const std::string& view = "");

}  // namespace slimgraph::test
