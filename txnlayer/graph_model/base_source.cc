#include "txnlayer/graph_model/base_source.h"

#include "txnlayer/graph_model/sides.h"

namespace slimgraph::txn {

Status CheckBaseFile(const SlimFile& file) {
  if (file.may_have_duplicates()) {
    return InputError("{}: a store takes only graphs without duplicate edges", file.path());
  }
  if (!file.has(Direction::kIn)) {
    return InputError("{}: a store needs incoming lists too: convert it without --no-reverse",
                      file.path());
  }
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  if (!ids.ascending()) {
    return InputError(
        "{}: a store takes graphs whose vertices are in the order of their ids: `slimgraph convert "
        "{} OUT.slim --order ids{}` makes one",
        file.path(), file.path(), file.weight_type() == WeightType::kNone ? "" : " --weighted");
  }
  const VertexName most = MaxVertexName(file.directed());
  if (ids.count() == 0 || ids.largest() <= most) return {};
  return InputError("{}: vertex {} is beyond {}, the largest id that {} store can have",
                    file.path(), ids.largest(), most, file.directed() ? "a directed" : "a");
}

Status BaseSource::ReadVertexProperties(VertexId, MutableBytes) const { return {}; }
Status BaseSource::ReadEdgeProperties(EdgeOffset, MutableBytes) const { return {}; }
Status BaseSource::ReadEdgeTimes(EdgeOffset, std::span<GraphTime>) const { return {}; }

}  // namespace slimgraph::txn
