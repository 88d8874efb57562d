// A reliable connection (RC) to a queue pair of another node, or of this one.
#pragma once

#include <array>

#include "slimgraph/fabric/internal/verbs/device.h"

namespace slimgraph {

// What the other side must know about a queue pair. Sent between nodes as raw bytes.
struct VerbsAddress {
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t queue_pair = 0;
  std::uint32_t first_packet = 0;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;            // an ibv_mtu; the smaller one of both sides is used
  std::uint8_t reads_at_once = 0;  // how many reads and atomics this side serves at the same time
};
static_assert(sizeof(VerbsAddress) == 28);

class VerbsQueuePair {
 public:
  struct Shape {
    ibv_cq* completions = nullptr;
    std::uint32_t depth = 1;  // requests in flight
  };
  static Result<VerbsQueuePair> Make(const VerbsDevice& device, const Shape& shape);

  VerbsAddress address() const;
  Status Connect(const VerbsAddress& peer);

  ibv_qp* get() const { return queue_pair_.get(); }
  std::uint32_t inline_bytes() const { return inline_bytes_; }

 private:
  const VerbsDevice* device_ = nullptr;
  std::unique_ptr<ibv_qp, VerbsDeleter<ibv_destroy_qp>> queue_pair_;
  std::uint32_t first_packet_ = 0;
  std::uint32_t inline_bytes_ = 0;
};

}  // namespace slimgraph
