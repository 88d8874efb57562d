// Messages of lower layers name options of the command. A user of the library sets fields instead.
#pragma once

#include "slimgraph/base/result.h"

namespace slimgraph::internal {

// The error with the fields of the library's structs in place of the command's options.
Error NamingFields(Error error);

template <typename T>
Result<T> NamingFields(Result<T> result) {
  if (result) return result;
  return tl::unexpected<Error>(NamingFields(std::move(result).error()));
}

}  // namespace slimgraph::internal
