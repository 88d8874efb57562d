// An endpoint's unreliable-datagram (UD) queue pair: one for all peers, however many they are.
// Datagrams may get lost, and a receiver without a free buffer loses them. So does a queue pair in
// error, until it is started again by Receive().
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/fabric/internal/verbs/device.h"
#include "slimgraph/fabric/internal/verbs/ring.h"

namespace slimgraph {

// Where an endpoint's datagrams arrive; travels as it lies in memory.
struct VerbsMailAddress {
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t queue_pair = 0;
  std::uint32_t key = 0;  // without which nothing is taken
  std::uint16_t lid = 0;
  std::uint16_t datagram_bytes = 0;  // at most
};
static_assert(sizeof(VerbsMailAddress) == 28);

using VerbsRoute = std::unique_ptr<ibv_ah, VerbsDeleter<ibv_destroy_ah>>;

class VerbsDatagrams {
 public:
  static constexpr std::uint32_t kMaxBytes = 4096;

  // What has arrived is an event of `events`, if Arm() was called before.
  static Result<std::unique_ptr<VerbsDatagrams>> Make(const VerbsDevice& device,
                                                      ibv_comp_channel* events);

  const VerbsMailAddress& address() const { return address_; }
  // How to get there; null where the device knows no way.
  VerbsRoute RouteTo(const VerbsMailAddress& peer) const;

  // Sends `bytes`, of a registered memory of `key`, or copied if `key` is 0 (at most kCopiedBytes).
  // The number of the datagram, from 1; 0 when there is no room now. What is not copied must stay
  // as it is until sent() is at that number.
  static constexpr std::uint32_t kCopiedBytes = 64;
  std::uint64_t Send(ibv_ah* route, const VerbsMailAddress& to, Bytes bytes, std::uint32_t key);
  std::uint64_t posted() const { return posted_; }
  std::uint64_t sent();  // also those that were lost here

  // Hands over each datagram that has arrived, and the queue pair that it is from.
  using Take = std::function<void(Bytes datagram, std::uint32_t queue_pair)>;
  void Receive(const Take& take);

  // The next arrival is an event. True when something has arrived already.
  bool Arm();

 private:
  VerbsDatagrams() = default;
  Status MakePair();
  int Start();
  bool Restart();
  void PostBuffer(std::uint64_t index);
  void Reap();
  int Fetch();

  const VerbsDevice* device_ = nullptr;
  VerbsMailAddress address_;
  std::unique_ptr<VerbsRing> memory_;  // the buffers, then the places of what is copied
  std::byte* buffers_ = nullptr;
  std::byte* copies_ = nullptr;
  std::uint32_t depth_ = 0;
  std::uint32_t num_buffers_ = 0;
  VerbsCompletions sends_;
  VerbsCompletions arrivals_;
  std::unique_ptr<ibv_qp, VerbsDeleter<ibv_destroy_qp>> queue_pair_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<ibv_wc> arrived_;  // found, not handed on yet
  bool broken_ = false;
};

}  // namespace slimgraph
