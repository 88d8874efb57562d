// The last step of every conversion and generator: a RawGraph becomes a .slim file.
#pragma once

#include <string>

#include "slimgraph/graph/convert.h"
#include "slimgraph/graph/internal/raw_graph.h"

namespace slimgraph::internal {

struct WriteRules {
  std::string name;  // of the input, for messages
  std::string out;
  bool directed = false;
  bool keep_self_loops = false;
  bool keep_duplicates = false;
  bool reverse_lists = true;
  std::size_t threads = 0;
  ProgressHook progress;
};

// Eats the graph. Nothing appears under rules.out unless all of it is written.
Result<ConvertReport> WriteSlim(RawGraph graph, const WriteRules& rules);

}  // namespace slimgraph::internal
