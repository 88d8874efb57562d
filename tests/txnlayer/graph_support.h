// Helpers for the tests of transactional graphs.
#pragma once

#include <map>

#include "slimgraph/files/csr.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::test {

// A graph file as the base, without properties.
class FileSource : public txn::BaseSource {
 public:
  // "": an empty graph.
  explicit FileSource(const std::string& path);
  const SlimFile* file() const override { return file_ ? &*file_ : nullptr; }

 private:
  std::optional<SlimFile> file_;
};

// Writes a graph file of random edges, many of them at vertex 0. Its name has the id of this
// process. `shape` determines whether edges are directed and weighted; weights have 4 bytes.
std::string WriteRandomGraph(VertexId vertices, std::uint64_t edges, std::uint64_t seed,
                             const txn::GraphShape& shape = {});

// One node's engine with that setting, and its graph.
struct GraphOnNode {
  std::unique_ptr<txn::Engine> engine;
  std::unique_ptr<txn::TransactionalGraph> graph;
};
void MakeGraph(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
               const txn::BaseSource& source, const txn::GraphOptions& options, GraphOnNode& made);

// The same graph, changed serially.
class GraphOracle {
 public:
  GraphOracle(const txn::BaseSource& source, const txn::GraphShape& shape);

  using Name = txn::VertexName;
  using Properties = std::vector<std::byte>;
  bool AddVertex(Name v, const Properties& properties);
  bool SetVertex(Name v, const Properties& properties);
  bool DeleteVertex(Name v);
  bool AddEdge(Name u, Name v, const Properties& properties);
  bool SetEdge(Name u, Name v, const Properties& properties);
  bool DeleteEdge(Name u, Name v);

  bool has(Name v) const { return vertices_.contains(v); }
  const Properties& vertex(Name v) const { return vertices_.at(v); }
  // By neighbour: the edges of v. In a directed graph, its outgoing edges.
  const std::map<Name, Properties>& edges(Name v) const { return edges_.at(v); }
  std::map<Name, Properties> edges_into(Name v) const;
  const std::map<Name, Properties>& vertices() const { return vertices_; }
  std::uint64_t num_edges() const;

 private:
  bool directed_;
  std::map<Name, Properties> vertices_;
  std::map<Name, std::map<Name, Properties>> edges_;
};

// Compares a snapshot of an idle graph with the oracle of node 0. Called on all nodes.
void ExpectSnapshotLike(Cluster& cluster, txn::TransactionalGraph& graph,
                        const GraphOracle& oracle);

}  // namespace slimgraph::test
