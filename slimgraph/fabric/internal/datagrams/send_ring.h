// Memory from which data is sent, allocated and released in FIFO order.
#pragma once

#include <cstdint>
#include <span>

namespace slimgraph {

class SendRing {
 public:
  explicit SendRing(std::span<std::byte> memory) : memory_(memory) {}
  virtual ~SendRing() = default;
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  // Allocates `bytes` contiguous bytes, aligned to 8; returns null when there is no room now. Up to
  // half of the ring is always available once everything is released.
  std::byte* Take(std::uint64_t bytes);

  // The position after the last allocation. Release() frees everything that was allocated before
  // `position`.
  std::uint64_t position() const { return taken_; }
  void Release(std::uint64_t position) { released_ = position; }

 private:
  const std::span<std::byte> memory_;
  std::uint64_t taken_ = 0;  // both positions only grow
  std::uint64_t released_ = 0;
};

inline std::byte* SendRing::Take(std::uint64_t bytes) {
  // An empty ring restarts at its beginning, because recently used memory is in the caches.
  if (taken_ == released_) {
    taken_ = released_ = (taken_ + memory_.size() - 1) / memory_.size() * memory_.size();
  }
  const std::uint64_t needed = (bytes + 7) / 8 * 8;
  const std::uint64_t at = taken_ % memory_.size();
  const std::uint64_t skipped = at + needed <= memory_.size() ? 0 : memory_.size() - at;
  if (taken_ - released_ + skipped + needed > memory_.size()) return nullptr;
  std::byte* const place = memory_.data() + (skipped == 0 ? at : 0);
  taken_ += skipped + needed;
  return place;
}

}  // namespace slimgraph
