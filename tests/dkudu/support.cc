#include "tests/dkudu/support.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "dkudu/ranked_lists.h"
#include "slimgraph/files/convert.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {

std::uint64_t SomeChunkBytes(std::mt19937_64& random) {
  constexpr std::uint64_t kEnough = 64 << 10;  // for the graphs of these tests
  return random() % 2 == 0 ? 0 : kEnough + random() % kEnough;
}

ScratchGraph::ScratchGraph(const EdgeList& edges, Lists lists) {
  static int number = 0;
  path_ = (std::filesystem::temp_directory_path() /
           fmt::format("slimgraph-mining-{}-{}.slim", ::getpid(), number++))
              .string();
  Unwrap(WriteSlimFile(edges, path_));
  if (lists == kPlain) return;
  ConvertOptions add;
  add.in = add.out = path_;
  add.ranked = dkudu::MakeRankedLists;
  Unwrap(Convert(add));
}

ScratchGraph::~ScratchGraph() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

EdgeList EmptyGraph(VertexId vertices) {
  EdgeList graph;
  graph.vertices = vertices;
  return graph;
}

EdgeList RandomGraph(std::mt19937_64& random, VertexId vertices, double density) {
  std::uniform_real_distribution<double> unit;
  std::vector<double> likeliness(vertices);
  for (double& one : likeliness) one = 2 * unit(random);
  EdgeList graph = EmptyGraph(vertices);
  for (VertexId v = 0; v < vertices; ++v) {
    for (VertexId u = 0; u < v; ++u) {
      if (unit(random) < density * likeliness[u] * likeliness[v]) graph.edges.push_back({u, v});
    }
  }
  return graph;
}

EdgeList RandomDirectedGraph(std::mt19937_64& random, VertexId vertices, double density) {
  EdgeList graph = RandomGraph(random, vertices, density);
  graph.directed = true;
  const std::size_t edges = graph.edges.size();
  for (std::size_t i = 0; i < edges; ++i) {
    const EdgeList::Edge back{graph.edges[i].dst, graph.edges[i].src};
    if (random() % 3 == 0) {
      graph.edges.push_back(back);
    } else if (random() % 2 == 0) {
      graph.edges[i] = back;
    }
  }
  return graph;
}

EdgeList CompleteGraph(VertexId vertices) {
  EdgeList graph = EmptyGraph(vertices);
  for (VertexId v = 0; v < vertices; ++v) {
    for (VertexId u = 0; u < v; ++u) graph.edges.push_back({u, v});
  }
  return graph;
}

std::vector<std::vector<VertexId>> ListsByRank(const EdgeList& edges) {
  std::vector<std::vector<VertexId>> lists(edges.vertices);
  for (const auto& [u, v] : edges.edges) {
    lists[u].push_back(v);
    if (u != v) lists[v].push_back(u);
  }
  std::vector<VertexId> dense(edges.vertices);
  std::iota(dense.begin(), dense.end(), 0);
  std::ranges::stable_sort(dense, {}, [&](VertexId v) { return lists[v].size(); });
  std::vector<VertexId> rank(edges.vertices);
  for (VertexId i = 0; i < dense.size(); ++i) rank[dense[i]] = i;
  std::vector<std::vector<VertexId>> by_rank(edges.vertices);
  for (VertexId v = 0; v < edges.vertices; ++v) {
    std::set<VertexId> list;
    for (const VertexId w : lists[v]) {
      if (w != v) list.insert(rank[w]);
    }
    by_rank[rank[v]].assign(list.begin(), list.end());
  }
  return by_rank;
}

void ExpectLists(const dkudu::MiningGraph& graph, const std::vector<std::vector<VertexId>>& by_rank,
                 const std::string& where) {
  std::vector<std::byte> coded(graph.coded().begin(), graph.coded().end());
  coded.resize(coded.size() + ListCode::kSlackBytes);
  ASSERT_EQ(graph.vertices(), by_rank.size()) << where;
  dkudu::DegreeSums sums;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    const auto above = std::ranges::upper_bound(by_rank[v], v);
    sums.Add(
        dkudu::SumsOf(by_rank[v].size(), static_cast<std::uint64_t>(by_rank[v].end() - above)));
    std::vector<VertexId> list = by_rank[v];
    if (graph.part() == dkudu::ListPart::kUpper) list.assign(above, by_rank[v].end());
    if (graph.computes()) {
      ASSERT_EQ(graph.degree(v), list.size()) << where << ", rank " << v;
    }
    if (!graph.is_own(v)) continue;
    if (graph.computes()) {
      ASSERT_TRUE(std::ranges::equal(graph.own(v), list)) << where << ", rank " << v;
    }
    if (graph.coded().empty()) continue;
    std::vector<VertexId> decoded(list.size());
    ASSERT_TRUE(graph.code().Decode(coded.data() + graph.FindByte(v), decoded)) << where;
    ASSERT_EQ(decoded, list) << where << ", rank " << v;
  }
  EXPECT_EQ(graph.sums().arcs, sums.arcs) << where;
  EXPECT_EQ(graph.sums().most_above, sums.most_above) << where;
  EXPECT_TRUE(graph.sums().triples == sums.triples && graph.sums().pairs == sums.pairs) << where;
}

dkudu::Pattern RandomPattern(std::mt19937_64& random, unsigned vertices) {
  std::vector<dkudu::Pattern::Edge> edges;
  for (unsigned v = 1; v < vertices; ++v) {
    const std::uint64_t joined = random() % v;
    for (unsigned u = 0; u < v; ++u) {
      if (u == joined || random() % 3 == 0) edges.emplace_back(u, v);
    }
  }
  return *dkudu::Pattern::Make(edges, "random");
}

std::uint64_t BruteForceCount(const EdgeList& graph, const dkudu::Pattern& pattern,
                              dkudu::Induced induced) {
  std::vector<std::vector<bool>> adjacent(graph.vertices, std::vector<bool>(graph.vertices));
  for (const auto& edge : graph.edges) {
    adjacent[edge.src][edge.dst] = adjacent[edge.dst][edge.src] = true;
  }
  std::vector<VertexId> image;
  std::uint64_t mappings = 0;
  const auto extend = [&](const auto& self) -> void {
    const auto v = static_cast<unsigned>(image.size());
    if (v == pattern.size()) {
      ++mappings;
      return;
    }
    for (VertexId to = 0; to < graph.vertices; ++to) {
      bool fits = true;
      for (unsigned u = 0; u < v && fits; ++u) {
        const bool joined = adjacent[image[u]][to];
        const bool wanted = pattern.adjacent(u, v);
        fits = image[u] != to &&
               (induced == dkudu::Induced::kVertex ? joined == wanted : joined || !wanted);
      }
      if (!fits) continue;
      image.push_back(to);
      self(self);
      image.pop_back();
    }
  };
  extend(extend);
  return mappings / pattern.Automorphisms().size();
}

std::string NameOf(const Shape& shape) {
  return fmt::format("({},{}) with {} threads {}over {}", shape.nodes, shape.compute, shape.threads,
                     !shape.standing  ? ""
                     : shape.in_place ? "on standing lists in place "
                                      : "on standing lists ",
                     shape.transport);
}

Shape RandomStandingShape(std::mt19937_64& random) {
  const auto compute = static_cast<NodeId>(1 + random() % 3);
  const auto homes = static_cast<NodeId>(1 + random() % 3);
  return {.nodes = compute + homes,
          .compute = compute,
          .threads = static_cast<std::uint32_t>(1 + random() % 2),
          .transport = random() % 2 == 0 ? "shm" : "tcp",
          .standing = true,
          .in_place = random() % 2 == 0};
}

namespace {

void RunMining(Cluster& cluster, const dkudu::MiningGraph& graph,
               const dkudu::MiningOptions& options,
               const std::function<void(dkudu::MiningJob&)>& body) {
  std::vector<StageSeconds> seconds(cluster.threads());
  const auto lists = Unwrap(dkudu::ListExchange::Start(cluster, graph, options.fetch));
  dkudu::MiningJob mining{cluster, graph, *lists, options, seconds};
  body(mining);
  Unwrap(lists->Stop());
}

// The lists of a memory node, as a pool's loader makes them; nothing on compute nodes.
StandingPart MakeStanding(const Job& job, const Shape& shape, const std::string& path,
                          dkudu::ListPart part) {
  if (job.self() < shape.compute) return {};
  return Unwrap(dkudu::LoadStandingLists(path, path, part, job.self() - shape.compute,
                                         shape.nodes - shape.compute));
}

}  // namespace

void MineOn(Cluster& cluster, const std::string& path, dkudu::ListPart part,
            const dkudu::MiningOptions& options,
            const std::function<void(dkudu::MiningJob&)>& body) {
  const SlimFile file = Unwrap(SlimFile::Open(path));
  const auto graph =
      Unwrap(dkudu::MiningGraph::Load(cluster, file, part, {}, [](const MemoryPlan&) {}));
  RunMining(cluster, *graph, options, body);
}

void OnMiningJob(const Shape& shape, const std::string& path, dkudu::ListPart part,
                 const dkudu::MiningOptions& options,
                 const std::function<void(dkudu::MiningJob&)>& body) {
  ExpectNodesRun(shape.nodes, [&](Job& job) {
    // Outlives the cluster.
    const StandingPart made =
        shape.standing ? MakeStanding(job, shape, path, part) : StandingPart();
    const auto cluster = Unwrap(Cluster::Start(job, {.compute = shape.compute,
                                                     .threads = shape.threads,
                                                     .transport = shape.transport,
                                                     .serving_threads = 1,
                                                     .in_place = {.any = shape.in_place}}));
    if (shape.standing) {
      const SlimFile file = Unwrap(SlimFile::Open(path));
      std::optional<dkudu::StandingLists> own;
      if (!cluster->computes()) own = Unwrap(dkudu::StandingLists::Open(made.facts, made.memories));
      const auto graph = Unwrap(dkudu::MiningGraph::Attach(
          *cluster, file, part, own ? &*own : nullptr, {}, [](const MemoryPlan&) {}));
      RunMining(*cluster, *graph, options, body);
    } else {
      MineOn(*cluster, path, part, options, body);
    }
    Unwrap(cluster->Stop());
  });
}

}  // namespace slimgraph::test
