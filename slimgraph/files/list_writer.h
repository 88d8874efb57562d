// Writes a graph as a .slim file, list after list. For callers whose lists are already sorted.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph {

namespace internal {
class SlimWriter;
}

class ListWriter {
 public:
  // Nothing appears at `path` before Finish.
  static Result<ListWriter> Create(const std::string& path);
  ListWriter(ListWriter&&) noexcept;
  ~ListWriter();

  // Declares that edges have weights. Call it before the first Append.
  void CarryWeights(WeightType type) { weight_type_ = type; }
  // Appends the list of the next vertex: dense ids, strictly ascending, and the weights if any.
  Status Append(std::span<const VertexId> list, Bytes weights = {});
  // Makes the graph directed: the lists so far are the outgoing ones, the following the incoming.
  Status BeginIncoming();
  // Call it after the last list. `ids` has one id per list of a direction. Returns the number of
  // edges.
  Result<std::uint64_t> Finish(const OriginalIds& ids, Outlives outlives = Outlives::kProcessEnd);

 private:
  explicit ListWriter(std::unique_ptr<internal::SlimWriter> writer);

  void Begin(Direction direction);
  Status End();

  std::unique_ptr<internal::SlimWriter> writer_;
  Direction direction_ = Direction::kOut;
  WeightType weight_type_ = WeightType::kNone;
  std::vector<std::byte> weights_;  // buffered: their section follows the section of the lists
  std::vector<EdgeOffset> offsets_;
  EdgeOffset outgoing_ = 0;  // the number of outgoing arcs, if the graph is directed
  std::uint64_t loops_ = 0;
};

}  // namespace slimgraph
