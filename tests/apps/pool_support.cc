#include "tests/apps/pool_support.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "slimgraph/files/generate.h"
#include "tests/support/unwrap.h"

namespace slimgraph {

const std::vector<std::vector<std::string>> PoolTest::kVertexPrograms = {
    {"bfs", "--source", "1"},
    {"khop", "--source", "1", "--hops", "2"},
    {"sssp", "--source", "1"},
    {"pagerank"},
    {"cc"},
    {"bc", "--sources", "1,2,3"},
    {"cdlp"},
    {"kcore"},
    {"mis"}};
ScratchDirectory* PoolTest::scratch_ = nullptr;
std::mt19937_64 PoolTest::random_;

void PoolTest::StartPool(const std::vector<std::string>& options) {
  scratch_ = new ScratchDirectory;
  ::setenv("SLIMGRAPH_POOLS", scratch_->File("pools").c_str(), 1);
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  std::cout << "SLIMGRAPH_TEST_SEED=" << seed << std::endl;
  random_.seed(seed);
  GenerateOptions graph;
  graph.out = scratch_->File("kron.slim");
  graph.scale = 11;
  graph.seed = seed;
  graph.weights = {1, 255};
  Unwrap(Generate(graph));
  std::vector<std::string> start{"pool", "start", "p", "--nodes", "3"};
  start.insert(start.end(), options.begin(), options.end());
  Run(start);
  Run({"pool", "load", "p", graph.out});
}

void PoolTest::TearDownTestSuite() {
  RunSlimgraph({"pool", "stop", "p", "--now"});
  delete scratch_;
}

std::string PoolTest::Run(const std::vector<std::string>& words) {
  // Another mark: the nodes of a pool outlive the command that has started them.
  const CommandEnd end = RunSlimgraph(words, {"TEST_MARK=pool"});
  std::string line;
  for (const std::string& word : words) line += word + " ";
  EXPECT_EQ(end.code, 0) << line << "\n" << end.err;
  return end.out;
}

void PoolTest::ExpectRefusal(const std::vector<std::string>& words, int code, const char* said) {
  const CommandEnd end = RunSlimgraph(words);
  EXPECT_EQ(end.code, code) << end.err;
  EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_EQ(end.out, "");
}

JsonValue PoolTest::Parse(const std::string& json) { return Unwrap(ParseJson(json, "a job")); }

std::vector<double> PoolTest::Numbers(const JsonValue& report, const char* path) {
  std::vector<double> all;
  const JsonValue* const found = report.Find(path);
  if (found == nullptr || found->array() == nullptr) return all;
  for (const JsonValue& one : *found->array()) all.push_back(one.number().value_or(-1));
  return all;
}

pid_t PoolTest::ProcessOf(NodeId node) {
  const JsonValue status = Parse(Run({"pool", "status", "p", "--json"}));
  const std::string path = fmt::format("/result/nodes/{}/process", node);
  return static_cast<pid_t>(status.NumberAt(path).value_or(0));
}

}  // namespace slimgraph
