// What an endpoint's reliable links need: datagrams to other endpoints, which may get lost, be
// duplicated and overtake each other.
#pragma once

#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/internal/datagrams/send_ring.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

class DatagramPort {
 public:
  virtual ~DatagramPort() = default;

  // The largest datagram to that endpoint.
  virtual std::uint32_t MostBytes(EndpointAddress to) const = 0;

  // Memory from which datagrams are sent without a copy.
  virtual Result<std::unique_ptr<SendRing>> MakeRing(std::uint64_t bytes) = 0;

  // Sends `bytes`, which lie in `ring`, or are copied if it is null (at most kCopiedBytes). Returns
  // the datagram's number, from 1; 0 when there is no room now. Bytes that are not copied must not
  // change until sent() has reached that number.
  static constexpr std::uint32_t kCopiedBytes = 64;
  virtual std::uint64_t Send(EndpointAddress to, Bytes bytes, const SendRing* ring) = 0;
  virtual std::uint64_t sent() = 0;
};

}  // namespace slimgraph
