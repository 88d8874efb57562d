// An endpoint's unreliable-datagram (UD) queue pair: one for all peers, whatever their number.
// Datagrams may get lost; without a free receive buffer they are. A queue pair in the error state
// also loses them, until Receive() restarts it.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/fabric/internal/datagrams/datagram_port.h"
#include "slimgraph/fabric/internal/verbs/device.h"
#include "slimgraph/fabric/internal/verbs/ring.h"

namespace slimgraph {

// Where an endpoint receives datagrams. Sent between nodes as raw bytes.
struct VerbsMailAddress {
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t queue_pair = 0;
  std::uint32_t key = 0;  // datagrams without this key are dropped
  std::uint16_t lid = 0;
  std::uint16_t datagram_bytes = 0;  // the maximum
};
static_assert(sizeof(VerbsMailAddress) == 28);

using VerbsRoute = std::unique_ptr<ibv_ah, VerbsDeleter<ibv_destroy_ah>>;

class VerbsDatagrams {
 public:
  static constexpr std::uint32_t kMaxBytes = 4096;

  // An arrival signals `events` if Arm() was called before.
  static Result<std::unique_ptr<VerbsDatagrams>> Make(const VerbsDevice& device,
                                                      ibv_comp_channel* events);

  const VerbsMailAddress& address() const { return address_; }
  // The route to a peer; null if the device knows none.
  VerbsRoute RouteTo(const VerbsMailAddress& peer) const;

  // Sends `bytes`. They lie in registered memory with this `key`, or are copied if `key` is 0 (at
  // most kCopiedBytes). Returns the datagram's number, from 1; 0 when there is no room now. Bytes
  // that are not copied must not change until sent() has reached that number.
  static constexpr std::uint32_t kCopiedBytes = DatagramPort::kCopiedBytes;
  std::uint64_t Send(ibv_ah* route, const VerbsMailAddress& to, Bytes bytes, std::uint32_t key);
  std::uint64_t posted() const { return posted_; }
  std::uint64_t sent();  // includes those that were lost on this side

  // Passes each datagram that has arrived, and the number of the queue pair that sent it, to
  // `take`.
  using Take = std::function<void(Bytes datagram, std::uint32_t queue_pair)>;
  void Receive(const Take& take);

  // Makes the next arrival an event. Returns true if something has arrived already.
  bool Arm();

 private:
  VerbsDatagrams() = default;
  Status MakePair();
  int Start();
  bool Restart();
  int PostBuffer(std::uint64_t index);  // an errno if the device refuses it
  void Reap();
  int Fetch();

  const VerbsDevice* device_ = nullptr;
  VerbsMailAddress address_;
  std::unique_ptr<VerbsRing> memory_;  // the receive buffers, then room for copied datagrams
  std::byte* buffers_ = nullptr;
  std::byte* copies_ = nullptr;
  std::uint32_t depth_ = 0;
  std::uint32_t num_buffers_ = 0;
  VerbsCompletions sends_;
  VerbsCompletions arrivals_;
  std::unique_ptr<ibv_qp, VerbsDeleter<ibv_destroy_qp>> queue_pair_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<ibv_wc> arrived_;  // polled, but not passed on yet
  bool broken_ = false;
};

}  // namespace slimgraph
