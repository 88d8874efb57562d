// The edge cache of one home's lists. It caches groups of consecutive lists, at the offsets that
// they have in the home's array, so that a cached list is always one span. Only pages with cached
// groups take memory. There is no eviction: a scan larger than the cache would evict each group
// just before it is needed again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/result.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph {

// The remaining budget of a node's edge caches, in bytes. All threads may use it.
class CacheBudget {
 public:
  explicit CacheBudget(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}

  std::uint64_t left() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, left_.load()));
  }
  bool TryReserve(std::uint64_t bytes) {
    const auto wanted = static_cast<std::int64_t>(bytes);
    if (left_.load(std::memory_order_relaxed) < wanted) return false;
    if (left_.fetch_sub(wanted) >= wanted) return true;
    left_.fetch_add(wanted);
    return false;
  }

 private:
  std::atomic<std::int64_t> left_;
};

class EdgeCache {
 public:
  // `whole`: the budget suffices for all lists, so a group is read when any list of it is needed.
  static Result<EdgeCache> Make(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                CacheBudget& budget, bool whole);

  bool whole() const { return whole_; }
  bool Has(VertexId group) const {
    return states_[group].load(std::memory_order_acquire) == kCached;
  }
  // If it returns true, the caller must read the group's lists into ids() and weights(), and then
  // call Publish.
  bool Claim(VertexId group, EdgeOffset arcs);
  // Publishes the group: from now on Has(group) is true.
  void Publish(VertexId group) { states_[group].store(kCached, std::memory_order_release); }

  VertexId* ids() const { return ids_.as<VertexId>().data(); }
  std::byte* weights() const { return weights_.data(); }
  Neighbours List(EdgeOffset begin, EdgeOffset length) const {
    return {{ids() + begin, length},
            weight_bytes_ == 0 ? nullptr : weights() + begin * weight_bytes_};
  }
  // Prefetches the beginning of the list at arc `begin`.
  void Prefetch(EdgeOffset begin) const {
    __builtin_prefetch(ids() + begin);
    if (weight_bytes_ > 0) __builtin_prefetch(weights() + begin * weight_bytes_);
  }

 private:
  enum State : std::uint8_t { kAbsent, kLoading, kCached };
  EdgeCache(CacheBudget& budget, VertexId groups, std::size_t weight_bytes, bool whole)
      : budget_(&budget), states_(groups), weight_bytes_(weight_bytes), whole_(whole) {}

  CacheBudget* budget_;
  std::vector<std::atomic<std::uint8_t>> states_;  // by group
  PageBuffer ids_;
  PageBuffer weights_;
  std::size_t weight_bytes_;
  bool whole_;
};

}  // namespace slimgraph
