// Graphs with matching checksums and wrong contents: every command refuses them with one line, on
// any number of nodes, whichever part of the graph a node reads.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <sstream>

#include "slimgraph/base/types.h"
#include "tests/support/command.h"
#include "tests/support/slim_checksums.h"

namespace slimgraph {
namespace {

class WrongGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "--weights", "1..9", "-o", right_}).code, 0);
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "--directed", "-o", directed_}).code, 0);
  }

  // Copies `graph` and sets the middle element of a section to `value`.
  template <typename T>
  std::string Wrong(const std::string& graph, SectionKind kind, T value) const {
    const std::string text = ReadText(graph);
    std::vector<std::uint8_t> file(text.begin(), text.end());
    SlimHeader header;
    std::memcpy(&header, file.data(), sizeof header);
    for (const SlimSection& section : header.sections) {
      if (section.kind != kind) continue;
      const std::uint64_t middle = section.bytes / sizeof value / 2;
      std::memcpy(file.data() + section.offset + middle * sizeof value, &value, sizeof value);
    }
    UpdateChecksums(file);
    const std::string path = scratch_.File("wrong.slim");
    WriteText(path, std::string(file.begin(), file.end()));
    return path;
  }

  void ExpectRefused(const std::vector<std::string>& words, const std::string& path) const {
    const CommandEnd end = RunSlimgraph(words);
    std::string all;
    for (const std::string& word : words) all += word + ' ';
    EXPECT_EQ(end.code, 3) << all << end.err;
    int lines = 0;
    std::istringstream err(end.err);
    for (std::string line; std::getline(err, line);) {
      if (line.find(" takes ") != std::string::npos) continue;  // the announcement of memory
      ++lines;
      EXPECT_NE(line.find(path), std::string::npos) << all << line;
    }
    EXPECT_EQ(lines, 1) << all << end.err;
  }

  struct Nodes {
    const char* all;
    const char* compute;
  };
  static constexpr std::array<Nodes, 3> kShapes = {{{"4", "2"}, {"1", "1"}, {"4", "4"}}};

  // On so many of the shapes.
  void ExpectEveryJobRefuses(const std::string& path, std::size_t shapes) const {
    ExpectJobsRefuse({{"bfs", path, "--source", "0"},
                      {"pagerank", path},
                      {"cc", path},
                      {"bc", path, "--sources", "0"},
                      {"sssp", path, "--source", "0"},
                      {"scan", path}},
                     path, shapes);
    ExpectMiningRefuses(path, shapes);
  }
  void ExpectMiningRefuses(const std::string& path, std::size_t shapes) const {
    ExpectJobsRefuse({{"triangles", path},
                      {"cliques", path, "-k", "4"},
                      {"motifs", path, "-k", "3"},
                      {"motifs", path, "-k", "4"},
                      {"match", path, "--pattern", "diamond"},
                      {"local", path, "--triangles", "--output", scratch_.File("out")}},
                     path, shapes);
  }
  void ExpectJobsRefuse(const std::vector<std::vector<std::string>>& commands,
                        const std::string& path, std::size_t shapes) const {
    for (const auto& command : commands) {
      for (const auto& [nodes, compute] : std::span(kShapes).first(shapes)) {
        auto words = command;
        words.insert(words.end(), {"--nodes", nodes, "--compute", compute});
        ExpectRefused(words, path);
      }
    }
  }

  ScratchDirectory scratch_;
  std::string right_ = scratch_.File("right.slim");
  std::string directed_ = scratch_.File("directed.slim");
};

TEST_F(WrongGraph, WithANeighbourThatIsNoVertexIsRefusedByEveryJob) {
  ExpectEveryJobRefuses(Wrong(right_, SectionKind::kOutNeighbours, VertexId{1024}), 3);
  ExpectEveryJobRefuses(Wrong(right_, SectionKind::kOutNeighbours, ~VertexId{0}), 1);
}

TEST_F(WrongGraph, WithOffsetsThatFallIsRefusedByEveryJob) {
  ExpectEveryJobRefuses(Wrong(right_, SectionKind::kOutOffsets, EdgeOffset{0}), 3);
  ExpectEveryJobRefuses(Wrong(right_, SectionKind::kOutOffsets, ~EdgeOffset{0}), 1);
}

TEST_F(WrongGraph, WithWrongIncomingListsIsRefusedWhereTheyAreRead) {
  const std::string path = Wrong(directed_, SectionKind::kInNeighbours, VertexId{1024});
  for (const auto& [nodes, compute] : {std::pair{"1", "1"}, {"4", "2"}, {"4", "4"}}) {
    ExpectRefused({"pagerank", path, "--mode", "pull", "--nodes", nodes, "--compute", compute},
                  path);
  }
}

TEST_F(WrongGraph, WithWrongCodedListsIsRefusedByMining) {
  const std::string coded = scratch_.File("coded.slim");
  ASSERT_EQ(RunSlimgraph({"convert", right_, coded, "--drop-weights", "--coded"}).code, 0);
  ExpectMiningRefuses(Wrong(coded, SectionKind::kRanks, VertexId{1024}), 3);
  const auto refuse = [&](const std::string& path) {  // the complete lists, and their upper parts
    ExpectJobsRefuse({{"motifs", path, "-k", "4"}, {"triangles", path}}, path, 3);
  };
  refuse(Wrong(coded, SectionKind::kRankedLengths, RankedLength{1, 2}));
  const std::string path = Wrong(coded, SectionKind::kRankedLists, ~std::uint64_t{0});
  refuse(path);
  ExpectRefused({"info", path, "--check"}, path);
}

TEST_F(WrongGraph, IsRefusedByStoreCreate) {
  const std::string store = scratch_.File("store");
  for (const SectionKind kind : {SectionKind::kOutNeighbours, SectionKind::kInNeighbours}) {
    const std::string path = Wrong(directed_, kind, VertexId{1024});
    ExpectRefused({"store", "create", path, "-o", store}, path);
  }
  const std::string path = Wrong(right_, SectionKind::kOutNeighbours, VertexId{1024});
  ExpectRefused({"store", "create", path, "-o", store}, path);
  ExpectRefused({"info", path, "--check"}, path);
  ExpectRefused({"convert", path, scratch_.File("again.slim"), "--weighted"}, path);
}

}  // namespace
}  // namespace slimgraph
