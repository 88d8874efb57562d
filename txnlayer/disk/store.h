// A graph on disk that can be updated. Open this header first; README.md explains crash safety.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "slimgraph/files/slim_file.h"
#include "txnlayer/disk/internal/property_file.h"
#include "txnlayer/disk/internal/update_log.h"
#include "txnlayer/graph_model/base_source.h"
#include "txnlayer/graph_model/property_index.h"

namespace slimgraph::txn {

// A base on disk: lists and properties.
class DiskBase : public BaseSource {
 public:
  // An empty graph.
  DiskBase() = default;
  // `properties`: "" if there are none.
  static Result<DiskBase> Open(const std::string& lists, const std::string& properties,
                               const GraphShape& shape);

  const SlimFile* file() const override { return file_ ? &*file_ : nullptr; }
  // Identifies the contents.
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

  // Creates a store completely or not at all. `graph`: a .slim file, which determines directions
  // and weights; "": the store is empty. `shape.edge_bytes` does not include weights here.
  static Status Create(const std::string& path, const std::string& graph, GraphShape shape,
                       std::vector<PropertyIndex> indexes = {});
  // Many readers or one writer can have the store open.
  static Result<Store> Open(const std::string& path, Use use);

  const std::string& path() const { return path_; }
  // Identifies the store for its whole life. 0: an older version made it, and no newer one has
  // written to it.
  std::uint64_t id() const {
    const auto found = batch_ids_.find(kIdOfStore);
    return found == batch_ids_.end() ? 0 : found->second;
  }
  const GraphShape& shape() const { return shape_; }
  // Transactions keep these. On disk there is only their description.
  const std::vector<PropertyIndex>& indexes() const { return indexes_; }
  // The store must be open for writing. Durable on return.
  Status SetIndexes(std::vector<PropertyIndex> indexes);
  const DiskBase& base() const { return *base_; }
  const UpdateLogReader& log() const { return *log_; }
  std::string log_path() const { return FileName("log", ""); }

  // A file of updates that is being applied. It is recorded on disk before its first batch and
  // removed after its last, so an interruption is detected.
  struct Applying {
    std::string file;              // its name as the user gave it
    std::uint64_t contents = 0;    // hash of its contents
    std::uint64_t batch_id = 0;    // hash of --batch-id; 0: none
    std::uint64_t lines = 0;       // number of lines in the file
    std::uint64_t log_before = 0;  // bytes of the log before its first batch
    std::uint64_t done = 0;        // lines that are in the log; computed, not stored
    bool complete() const { return done == lines; }
  };
  // Only if the store is open for writing. Nothing: no file was interrupted.
  const std::optional<Applying>& applying() const { return applying_; }
  // Durable on return.
  Status BeginApplying(Applying file);
  // `all`: all lines are in the log, so the batch id is used up.
  Status EndApplying(bool all);
  // The hash of the file that was applied under this batch id, if there was one.
  std::optional<std::uint64_t> AppliedAs(std::uint64_t batch_id) const;

  // The graph can be restored as of every time since kept_from(). last(): the time of the last
  // update.
  GraphTime kept_from() const { return kept_from_; }
  GraphTime last() const;

  // Merges the updates into the base, and forgets earlier states. The store must be open for
  // writing, and no file may be being applied.
  Status Fold();
  // The same if the log is longer than 256 MiB and than the base. Returns whether it was.
  Result<bool> FoldIfLong();
  // The current graph as a base: the store's own, or, if there are updates, one written beside it.
  // If this process may not write there, each call makes one in the folder for temporary files,
  // which exists as long as the returned object.
  Result<DiskBase> Image() const;

 private:
  // The key of the store's id among the batch ids of the manifest. No batch has this id.
  static constexpr std::uint64_t kIdOfStore = 0;

  Store() = default;
  void DrawId();
  Status ReadManifest();
  Status WriteManifest() const;
  Status OpenFiles();
  Status ReadJournal();
  std::string journal_path() const { return path_ + "/applying"; }
  Status RemoveOtherGenerations() const;
  Result<DiskBase> PrivateImage() const;
  std::string FileName(const char* what, const char* kind) const;

  std::string path_;
  UniqueFd lock_;
  GraphShape shape_;
  std::vector<PropertyIndex> indexes_;
  std::uint64_t generation_ = 0;
  bool has_base_ = false;
  bool has_properties_ = false;
  GraphTime kept_from_ = 0;
  std::map<std::uint64_t, std::uint64_t> batch_ids_;  // of applied files: id to contents
  std::optional<Applying> applying_;
  std::unique_ptr<DiskBase> base_;
  std::unique_ptr<UpdateLogReader> log_;
};

}  // namespace slimgraph::txn
