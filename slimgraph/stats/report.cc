#include "slimgraph/stats/report.h"

#include <algorithm>

namespace slimgraph {

Report::Report(std::string_view command) {
  Set("/schema", std::int64_t{kSchema});
  Set("/command", std::string(command));
  Set("/version", std::string(SLIMGRAPH_VERSION));
}

void Report::Set(std::string_view path, Value value) {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const auto& entry) { return entry.first == path; });
  if (found == values_.end()) {
    values_.emplace_back(path, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

}  // namespace slimgraph
