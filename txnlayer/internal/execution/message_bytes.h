// Serialises values into messages between transactions, and reads them back.
#pragma once

#include <cstring>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph::txn {

template <typename T>
void Append(std::vector<std::byte>& out, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

template <typename T>
T Take(Bytes& in) {
  T value;
  SLIM_CHECK(in.size() >= sizeof value, "a broken message between transactions");
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return value;
}

}  // namespace slimgraph::txn
