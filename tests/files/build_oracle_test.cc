// Converts random graphs from text, and compares them with the results of a reader and builder of a
// few lines that use only std::map.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/inspect.h"
#include "slimgraph/files/slim_file.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

struct RandomText {
  std::string text;
  std::uint64_t edges = 0;
};

// Makes edges with ids of any magnitude, clustered so that duplicates and self-loops occur.
RandomText MakeText(std::mt19937_64& random, bool weighted, std::size_t edges) {
  const std::uint64_t spread = std::uint64_t{1} << (random() % 8 + 1);
  const unsigned magnitude = static_cast<unsigned>(random() % 64);
  const std::uint64_t factor = random() % 3 == 0 ? 1 : (random() | 1) >> magnitude;
  const std::uint64_t base = random() % 2 == 0 ? 0 : random() >> (magnitude / 2 + 1);
  const std::uint64_t decimals = random() % 3;
  const auto id = [&] { return base + random() % spread * factor; };
  RandomText made;
  for (std::size_t i = 0; i < edges; ++i) {
    if (random() % 50 == 0) made.text += random() % 2 == 0 ? "# x 1 2\n" : "\n";
    const std::uint64_t src = id();
    const std::uint64_t dst = random() % 20 == 0 ? src : id();
    made.text += fmt::format("{}{}{}", src, random() % 2 == 0 ? "\t" : " ", dst);
    const auto integer = static_cast<std::int64_t>(random() % 9) - 3;
    if (weighted) {
      made.text += decimals != 0 && random() % 4 == 0
                       ? fmt::format(" {}", static_cast<double>(integer) / (decimals == 1 ? 8 : 10))
                       : fmt::format(" {}", integer);
    }
    made.text += "\n";
    ++made.edges;
  }
  return made;
}

struct Choices {
  bool directed = false;
  bool weighted = false;
  bool keep_loops = false;
  bool keep_duplicates = false;
};

struct OracleGraph {
  PlainGraph graph;
  std::uint64_t edges = 0;
  std::uint64_t loops = 0;
  std::uint64_t duplicates = 0;
};

OracleGraph Oracle(const std::string& text, const Choices& choices) {
  OracleGraph oracle;
  std::set<std::uint64_t> vertices;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>> edges;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::uint64_t src = 0;
    std::uint64_t dst = 0;
    double weight = 0;
    words >> src >> dst;
    if (choices.weighted) words >> weight;
    vertices.insert({src, dst});
    if (src == dst) {
      ++oracle.loops;
      if (!choices.keep_loops) continue;
    }
    if (!choices.directed && src > dst) std::swap(src, dst);
    edges[{src, dst}].push_back(weight);
  }
  for (auto& [ends, weights] : edges) {
    std::sort(weights.begin(), weights.end());
    oracle.duplicates += weights.size() - 1;
    if (!choices.keep_duplicates) weights.resize(1);
    oracle.edges += weights.size();
    oracle.graph.arcs[ends] = weights;
    if (!choices.directed) oracle.graph.arcs[{ends.second, ends.first}] = weights;
  }
  oracle.graph.vertices.assign(vertices.begin(), vertices.end());
  return oracle;
}

PlainGraph Reversed(const PlainGraph& graph) {
  PlainGraph reversed;
  reversed.vertices = graph.vertices;
  for (const auto& [ends, weights] : graph.arcs) {
    reversed.arcs[{ends.second, ends.first}] = weights;
  }
  return reversed;
}

void CompareOne(std::mt19937_64& random, std::size_t edges) {
  const Choices choices = {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0,
                           random() % 2 == 0};
  const RandomText input = MakeText(random, choices.weighted, edges);
  const OracleGraph oracle = Oracle(input.text, choices);
  const ScratchFolder folder;
  WriteFile(folder / "g.txt", input.text);
  ConvertOptions options;
  options.in = folder / "g.txt";
  options.out = folder / "g.slim";
  options.directed = choices.directed;
  options.weighted = choices.weighted;
  options.self_loops = choices.keep_loops ? Keep::kKeep : Keep::kDrop;
  options.duplicates = choices.keep_duplicates ? Keep::kKeep : Keep::kDrop;
  options.threads = random() % 4;
  const auto report = Convert(options);
  ASSERT_OK(report);
  EXPECT_EQ(report->edges_read, input.edges);
  EXPECT_EQ(report->edges, oracle.edges);
  EXPECT_EQ(report->self_loops, oracle.loops);
  EXPECT_EQ(report->duplicates, oracle.duplicates);
  EXPECT_EQ(ReadPlain(options.out), oracle.graph);
  if (choices.directed) {
    EXPECT_EQ(ReadPlain(options.out, Direction::kIn), Reversed(oracle.graph));
  }
  EXPECT_OK(Inspect({options.out, true, {}}));

  // Converting the .slim file once more changes only the weight type: edges that were dropped may
  // have needed a wider one.
  ConvertOptions again = options;
  again.in = options.out;
  again.out = folder / "again.slim";
  EXPECT_OK(Convert(again));
  EXPECT_EQ(ReadPlain(again.out), oracle.graph);
  EXPECT_TRUE(choices.weighted || ReadFile(again.out) == ReadFile(options.out));
}

TEST(Conversion, AgreesWithAMapOnRandomText) {
  auto random = SeededRandom();
  for (int round = 0; round < 200 && !HasFailure(); ++round) CompareOne(random, random() % 400);
}

TEST(Conversion, AgreesWithAMapOnTextOfManyChunksAndBuckets) {
  auto random = SeededRandom();
  for (int round = 0; round < 3 && !HasFailure(); ++round) CompareOne(random, 300'000);
}

TEST(Csr, InMemoryAndThroughAFileIsTheSame) {
  auto random = SeededRandom();
  for (int round = 0; round < 50; ++round) {
    EdgeList list;
    list.vertices = static_cast<VertexId>(random() % 50 + 1);
    list.directed = random() % 2 == 0;
    const bool weighted = random() % 2 == 0;
    for (std::size_t i = random() % 300; i > 0; --i) {
      list.edges.push_back({static_cast<VertexId>(random() % list.vertices),
                            static_cast<VertexId>(random() % list.vertices)});
      if (weighted) list.weights.push_back(static_cast<double>(random() % 100) / 4);
    }
    const ScratchFolder folder;
    ASSERT_OK(WriteSlimFile(list, folder / "g.slim"));
    const auto file = SlimFile::Open(folder / "g.slim");
    ASSERT_OK(file);
    for (const Direction direction : {Direction::kOut, Direction::kIn}) {
      const auto built = BuildCsr(list, direction);
      const auto read = ReadCsr(*file, direction);
      ASSERT_OK(built);
      ASSERT_OK(read);
      EXPECT_EQ(built->offsets, read->offsets);
      EXPECT_EQ(built->neighbours, read->neighbours);
      EXPECT_EQ(built->weights, read->weights);
    }
  }
}

TEST(Csr, AnEdgeOutOfRangeIsAnError) {
  EXPECT_EQ(MessageOf(BuildCsr({2, {{0, 2}}, {}, false})),
            "the edge 0 2 is out of range: the graph has 2 vertices");
}

}  // namespace
}  // namespace slimgraph::test
