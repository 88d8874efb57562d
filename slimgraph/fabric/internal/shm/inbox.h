// The memory layout of a node's inbox in the shared-memory transport. Each of its endpoints has a
// doorbell, one bit per sending endpoint that has written messages, and one ring per sending
// endpoint (ring.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "slimgraph/base/types.h"
#include "slimgraph/fabric/internal/shm/ring.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

// Set while its endpoint is executing operations on this node's regions.
struct ShmPresence {
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> inside;
};

// Computes where each part lies within a node's inbox.
class ShmInbox {
 public:
  ShmInbox(std::byte* base, NodeId nodes, std::uint32_t endpoints)
      : base_(base), endpoints_(endpoints), senders_(nodes * endpoints) {}

  static std::uint64_t Bytes(NodeId nodes, std::uint32_t endpoints) {
    return ShmInbox(nullptr, nodes, endpoints).rings_at() +
           std::uint64_t{endpoints} * nodes * endpoints * sizeof(ShmRing);
  }

  std::uint32_t senders() const { return senders_; }
  std::atomic<bool>& revoked(RegionId region) const {
    return *reinterpret_cast<std::atomic<bool>*>(base_ + region);
  }
  ShmPresence& presence(std::uint32_t sender) const {
    return reinterpret_cast<ShmPresence*>(base_ + kMaxRegions)[sender];
  }
  ShmDoorbell& doorbell(std::uint32_t endpoint) const {
    return reinterpret_cast<ShmDoorbell*>(base_ + doorbells_at())[endpoint];
  }
  ShmReadyBits ready(std::uint32_t endpoint) const {
    std::byte* const words = base_ + ready_at() + endpoint * ready_bytes();
    return {reinterpret_cast<Atomic<std::uint64_t>*>(words), ready_words()};
  }
  ShmRing& ring(std::uint32_t endpoint, std::uint32_t sender) const {
    return reinterpret_cast<ShmRing*>(base_ + rings_at())[endpoint * senders_ + sender];
  }

 private:
  static std::uint64_t RoundUp(std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
  std::uint32_t ready_words() const { return ShmReadyBits::WordsFor(senders_); }
  std::uint64_t ready_bytes() const { return (ready_words() * 8 + 63) / 64 * 64; }
  std::uint64_t doorbells_at() const { return kMaxRegions + senders_ * sizeof(ShmPresence); }
  std::uint64_t ready_at() const { return doorbells_at() + endpoints_ * sizeof(ShmDoorbell); }
  std::uint64_t rings_at() const { return RoundUp(ready_at() + endpoints_ * ready_bytes()); }

  std::byte* base_;
  std::uint32_t endpoints_;
  std::uint32_t senders_;
};

}  // namespace slimgraph
