// Returns the value of a Result that must not fail, where an assertion cannot be used.
#pragma once

#include <stdexcept>
#include <utility>

#include "slimgraph/base/result.h"

namespace slimgraph {

template <typename T>
T Unwrap(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
inline void Unwrap(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

}  // namespace slimgraph
