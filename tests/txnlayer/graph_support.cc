#include "tests/txnlayer/graph_support.h"

#include <unistd.h>

#include <algorithm>

#include "txnlayer/graph/snapshot.h"

namespace slimgraph::test {

FileSource::FileSource(const std::string& path) {
  if (path.empty()) return;
  auto file = SlimFile::Open(path);
  EXPECT_TRUE(file) << file.error().message;
  if (file) file_.emplace(*std::move(file));
}

std::string WriteRandomGraph(VertexId vertices, std::uint64_t edges, std::uint64_t seed,
                             const txn::GraphShape& shape) {
  std::mt19937_64 random(seed);
  EdgeList list;
  list.vertices = vertices;
  list.directed = shape.directed;
  for (VertexId v = 1; v < vertices; v += 1 + static_cast<VertexId>(random() % 2)) {
    list.edges.push_back({0, v});
    if (shape.directed && random() % 2 == 0) list.edges.push_back({v, 0});
  }
  for (std::uint64_t i = 0; i < edges; ++i) {
    list.edges.push_back(
        {static_cast<VertexId>(random() % vertices), static_cast<VertexId>(random() % vertices)});
  }
  for (std::size_t i = 0; i < list.edges.size() && shape.weight_bytes() > 0; ++i) {
    list.weights.push_back(static_cast<double>(random() % 1000));
  }
  const std::string path = ::testing::TempDir() + fmt::format("graph.{}.slim", ::getpid());
  const Status written = WriteSlimFile(list, path);
  EXPECT_TRUE(written) << written.error().message;
  return path;
}

void MakeGraph(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
               const txn::BaseSource& source, const txn::GraphOptions& options, GraphOnNode& made) {
  txn::EngineOptions engine_options;
  engine_options.coroutines = setting.coroutines;
  engine_options.replicas = setting.replicas;
  const auto code = txn::StageCode::Parse(setting.stages, protocol.name(), protocol.stages());
  ASSERT_TRUE(code) << code.error().message;
  engine_options.stages = *code;
  auto engine = txn::Engine::Make(cluster, protocol, engine_options);
  ASSERT_TRUE(engine) << engine.error().message;
  made.engine = *std::move(engine);
  auto graph = txn::TransactionalGraph::Make(*made.engine, source, options);
  ASSERT_TRUE(graph) << graph.error().message;
  made.graph = *std::move(graph);
}

GraphOracle::GraphOracle(const txn::BaseSource& source, const txn::GraphShape& shape)
    : directed_(shape.directed) {
  if (source.file() == nullptr) return;
  const auto csr = ReadCsr(*source.file());
  const auto ids = source.file()->ReadOriginalIds();
  EXPECT_TRUE(csr && ids);
  for (VertexId v = 0; v < csr->vertices(); ++v) {
    vertices_[(*ids)[v]] = Properties(shape.vertex_bytes);
    auto& mine = edges_[(*ids)[v]];
    for (std::size_t i = 0; i < csr->degree(v); ++i) {
      Properties& properties = mine[(*ids)[csr->list(v)[i]]] = Properties(shape.edge_bytes);
      if (csr->weights.empty()) continue;
      const auto weight = static_cast<std::int32_t>(csr->list_weights(v)[i]);
      std::memcpy(properties.data(), &weight, sizeof weight);
    }
  }
}

bool GraphOracle::AddVertex(Name v, const Properties& properties) {
  vertices_[v] = properties;
  edges_[v];
  return true;
}

bool GraphOracle::SetVertex(Name v, const Properties& properties) {
  return has(v) && AddVertex(v, properties);
}

bool GraphOracle::DeleteVertex(Name v) {
  if (vertices_.erase(v) == 0) return false;
  for (auto& [u, edges] : edges_) edges.erase(v);
  edges_.erase(v);
  return true;
}

bool GraphOracle::AddEdge(Name u, Name v, const Properties& properties) {
  if (!has(u) || !has(v)) return false;
  edges_[u][v] = properties;
  if (!directed_) edges_[v][u] = properties;
  return true;
}

bool GraphOracle::SetEdge(Name u, Name v, const Properties& properties) {
  return has(u) && has(v) && edges_[u].contains(v) && AddEdge(u, v, properties);
}

bool GraphOracle::DeleteEdge(Name u, Name v) {
  if (!has(u) || !has(v) || edges_[u].erase(v) == 0) return false;
  if (!directed_) edges_[v].erase(u);
  return true;
}

std::map<GraphOracle::Name, GraphOracle::Properties> GraphOracle::edges_into(Name v) const {
  std::map<Name, Properties> into;
  for (const auto& [u, edges] : edges_) {
    if (const auto edge = edges.find(v); edge != edges.end()) into[u] = edge->second;
  }
  return into;
}

std::uint64_t GraphOracle::num_edges() const {
  std::uint64_t arcs = 0;
  std::uint64_t loops = 0;
  for (const auto& [v, mine] : edges_) {
    arcs += mine.size();
    loops += mine.contains(v) ? 1 : 0;
  }
  return directed_ ? arcs : (arcs + loops) / 2;
}

void ExpectSnapshotLike(Cluster& cluster, txn::TransactionalGraph& graph,
                        const GraphOracle& oracle) {
  const auto done = cluster.job().RunAmongSurvivors(2, [&](Job& part) -> Status {
    ClusterOptions options = cluster.OptionsForAnother();
    options.threads = 1;
    options.serving_threads = 0;
    SLIM_ASSIGN(const auto beside, Cluster::Start(part, options));
    {
      txn::SnapshotMemory room(*beside);
      SLIM_ASSIGN(const auto snapshot, txn::Snapshot::Take(room, graph));
      if (cluster.self() == 0) {
        SLIM_ASSIGN(const OriginalIds ids, snapshot->ReadOriginalIds());
        SLIM_ASSIGN(const Csr lists, ReadCsr(*snapshot));
        auto vertex = oracle.vertices().begin();
        EXPECT_EQ(ids.count(), oracle.vertices().size());
        for (VertexId v = 0; v < std::min<std::size_t>(ids.count(), oracle.vertices().size());
             ++v) {
          EXPECT_EQ(ids[v], vertex->first);
          std::vector<txn::VertexName> found;
          for (const VertexId neighbour : lists.list(v)) found.push_back(ids[neighbour]);
          std::vector<txn::VertexName> expected;
          for (const auto& [name, properties] : oracle.edges(vertex->first)) {
            expected.push_back(name);
          }
          EXPECT_EQ(found, expected) << vertex->first;
          ++vertex;
        }
      }
    }
    return beside->Stop();
  });
  EXPECT_TRUE(done) << done.error().message;
}

}  // namespace slimgraph::test
