#include "slimgraph/stats/stage.h"

#include <algorithm>
#include <mutex>

#include "slimgraph/base/check.h"
#include "slimgraph/base/interleave.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {
namespace {

Mutex names_mutex;

std::vector<std::string>& Names() {
  static std::vector<std::string> names{"other"};
  return names;
}

}  // namespace

StageId StageNamed(std::string_view name) {
  const Uninterrupted registry_of_all_nodes;
  const std::lock_guard lock(names_mutex);
  auto& names = Names();
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    SLIM_CHECK(names.size() < kMaxStages, "more than {} stages, at '{}'", kMaxStages, name);
    found = names.insert(names.end(), std::string(name));
  }
  return static_cast<StageId>(found - names.begin());
}

std::vector<std::string> StageNames() {
  const std::lock_guard lock(names_mutex);
  return Names();
}

}  // namespace slimgraph
