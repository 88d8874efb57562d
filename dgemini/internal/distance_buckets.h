// The buckets of delta-stepping (Meyer and Sanders 1998): vertices of the share in buckets of equal
// width, by distance. A vertex may be in several buckets, one for each distance that it had. Only
// the bucket of its current distance counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "dgemini/internal/atomics.h"
#include "dgemini/internal/vertex_list.h"
#include "dgemini/vertex_array.h"

namespace slimgraph::dgemini {

template <typename Distance>
class DistanceBuckets {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  DistanceBuckets(const VertexArray<Distance>& distance, Distance width, std::uint32_t threads)
      : distance_(distance), width_(width), current_end_(width), by_thread_(threads) {}

  // Returns whether v's bucket is after the current one, and if so, puts v into this thread's part
  // of that bucket. If the distance `before` was in the same bucket, v is there already.
  bool Defer(std::uint32_t thread, VertexId v, Distance before = kNever) {
    const Distance now = Load(distance_[v]);
    if constexpr (std::is_integral_v<Distance>) {
      if (now < current_end_) return false;
    }
    const std::uint64_t bucket = BucketOf(now);
    if (bucket <= current_) return false;
    if (!IsWithin(bucket, before)) Put(by_thread_[thread], bucket, v);
    return true;
  }
  // Whether the bucket of this distance is before the current one.
  bool IsPast(Distance distance) const {
    if constexpr (std::is_integral_v<Distance>) return distance < current_begin_;
    return BucketOf(distance) < current_;
  }

  static std::uint64_t BucketOf(Distance distance, Distance width) {
    const Distance bucket = distance / width;
    if constexpr (std::is_integral_v<Distance>) return bucket;
    return static_cast<std::uint64_t>(std::min<double>(static_cast<double>(bucket), 0x1p62));
  }

  // This node's first non-empty bucket after the current one.
  std::uint64_t NextBucket() const {
    std::uint64_t next = kNone;
    for (const ThreadBuckets& buckets : by_thread_) {
      next = std::min(next, buckets.far_least);
      for (std::uint64_t bucket = current_ + 1; bucket < std::min(next, current_ + kNear);
           ++bucket) {
        if (!buckets.near[bucket % kNear].empty()) next = bucket;
      }
    }
    return next;
  }

  // Makes `bucket` the current one. No bucket before it may have vertices.
  void SetCurrent(std::uint64_t bucket) {
    current_ = bucket;
    if constexpr (std::is_integral_v<Distance>) {
      current_begin_ = static_cast<Distance>(current_ * width_);
      current_end_ = static_cast<Distance>((current_ + 1) * width_);
    }
    for (ThreadBuckets& buckets : by_thread_) {
      if (buckets.far_least < current_ + kNear) MoveFarToNear(buckets);
    }
  }
  bool Wants(VertexId v) const { return !IsPast(Load(distance_[v])); }
  const void* At(VertexId v) const { return &distance_[v]; }
  // Moves a thread's vertices of the current bucket into `list`, which must be empty. Some may have
  // a smaller distance by now, which belongs to an earlier bucket.
  void TakeCurrent(std::uint32_t thread, VertexList& list) {
    constexpr std::size_t kSmall = 4096;  // lists up to this capacity are buckets for later buckets
    VertexList& near = by_thread_[thread].near[current_ % kNear];
    near.swap(list);
    if (near.capacity() > kSmall) near = {};
  }

 private:
  static constexpr Distance kNever = std::numeric_limits<Distance>::max();
  static constexpr std::uint64_t kNear = 256;
  struct alignas(64) ThreadBuckets {
    std::array<VertexList, kNear> near;  // the next kNear buckets, by number mod kNear
    VertexList far;                      // the vertices of all later buckets
    std::uint64_t far_least = kNone;     // the first bucket in `far`
  };

  std::uint64_t BucketOf(Distance distance) const { return BucketOf(distance, width_); }
  // Whether `distance`, which must not be below the bucket, is in it.
  bool IsWithin(std::uint64_t bucket, Distance distance) const {
    if constexpr (std::is_integral_v<Distance>) return distance < (bucket + 1) * width_;
    return distance != kNever && BucketOf(distance) == bucket;
  }
  void Put(ThreadBuckets& buckets, std::uint64_t bucket, VertexId v) {
    if (bucket < current_ + kNear) return buckets.near[bucket % kNear].push_back(v);
    buckets.far.push_back(v);
    buckets.far_least = std::min(buckets.far_least, bucket);
  }
  void MoveFarToNear(ThreadBuckets& buckets) {
    buckets.far_least = kNone;
    for (const VertexId v : std::exchange(buckets.far, {})) {
      const std::uint64_t bucket = BucketOf(distance_[v]);
      if (bucket >= current_) Put(buckets, bucket, v);
    }
  }

  const VertexArray<Distance>& distance_;
  Distance width_;
  // If distances are integers: where the current bucket begins and ends.
  Distance current_begin_ = 0;
  Distance current_end_;
  std::uint64_t current_ = 0;             // the current bucket
  std::vector<ThreadBuckets> by_thread_;  // by thread
};

}  // namespace slimgraph::dgemini
