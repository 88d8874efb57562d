// The indexes of a graph's vertices by their properties (graph_model/property_index.h). Each is an
// ordered table of keys. Transactions keep it in step with the records of vertices
// (graph_transaction.h). On disk there is none: Fill() makes it from the vertices.
#pragma once

#include <memory>
#include <vector>

#include "txnlayer/graph_model/property_index.h"
#include "txnlayer/ordered/ordered_table.h"

namespace slimgraph::txn {

class TransactionalGraph;

class VertexIndexes {
 public:
  struct Index {
    PropertyIndex property;
    std::unique_ptr<OrderedTable> keys;

    Key KeyOf(VertexName vertex, Bytes properties) const {
      return IndexKey(CodeOf(property, properties), vertex);
    }
  };

  // Collective, after the tables of vertices and edges. `vertices`: how many may be expected.
  static Result<VertexIndexes> Make(Engine& engine, std::span<const PropertyIndex> properties,
                                    std::uint64_t vertices);

  // Collective, while nothing runs: makes all indexes anew. After the graph was loaded, and again
  // after records were restored from logs.
  Status Fill(TransactionalGraph& graph);
  // Collective, while nothing runs: whether all indexes have just the keys of the vertices.
  Status Check(TransactionalGraph& graph) const;

  const std::vector<Index>& all() const { return indexes_; }
  // Null: there is none of that name.
  const Index* Find(const std::string& name) const;

 private:
  Result<std::vector<std::vector<Key>>> KeysOfMyVertices(TransactionalGraph& graph) const;

  std::vector<Index> indexes_;
};

}  // namespace slimgraph::txn
