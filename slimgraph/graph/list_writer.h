// Writes a graph as a .slim file, list after list, for those who have the lists sorted already.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/graph/graph_source.h"

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

  // Before the first list: edges have weights.
  void CarryWeights(WeightType type) { weight_type_ = type; }
  // The list of the next vertex: dense ids, ascending, each once; and its edges' weights, if any.
  Status Append(std::span<const VertexId> list, Bytes weights = {});
  // The graph is directed: what was appended are the outgoing lists, what follows the incoming.
  Status BeginIncoming();
  // After the last one. `ids` are as many as there were lists of a direction. Returns the number of
  // edges.
  Result<std::uint64_t> Finish(const OriginalIds& ids);

 private:
  explicit ListWriter(std::unique_ptr<internal::SlimWriter> writer);

  void Begin(Direction direction);
  Status End();

  std::unique_ptr<internal::SlimWriter> writer_;
  Direction direction_ = Direction::kOut;
  WeightType weight_type_ = WeightType::kNone;
  std::vector<std::byte> weights_;  // their section follows that of the lists
  std::vector<EdgeOffset> offsets_;
  EdgeOffset outgoing_ = 0;  // where the graph is directed
  std::uint64_t loops_ = 0;
};

}  // namespace slimgraph
