// What requesters and servers of lists tell each other.
//
// A request: a header, then the vertices asked for as a coded list. An answer is a stream of bytes
// cut into messages, each behind a header: where lengths are wanted, a length for each list that is
// answered; then those lists, coded; then their weights, if wanted.
#pragma once

#include <cstdint>

#include "slimgraph/fabric/message.h"

namespace slimgraph::internal {

constexpr HandlerId kListRequest = 0x115A;
constexpr HandlerId kListAnswer = 0x115B;

// So many coded take less than a message, whatever the part.
constexpr std::size_t kMaxListsAsked = 8192;

struct ListRequest {
  std::uint32_t batch;
  RegionId lists;  // by which the server knows the part
  std::uint32_t count;
  std::uint16_t lengths_wanted;
  std::uint16_t weight_bytes;  // 0: not wanted
};

struct ListAnswer {
  std::uint32_t batch;
  std::uint32_t answered;   // lists, the first of those asked for: at least one
  std::uint64_t all_bytes;  // of the whole answer, without headers
};

}  // namespace slimgraph::internal
