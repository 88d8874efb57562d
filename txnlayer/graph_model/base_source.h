// Where the base of a transactional graph is read from.
#pragma once

#include <span>

#include "slimgraph/files/slim_file.h"
#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

// Checks that a graph can be a base: it has no duplicate edges and no ids that are too large. A
// directed graph must have the lists of both directions.
Status CheckBaseFile(const SlimFile& file);

class BaseSource {
 public:
  virtual ~BaseSource() = default;
  // A file that passes CheckBaseFile; null: the base has no vertices.
  virtual const SlimFile* file() const = 0;
  // Read the properties of vertices and edges, without weights, which the file has. If has_…() is
  // false, all of them are zeros. Any thread may call these. The arcs of a directed graph's
  // incoming lists are numbered after all outgoing ones.
  virtual bool has_vertex_properties() const { return false; }
  virtual bool has_edge_properties() const { return false; }
  virtual bool has_edge_times() const { return false; }
  virtual Status ReadVertexProperties(VertexId first, MutableBytes into) const;
  virtual Status ReadEdgeProperties(EdgeOffset first, MutableBytes into) const;
  virtual Status ReadEdgeTimes(EdgeOffset first, std::span<GraphTime> into) const;
};

}  // namespace slimgraph::txn
