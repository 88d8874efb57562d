// Shared by the tests of `slimgraph store`: graphs as maps, random updates, a store in a scratch
// folder.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace slimgraph {

// The seed of a random test, which it prints. SLIMGRAPH_TEST_SEED sets it.
std::uint64_t StoreSeed();

// Vertex id → neighbour id → weight of the edge, 0 without weights.
using Lists = std::map<std::uint64_t, std::map<std::uint64_t, double>>;
Lists ListsOf(const std::string& path);

// Generates random valid update lines, and tracks the graph that they produce.
class Updates {
 public:
  Updates(Lists lists, std::uint64_t seed, bool directed = false, bool weighted = false)
      : lists_(std::move(lists)), random_(seed), directed_(directed), weighted_(weighted) {}

  std::string Lines(int count);
  const Lists& lists() const { return lists_; }

 private:
  std::uint64_t Any();
  std::string Line();

  Lists lists_;
  std::mt19937_64 random_;
  bool directed_;
  bool weighted_;
};

class Stores : public ::testing::Test {
 protected:
  void SetUp() override { WriteGraph(false, false); }
  // Writes a graph of 50 vertices and 200 random edges.
  void WriteGraph(bool directed, bool weighted);
  void Create();
  CommandEnd Apply(const std::string& from, const std::vector<std::string>& more = {}) const;
  Lists Exported(const std::vector<std::string>& more = {}) const;
  static std::string Field(const CommandEnd& end, const std::string& name);

  const ScratchDirectory scratch_;
  const std::string graph_ = scratch_.File("graph.slim");
  const std::string store_ = scratch_.File("store");
};

}  // namespace slimgraph
