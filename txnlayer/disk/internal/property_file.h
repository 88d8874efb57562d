// The properties of a .slim file's vertices and edges, and the times of edges, in a file beside it.
// All bytes are protected by checksums, which Open verifies.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/mapped_file.h"
#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

// An empty column stands for zeros.
struct PropertyColumns {
  Bytes vertices;  // vertex_bytes for each, by dense id
  Bytes edges;     // extra_bytes for each arc, in the order of the lists, outgoing before incoming
  std::span<const GraphTime> times;  // by arc
};

class PropertyFile {
 public:
  // On return, the file survives a power failure.
  static Status Write(const std::string& path, const PropertyColumns& columns);
  // An error if the file does not match these numbers of vertices and arcs.
  static Result<PropertyFile> Open(const std::string& path, const GraphShape& shape,
                                   std::uint64_t vertices, std::uint64_t arcs);

  const PropertyColumns& columns() const { return columns_; }
  // Identifies the contents.
  std::uint64_t identity() const { return identity_; }

 private:
  MappedFile file_;
  PropertyColumns columns_;
  std::uint64_t identity_ = 0;
};

}  // namespace slimgraph::txn
