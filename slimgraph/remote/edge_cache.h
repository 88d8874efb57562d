// The edge cache of one delegated part: groups of 64 neighbouring lists, each at the place that it
// has in its home's array, so that a cached list is one span whatever else is cached. Memory is
// taken for what is there alone. What has come in stays: a scan that does not fit would otherwise
// throw out each group just before it is needed again.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/result.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph {

// The bytes that all parts of a node may still take; may be used by all threads.
class CacheRoom {
 public:
  explicit CacheRoom(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}

  bool Take(std::uint64_t bytes) {
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
  // `whole`: all lists of the node fit, so a group is worth reading as soon as one list of it is
  // wanted.
  static Result<EdgeCache> Make(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                CacheRoom& room, bool whole);

  bool whole() const { return whole_; }
  bool Has(VertexId group) const { return states_[group].load(std::memory_order_acquire) == kHere; }
  // True: the caller reads the group's lists into ids() and weights(), then calls Settle.
  bool Claim(VertexId group, EdgeOffset arcs);
  void Settle(VertexId group) { states_[group].store(kHere, std::memory_order_release); }

  VertexId* ids() const { return ids_.as<VertexId>().data(); }
  std::byte* weights() const { return weights_.data(); }
  Neighbours List(EdgeOffset begin, EdgeOffset length) const {
    return {{ids() + begin, length},
            weight_bytes_ == 0 ? nullptr : weights() + begin * weight_bytes_};
  }
  // A list that begins there will soon be read.
  void Ask(EdgeOffset begin) const {
    __builtin_prefetch(ids() + begin);
    if (weight_bytes_ > 0) __builtin_prefetch(weights() + begin * weight_bytes_);
  }

 private:
  enum State : std::uint8_t { kAway, kComing, kHere };
  EdgeCache(CacheRoom& room, VertexId groups, std::size_t weight_bytes, bool whole)
      : room_(&room), states_(groups), weight_bytes_(weight_bytes), whole_(whole) {}

  CacheRoom* room_;
  std::vector<std::atomic<std::uint8_t>> states_;  // by group
  PageBuffer ids_;
  PageBuffer weights_;
  std::size_t weight_bytes_;
  bool whole_;
};

}  // namespace slimgraph
