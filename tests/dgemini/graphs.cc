#include "tests/dgemini/graphs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>

#include "slimgraph/base/check.h"
#include "slimgraph/files/both_directions.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/files/slim_file.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

struct Arc {
  VertexId from;
  VertexId to;
};

struct Drawing {
  std::string name;
  VertexId vertices;
  std::vector<Arc> arcs;
  bool directed;
  char weights;  // n: none, i: integer, r: real
  std::optional<VertexId> source = {};
};

class Draw {
 public:
  explicit Draw(std::mt19937_64& random) : random_(random) {}

  VertexId Below(std::uint64_t bound) { return static_cast<VertexId>(random_() % bound); }

  std::vector<Arc> Uniform(VertexId vertices, std::size_t arcs) {
    std::vector<Arc> drawn;
    for (std::size_t i = 0; i < arcs; ++i) drawn.push_back({Below(vertices), Below(vertices)});
    return drawn;
  }
  // Draws as R-MAT does: bit by bit, with zeros more likely than ones.
  std::vector<Arc> Skewed(unsigned scale, std::size_t arcs) {
    std::vector<Arc> drawn;
    for (std::size_t i = 0; i < arcs; ++i) {
      Arc arc{0, 0};
      for (unsigned bit = 0; bit < scale; ++bit) {
        const VertexId quarter = Below(100);
        arc.from = arc.from * 2 + (quarter >= 76 ? 1 : 0);
        arc.to = arc.to * 2 + (quarter >= 57 && (quarter < 76 || quarter >= 95) ? 1 : 0);
      }
      drawn.push_back(arc);
    }
    return drawn;
  }
  std::vector<Arc> Chain(VertexId first, VertexId end) {
    std::vector<Arc> drawn;
    for (VertexId v = first; v + 1 < end; ++v) drawn.push_back({v, v + 1});
    return drawn;
  }
  // Chains that end in stars, whose other vertices have some edges and the next chain.
  std::vector<Arc> Tails(VertexId tails, VertexId length, VertexId points) {
    std::vector<Arc> drawn;
    for (VertexId tail = 0; tail < tails; ++tail) {
      const VertexId first = tail * (length + points);
      const VertexId middle = first + length;
      const auto chain = Chain(first, middle + 1);
      drawn.insert(drawn.end(), chain.begin(), chain.end());
      for (VertexId v = middle + 1; v < middle + points; ++v) drawn.push_back({middle, v});
      for (VertexId i = 0; i < 3 * points; ++i) {
        drawn.push_back({middle + Below(points), middle + Below(points)});
      }
      if (tail + 1 < tails) drawn.push_back({middle + Below(points), middle + points});
    }
    return drawn;
  }
  // A chain, and further vertices by which some ten steps of it are only two.
  std::vector<Arc> Shortcuts(VertexId length, VertexId shortcuts) {
    std::vector<Arc> drawn = Chain(0, length);
    for (VertexId i = 0; i < shortcuts; ++i) {
      const VertexId from = Below(length - 10);
      drawn.push_back({from, length + i});
      drawn.push_back({length + i, from + 10});
    }
    return drawn;
  }
  std::vector<Arc> Star(VertexId vertices, VertexId middle) {
    std::vector<Arc> drawn;
    for (VertexId v = 0; v < vertices; ++v) {
      if (v != middle) drawn.push_back(v % 3 == 0 ? Arc{v, middle} : Arc{middle, v});
    }
    return drawn;
  }
  std::vector<Arc> Grid(VertexId width, VertexId height) {
    std::vector<Arc> drawn;
    for (VertexId v = 0; v < width * height; ++v) {
      if (v % width + 1 < width) drawn.push_back({v, v + 1});
      if (v + width < width * height) drawn.push_back({v, v + width});
    }
    return drawn;
  }

 private:
  std::mt19937_64& random_;
};

TestGraph Write(const Drawing& drawing, const std::string& folder, Draw& draw) {
  const std::string text = folder + "/" + drawing.name + ".el";
  const std::string vertices = folder + "/" + drawing.name + ".v";
  std::ofstream edges(text);
  for (const Arc& arc : drawing.arcs) {
    edges << arc.from << ' ' << arc.to;
    if (drawing.weights == 'i') edges << ' ' << draw.Below(20);
    if (drawing.weights == 'r') edges << ' ' << 0.125 * draw.Below(1000) + 0.1;
    edges << '\n';
  }
  edges.close();
  std::ofstream ids(vertices);
  for (VertexId v = 0; v < drawing.vertices; ++v) ids << v << '\n';
  ids.close();
  ConvertOptions options;
  options.in = text;
  options.out = folder + "/" + drawing.name + ".slim";
  options.from = FileFormat::kSnap;
  options.directed = drawing.directed;
  options.weighted = drawing.weights != 'n';
  options.vertices = vertices;
  options.self_loops = options.duplicates = Keep::kKeep;
  const auto done = Convert(options);
  SLIM_CHECK(done, "{}", done.error().message);
  TestGraph graph;
  graph.name = drawing.name;
  graph.path = options.out;
  graph.weighted = options.weighted;
  if (drawing.source) graph.sources.push_back(*drawing.source);
  return graph;
}

void Answer(TestGraph& graph, Draw& draw) {
  const auto file = SlimFile::Open(graph.path);
  SLIM_CHECK(file, "{}", file.error().message);
  const auto lists = ReadCsr(*file);
  SLIM_CHECK(lists, "{}", lists.error().message);
  if (lists->vertices() == 0) return;
  while (graph.sources.size() < 2) graph.sources.push_back(draw.Below(lists->vertices()));
  graph.depth = dgemini::serial::Bfs(*lists, graph.sources[0]);
  if (graph.weighted) graph.distance = dgemini::serial::Sssp(*lists, graph.sources[0]);
  dgemini::PageRankOptions options;
  options.iterations = kTestIterations;
  graph.rank = dgemini::serial::PageRank(*lists, options).rank;
  options.source = graph.sources[0];
  graph.rank_from = dgemini::serial::PageRank(*lists, options).rank;
  graph.component = dgemini::serial::Components(*lists);
  graph.centrality = dgemini::serial::Centrality(*lists, graph.sources);
  const auto ids = file->ReadOriginalIds();
  SLIM_CHECK(ids, "{}", ids.error().message);
  graph.labels = dgemini::serial::PropagateLabels(*lists, file->directed(), *ids, kTestIterations);
  graph.cores = dgemini::serial::CoreNumbers(*lists, file->directed());
  graph.members = dgemini::serial::IndependentSet(*lists, *ids, kTestSeed);
  graph.simple = !file->directed();
  for (VertexId v = 0; v < lists->vertices(); ++v) {
    const auto list = lists->list(v);
    if (std::ranges::adjacent_find(list) != list.end() || std::ranges::binary_search(list, v)) {
      graph.simple = false;
    }
  }
}

}  // namespace

void IgnoringDirections(Cluster& cluster, const GraphSource& file, dgemini::WorkloadNeeds needs,
                        dgemini::Exchange& exchange, dgemini::Mode mode,
                        const std::function<void(dgemini::Engine&, const OriginalIds&)>& body) {
  std::optional<BothDirections> both;
  if (file.directed()) both = Unwrap(BothDirections::Of(file));
  const GraphSource& graph = both ? static_cast<const GraphSource&>(*both) : file;
  const OriginalIds ids = Unwrap(file.ReadOriginalIds());
  needs.weights = false;
  const auto work =
      Unwrap(dgemini::Workload::Load(cluster, graph, needs, [](const MemoryPlan&) {}));
  if (cluster.computes()) {
    dgemini::Engine engine(cluster, *work, exchange, mode);
    body(engine, ids);
  }
  Unwrap(work->ServeWhile([&] { return cluster.all().Barrier(); }));
}

std::vector<std::uint64_t> LabelIds(const dgemini::VertexArray<VertexId>& labels,
                                    const OriginalIds& ids) {
  std::vector<std::uint64_t> named(labels.size());
  for (VertexId v = 0; v < named.size(); ++v) named[v] = ids[ids.InOrder(labels[v])];
  return named;
}

std::vector<TestGraph> MakeTestGraphs(const std::string& folder, std::mt19937_64& random) {
  Draw draw(random);
  std::vector<Arc> apart = draw.Uniform(300, 500);
  const auto chain = draw.Chain(500, 560);
  apart.insert(apart.end(), chain.begin(), chain.end());
  std::vector<Arc> loops = draw.Uniform(40, 90);
  for (VertexId v = 0; v < 40; v += 3) loops.push_back({v, v});
  loops.insert(loops.end(), loops.begin(), loops.begin() + 60);  // duplicates as well
  const std::vector<Drawing> drawings = {
      {"empty", 0, {}, false, 'n'},
      {"one", 1, {}, false, 'n'},
      {"isolated", 9, {}, false, 'n'},
      {"loop", 1, {{0, 0}}, true, 'i'},
      {"pair", 2, {{1, 0}}, true, 'r'},
      {"star", 200, draw.Star(200, draw.Below(200)), false, 'i'},
      {"directed-star", 200, draw.Star(200, draw.Below(200)), true, 'n'},
      {"chain", 120, draw.Chain(0, 120), false, 'r'},
      {"grid", 900, draw.Grid(36, 25), false, 'i'},
      {"kron", 8192, draw.Skewed(13, 60000), false, 'i'},
      {"directed-kron", 1024, draw.Skewed(10, 9000), true, 'i'},
      {"sparse", 700, draw.Uniform(700, 900), true, 'r'},
      {"disconnected", 600, apart, false, 'n'},
      {"loops-and-duplicates", 40, loops, false, 'i'},
      {"directed-loops", 40, loops, true, 'i'},
      {"shortcuts", 180, draw.Shortcuts(168, 12), false, 'i', 0},
      {"tails", 220, draw.Tails(2, 50, 60), false, 'i', 0},
  };
  std::vector<TestGraph> graphs;
  for (const Drawing& drawing : drawings) {
    graphs.push_back(Write(drawing, folder, draw));
    Answer(graphs.back(), draw);
  }
  return graphs;
}

TestGraph MakeLargeGrid(const std::string& folder, std::mt19937_64& random) {
  Draw draw(random);
  TestGraph graph = Write({"large-grid", 160'000, draw.Grid(400, 400), false, 'i'}, folder, draw);
  Answer(graph, draw);
  return graph;
}

GraphWorld::GraphWorld() {
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  seed = said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  std::cout << "SLIMGRAPH_TEST_SEED=" << seed << std::endl;
  std::string name = (std::filesystem::temp_directory_path() / "slimgraph-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  folder = name;
  std::mt19937_64 random(seed);
  graphs = MakeTestGraphs(folder, random);
}
GraphWorld::~GraphWorld() { std::filesystem::remove_all(folder); }

const GraphWorld& TheWorld() {
  static const GraphWorld world;
  return world;
}

}  // namespace slimgraph::test
