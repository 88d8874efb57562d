// The last step of every conversion and of every generator: writes a RawGraph as a .slim file.
#pragma once

#include <optional>
#include <string>

#include "slimgraph/files/convert.h"
#include "slimgraph/files/internal/raw_graph.h"

namespace slimgraph::internal {

struct WriteRules {
  std::string name;  // of the input, for messages
  std::string out;
  bool directed = false;
  bool keep_self_loops = false;
  bool keep_duplicates = false;
  bool reverse_lists = true;
  std::optional<WeightType> weight_type = {};  // nullopt: the smallest that holds all weights
  VertexOrder order = VertexOrder::kIds;
  std::size_t threads = 0;
  ProgressHook progress;
  std::function<bool()> cancelled = {};  // as in ConvertOptions
  RankedSectionsOf ranked = {};          // the same
};

// Consumes the graph. The file appears under rules.out only when it is complete.
Result<ConvertReport> WriteSlim(RawGraph graph, const WriteRules& rules);

}  // namespace slimgraph::internal
