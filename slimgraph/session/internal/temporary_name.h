// The name of a temporary .slim file.
#pragma once

#include <cstdlib>
#include <string>

#include "slimgraph/base/atomic_file.h"

namespace slimgraph::internal {

inline std::string TemporaryName() {
  const char* const folder = std::getenv("TMPDIR");
  return PartialNameOf(std::string(folder != nullptr ? folder : "/tmp") + "/slimgraph") + ".slim";
}

}  // namespace slimgraph::internal
