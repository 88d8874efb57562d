// Shared by tests of jobs on pools: a pool p of three nodes, with a random graph.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "slimgraph/stats/json_value.h"
#include "tests/support/command.h"
#include "tests/support/node_processes.h"

namespace slimgraph {

class PoolTest : public ::testing::Test {
 protected:
  // Prints the seed, which SLIMGRAPH_TEST_SEED sets. The graph p:kron has weights.
  static void StartPool(const std::vector<std::string>& options = {});
  static void TearDownTestSuite();

  // Runs the command, which must succeed, and returns its output.
  static std::string Run(const std::vector<std::string>& words);
  // The command must end with this code, print no result, and say `said` in its only line.
  static void ExpectRefusal(const std::vector<std::string>& words, int code, const char* said);
  static JsonValue Parse(const std::string& json);
  // The numbers of an array; none if there is no array.
  static std::vector<double> Numbers(const JsonValue& report, const char* path);
  // The process of a node of the pool.
  static pid_t ProcessOf(NodeId node);

  static const std::vector<std::vector<std::string>> kVertexPrograms;  // without the graph
  static ScratchDirectory* scratch_;
  static std::mt19937_64 random_;
};

}  // namespace slimgraph
