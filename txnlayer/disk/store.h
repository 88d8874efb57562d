// A graph on disk that can be updated. Open this header first; README.md says how it stays whole.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "slimgraph/graph/slim_file.h"
#include "txnlayer/disk/property_file.h"
#include "txnlayer/disk/update_log.h"
#include "txnlayer/graph/base_graph.h"

namespace slimgraph::txn {

// A base on disk: lists, and what they carry.
class DiskBase : public BaseSource {
 public:
  // An empty graph.
  DiskBase() = default;
  // `properties`: "" where there are none.
  static Result<DiskBase> Open(const std::string& lists, const std::string& properties,
                               const GraphShape& shape);

  const SlimFile* file() const override { return file_ ? &*file_ : nullptr; }
  // Tells its contents from others.
  std::uint64_t identity() const {
    return (file_ ? file_->identity() : 0) + 3 * (properties_ ? properties_->identity() : 0);
  }
  PropertyColumns columns() const {
    return properties_ ? properties_->columns() : PropertyColumns();
  }
  bool has_vertex_properties() const override { return !columns().vertices.empty(); }
  bool has_edge_properties() const override { return !columns().edges.empty(); }
  bool has_edge_times() const override { return !columns().times.empty(); }
  Status ReadVertexProperties(VertexId first, MutableBytes into) const override;
  Status ReadEdgeProperties(EdgeOffset first, MutableBytes into) const override;
  Status ReadEdgeTimes(EdgeOffset first, std::span<GraphTime> into) const override;

 private:
  GraphShape shape_;
  std::optional<SlimFile> file_;
  std::optional<PropertyFile> properties_;
};

class Store {
 public:
  enum class Use { kRead, kWrite };

  // A new one, whole or not at all. `graph`: its .slim file, which says whether it is directed, and
  // what weights it has; "": it is empty. `shape` has the bytes of edges without their weights.
  static Status Create(const std::string& path, const std::string& graph, GraphShape shape);
  // Readers exclude writers, and writers everybody.
  static Result<Store> Open(const std::string& path, Use use);

  const std::string& path() const { return path_; }
  const GraphShape& shape() const { return shape_; }
  const DiskBase& base() const { return *base_; }
  const UpdateLogReader& log() const { return *log_; }
  std::string log_path() const { return FileName("log", ""); }
  // Of how far files of updates have been applied: lines by identity.
  const std::map<std::uint64_t, std::uint64_t>& progress() const { return progress_; }

  // The graph is known at every time from here on; and the time of the last update.
  GraphTime kept_from() const { return kept_from_; }
  GraphTime last() const;

  // The updates become part of the base; the past is gone. Of a store that is open for writing.
  Status Fold();
  // The graph as it is, as a base: this one's own, or one made beside it where there are updates.
  Result<DiskBase> Image() const;

 private:
  Store() = default;
  Status ReadManifest();
  Status WriteManifest() const;
  Status OpenFiles();
  void RemoveOthers() const;
  std::string FileName(const char* what, const char* kind) const;

  std::string path_;
  UniqueFd lock_;
  GraphShape shape_;
  std::uint64_t generation_ = 0;
  bool has_base_ = false;
  bool has_properties_ = false;
  GraphTime kept_from_ = 0;
  std::map<std::uint64_t, std::uint64_t> progress_;
  std::unique_ptr<DiskBase> base_;
  std::unique_ptr<UpdateLogReader> log_;
};

}  // namespace slimgraph::txn
