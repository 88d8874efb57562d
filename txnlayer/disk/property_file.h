// What vertices and edges of a .slim file carry beside it: properties, and times of edges. Every
// byte is under a checksum, which is looked at when the file is opened.
#pragma once

#include <string>
#include <vector>

#include "txnlayer/disk/mapped_file.h"
#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

// Each may be empty: all zeros.
struct PropertyColumns {
  Bytes vertices;  // vertex_bytes for each, by dense id
  Bytes edges;     // extra_bytes for each arc, in the order of the lists, outgoing before incoming
  std::span<const GraphTime> times;  // by arc
};

class PropertyFile {
 public:
  static Status Write(const std::string& path, const PropertyColumns& columns);
  // Of that many vertices and arcs, or it is an error.
  static Result<PropertyFile> Open(const std::string& path, const GraphShape& shape,
                                   std::uint64_t vertices, std::uint64_t arcs);

  const PropertyColumns& columns() const { return columns_; }
  // Tells its contents from others.
  std::uint64_t identity() const { return identity_; }

 private:
  MappedFile file_;
  PropertyColumns columns_;
  std::uint64_t identity_ = 0;
};

}  // namespace slimgraph::txn
