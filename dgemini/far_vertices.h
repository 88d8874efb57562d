// Vertices of the share whose turn has not come, in buckets of distances that are all of one width
// (Meyer and Sanders 1998). A vertex stands in the bucket of each distance that it has had; only
// the nearest counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "dgemini/atomics.h"
#include "dgemini/vertex_array.h"

namespace slimgraph {

template <typename Distance>
class FarVertices {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  FarVertices(const VertexArray<Distance>& distance, Distance width, std::uint32_t threads)
      : distance_(distance), width_(width), turn_end_(width), kept_(threads) {}

  // Keeps a vertex whose bucket comes after the one whose turn it is; each thread for itself.
  bool Keep(std::uint32_t thread, VertexId v) {
    if constexpr (std::is_integral_v<Distance>) {
      if (Load(distance_[v]) < turn_end_) return false;
    }
    const std::uint64_t bucket = BucketOf(v);
    if (bucket <= now_) return false;
    Put(kept_[thread], bucket, v);
    return true;
  }

  // The first bucket with vertices, as far as this node knows.
  std::uint64_t Next() const {
    std::uint64_t next = kNone;
    for (const Kept& kept : kept_) {
      next = std::min(next, kept.far_least);
      for (std::uint64_t bucket = now_ + 1; bucket < std::min(next, now_ + kNear); ++bucket) {
        if (!kept.near[bucket % kNear].empty()) next = bucket;
      }
    }
    return next;
  }

  // It is the turn of `bucket`, and none before it has vertices. Returns how many there are.
  std::size_t Turn(std::uint64_t bucket) {
    now_ = bucket;
    if constexpr (std::is_integral_v<Distance>) {
      turn_end_ = static_cast<Distance>((now_ + 1) * width_);
    }
    std::size_t count = 0;
    for (Kept& kept : kept_) {
      if (kept.far_least < now_ + kNear) ComeNear(kept);
      count += kept.near[now_ % kNear].size();
    }
    return count;
  }
  template <typename Activate>
  void Take(std::uint32_t thread, Activate activate) {
    for (const VertexId v : std::exchange(kept_[thread].near[now_ % kNear], {})) {
      if (BucketOf(v) == now_) activate(v);
    }
  }

 private:
  static constexpr std::uint64_t kNear = 256;
  struct alignas(64) Kept {
    std::array<std::vector<VertexId>, kNear> near;  // the next buckets, by number mod kNear
    std::vector<VertexId> far;
    std::uint64_t far_least = kNone;  // of their buckets
  };

  std::uint64_t BucketOf(VertexId v) const {
    const Distance bucket = Load(distance_[v]) / width_;
    if constexpr (std::is_integral_v<Distance>) return bucket;
    return static_cast<std::uint64_t>(std::min<double>(static_cast<double>(bucket), 0x1p62));
  }
  void Put(Kept& kept, std::uint64_t bucket, VertexId v) {
    if (bucket < now_ + kNear) return kept.near[bucket % kNear].push_back(v);
    kept.far.push_back(v);
    kept.far_least = std::min(kept.far_least, bucket);
  }
  void ComeNear(Kept& kept) {
    kept.far_least = kNone;
    for (const VertexId v : std::exchange(kept.far, {})) {
      const std::uint64_t bucket = BucketOf(v);
      if (bucket >= now_) Put(kept, bucket, v);
    }
  }

  const VertexArray<Distance>& distance_;
  Distance width_;
  Distance turn_end_;  // of integers: where the buckets begin whose turn has not come
  std::uint64_t now_ = 0;
  std::vector<Kept> kept_;  // by thread
};

}  // namespace slimgraph
