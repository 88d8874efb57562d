// The messages between requesters and servers of lists.
//
// A request is a header, then the requested vertices as a coded list. An answer is a stream of
// bytes, cut into messages that each begin with a header. The stream has the lengths of the
// answered lists if they are wanted, then these lists, coded, then their weights if they are
// wanted.
#pragma once

#include <cstdint>

#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph::internal {

constexpr HandlerId kListRequest = 0x115A;
constexpr HandlerId kListAnswer = 0x115B;

// The coded vertices of a request of this many lists fit into one message, for any part.
constexpr std::size_t kMaxListsAsked = 8192;

struct ListRequest {
  std::uint32_t batch;
  RegionId lists;  // identifies the part
  std::uint32_t count;
  std::uint16_t lengths_wanted;
  std::uint16_t weight_bytes;  // of one weight; 0 if weights are not wanted
};

struct ListAnswer {
  std::uint32_t batch;
  std::uint32_t answered;   // the number of lists in the answer, in requested order; at least 1
  std::uint64_t all_bytes;  // the bytes of the whole answer, without headers
};

}  // namespace slimgraph::internal
