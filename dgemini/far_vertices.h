// Vertices of the share whose turn has not come, in buckets of distances that are all of one width
// (Meyer and Sanders 1998). A vertex stands in the bucket of each distance that it has had, mostly
// once; only the nearest counts.
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
#include "dgemini/vertex_list.h"

namespace slimgraph {

template <typename Distance>
class FarVertices {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  FarVertices(const VertexArray<Distance>& distance, Distance width, std::uint32_t threads)
      : distance_(distance), width_(width), turn_end_(width), kept_(threads) {}

  // Keeps a vertex whose bucket comes after the one whose turn it is; each thread for itself. It
  // need not where the vertex had a distance of the same bucket before, for then somebody keeps it.
  bool Keep(std::uint32_t thread, VertexId v, Distance before = kNever) {
    const Distance now = Load(distance_[v]);
    if constexpr (std::is_integral_v<Distance>) {
      if (now < turn_end_) return false;
    }
    const std::uint64_t bucket = BucketOf(now);
    if (bucket <= now_) return false;
    if (!IsWithin(bucket, before)) Put(kept_[thread], bucket, v);
    return true;
  }
  // Whether the turn of this distance is over.
  bool Passed(Distance distance) const {
    if constexpr (std::is_integral_v<Distance>) return distance < turn_begin_;
    return BucketOf(distance) < now_;
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

  // It is the turn of `bucket`, and none before it has vertices.
  void Turn(std::uint64_t bucket) {
    now_ = bucket;
    if constexpr (std::is_integral_v<Distance>) {
      turn_begin_ = static_cast<Distance>(now_ * width_);
      turn_end_ = static_cast<Distance>((now_ + 1) * width_);
    }
    for (Kept& kept : kept_) {
      if (kept.far_least < now_ + kNear) ComeNear(kept);
    }
  }
  bool Wants(VertexId v) const { return !Passed(Load(distance_[v])); }
  const void* At(VertexId v) const { return &distance_[v]; }
  // What a thread has kept for this turn, also vertices whose turn is over, goes into an empty
  // list.
  void Take(std::uint32_t thread, VertexList& list) {
    constexpr std::size_t kSmall = 4096;  // memory that is worth being kept for a later bucket
    VertexList& near = kept_[thread].near[now_ % kNear];
    near.swap(list);
    if (near.capacity() > kSmall) near = {};
  }

 private:
  static constexpr Distance kNever = std::numeric_limits<Distance>::max();
  static constexpr std::uint64_t kNear = 256;
  struct alignas(64) Kept {
    std::array<VertexList, kNear> near;  // the next buckets, by number mod kNear
    VertexList far;
    std::uint64_t far_least = kNone;  // of their buckets
  };

  std::uint64_t BucketOf(Distance distance) const {
    const Distance bucket = distance / width_;
    if constexpr (std::is_integral_v<Distance>) return bucket;
    return static_cast<std::uint64_t>(std::min<double>(static_cast<double>(bucket), 0x1p62));
  }
  // Of a distance that is not below the bucket.
  bool IsWithin(std::uint64_t bucket, Distance distance) const {
    if constexpr (std::is_integral_v<Distance>) return distance < (bucket + 1) * width_;
    return distance != kNever && BucketOf(distance) == bucket;
  }
  void Put(Kept& kept, std::uint64_t bucket, VertexId v) {
    if (bucket < now_ + kNear) return kept.near[bucket % kNear].push_back(v);
    kept.far.push_back(v);
    kept.far_least = std::min(kept.far_least, bucket);
  }
  void ComeNear(Kept& kept) {
    kept.far_least = kNone;
    for (const VertexId v : std::exchange(kept.far, {})) {
      const std::uint64_t bucket = BucketOf(distance_[v]);
      if (bucket >= now_) Put(kept, bucket, v);
    }
  }

  const VertexArray<Distance>& distance_;
  Distance width_;
  // Of integers: where the bucket begins and ends whose turn it is.
  Distance turn_begin_ = 0;
  Distance turn_end_;
  std::uint64_t now_ = 0;
  std::vector<Kept> kept_;  // by thread
};

}  // namespace slimgraph
