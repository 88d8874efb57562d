// Collectives of values instead of bytes. All members call these with the same T.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/cluster/collectives.h"

namespace slimgraph {

// Appends the values stored in `bytes` to `values`.
template <typename T>
void AppendValues(Bytes bytes, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  SLIM_CHECK(bytes.size() % sizeof(T) == 0, "{} bytes of values of {}", bytes.size(), sizeof(T));
  const std::size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

// All members' values, by rank. Members may contribute different numbers of values.
template <typename T>
Result<std::vector<std::vector<T>>> GatherByRank(Collectives& members, std::span<const T> mine) {
  SLIM_ASSIGN(const auto all, members.AllGather(std::as_bytes(mine)));
  std::vector<std::vector<T>> values(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) AppendValues<T>(all[rank], values[rank]);
  return values;
}

// All members' values in one list, in rank order.
template <typename T>
Result<std::vector<T>> GatherList(Collectives& members, std::span<const T> mine) {
  SLIM_ASSIGN(const auto all, members.AllGather(std::as_bytes(mine)));
  std::vector<T> list;
  for (const std::vector<std::byte>& theirs : all) AppendValues<T>(theirs, list);
  return list;
}

// Sends to_node[node] to each member. Returns what all members have sent to this one in one list,
// in rank order. Nodes that are no members get nothing.
template <typename T>
Result<std::vector<T>> SendToEach(Collectives& members, std::vector<std::vector<T>> to_node) {
  std::vector<std::vector<std::byte>> to_each;
  for (const NodeId node : members.members()) {
    const Bytes bytes = std::as_bytes(std::span<const T>(to_node[node]));
    to_each.emplace_back(bytes.begin(), bytes.end());
    to_node[node] = {};
  }
  SLIM_ASSIGN(const auto from_each, members.AllToAll(std::move(to_each)));
  std::vector<T> list;
  for (const std::vector<std::byte>& theirs : from_each) AppendValues<T>(theirs, list);
  return list;
}

}  // namespace slimgraph
