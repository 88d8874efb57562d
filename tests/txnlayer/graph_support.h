// What the tests of transactional graphs share.
#pragma once

#include <map>

#include "slimgraph/graph/csr.h"
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

// Written under a name of this process; the file of n vertices and random edges, of which vertex 0
// has many. Of `shape` counts whether edges have directions and weights; these are of 4 bytes.
std::string WriteRandomGraph(VertexId vertices, std::uint64_t edges, std::uint64_t seed,
                             const txn::GraphShape& shape = {});

// On a node: an engine of that setting, with a graph.
struct GraphOnNode {
  std::unique_ptr<txn::Engine> engine;
  std::unique_ptr<txn::TransactionalGraph> graph;
};
void MakeGraph(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
               const txn::BaseSource& source, const txn::GraphOptions& options, GraphOnNode& made);

// The same graph, one operation after the other.
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
  // By neighbour: the edges of v, in a directed graph those that go out of it.
  const std::map<Name, Properties>& edges(Name v) const { return edges_.at(v); }
  std::map<Name, Properties> edges_into(Name v) const;
  const std::map<Name, Properties>& vertices() const { return vertices_; }
  std::uint64_t num_edges() const;

 private:
  bool directed_;
  std::map<Name, Properties> vertices_;
  std::map<Name, std::map<Name, Properties>> edges_;
};

}  // namespace slimgraph::test
