// The edge cache of one home's lists. It caches groups of consecutive lists, in one of two forms.
// Decoded, lists lie at the offsets that they have in the home's array, so that a cached list is
// always one span. Coded, groups lie one after the other, as they came; their lists take less
// memory (42 % on kron 20), but are decoded again for each visit. As many groups are decoded as the
// budget allows if all others are cached coded. Only pages with cached groups take memory. There is
// no eviction: a scan larger than the cache would evict each group just before it is needed again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/result.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph {

// When the edge cache takes a group of lists.
enum class Admission {
  // When any of its lists is needed; if there is no room for all lists: when half of it is needed
  // at a time.
  kAtOnce,
  // When three quarters of it are needed at a time, or when reading some of its lists has cost as
  // much as reading the whole group. So nothing is read often, and lists that are needed once bring
  // few others with them.
  kWhenPaid,
  kNever,
};

// The remaining budget of a node's edge caches, in bytes, and the memory of their coded groups. All
// threads may use it.
class CacheBudget {
 public:
  // Nothing is cached coded.
  explicit CacheBudget(std::uint64_t bytes) : for_coded_(0), spare_(bytes) {}
  // `coded_bytes`: what the cached form of all lists takes if they are coded.
  static Result<std::unique_ptr<CacheBudget>> Make(std::uint64_t bytes, std::uint64_t coded_bytes);

  bool codes() const { return coded_.bytes() > 0; }
  std::uint64_t left() const { return for_coded_.left() + spare_.left(); }
  // For a group that takes so many bytes decoded, and would take `coded` ones; 0 if nothing is
  // cached coded.
  bool TryReserveDecoded(std::uint64_t decoded, std::uint64_t coded) {
    if (!for_coded_.TryTake(coded)) return false;
    if (spare_.TryTake(decoded - std::min(decoded, coded))) return true;
    for_coded_.GiveBack(coded);
    return false;
  }
  // Memory for a coded group; null if the budget does not suffice.
  std::byte* TryTakeCoded(std::uint64_t coded) {
    if (!for_coded_.TryTake(coded)) return nullptr;
    return coded_.data() + coded_end_.fetch_add(coded, std::memory_order_relaxed);
  }

 private:
  class Bytes {
   public:
    explicit Bytes(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}
    std::uint64_t left() const {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, left_.load()));
    }
    bool TryTake(std::uint64_t bytes) {
      const auto wanted = static_cast<std::int64_t>(bytes);
      if (left_.load(std::memory_order_relaxed) < wanted) return false;
      if (left_.fetch_sub(wanted) >= wanted) return true;
      left_.fetch_add(wanted);
      return false;
    }
    void GiveBack(std::uint64_t bytes) { left_.fetch_add(static_cast<std::int64_t>(bytes)); }

   private:
    std::atomic<std::int64_t> left_;
  };
  CacheBudget(std::uint64_t for_coded, std::uint64_t spare, PageBuffer coded)
      : for_coded_(for_coded), spare_(spare), coded_(std::move(coded)) {}

  Bytes for_coded_;  // of all lists that are not cached yet, in their coded form
  Bytes spare_;      // what decoding may take besides
  PageBuffer coded_;
  std::atomic<std::uint64_t> coded_end_{0};
};

class EdgeCache {
 public:
  enum class Form : std::uint8_t { kAbsent, kLoading, kDecoded, kCoded };
  // What a group takes besides its lists, whether it is cached or not.
  static constexpr std::uint64_t kGroupBytes =
      sizeof(Form) + sizeof(std::byte*) + sizeof(std::uint64_t);

  // `whole`: the budget suffices for all lists decoded, so a group is read when any list of it is
  // needed. `may_code`: groups may be kept coded, if the budget has room for it. That is of no use
  // for lists that lie coded on this host.
  static Result<EdgeCache> Make(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                CacheBudget& budget, bool whole, bool may_code = true);
  // What the coded form of all lists takes in the cache.
  static std::uint64_t CodedBytes(VertexId groups, EdgeOffset arcs, std::size_t weight_bytes,
                                  std::uint64_t coded_bytes);

  bool whole() const { return whole_; }
  Form form(VertexId group) const {
    return static_cast<Form>(states_[group].load(std::memory_order_acquire));
  }
  bool HasDecoded(VertexId group) const { return form(group) == Form::kDecoded; }
  // How many bytes it can still take, in whatever form.
  std::uint64_t room() const { return budget_->left(); }
  Admission admission() const { return admission_; }
  // Between uses.
  void SetAdmission(Admission admission) {
    admission_ = admission;
    if (admission == Admission::kWhenPaid && paid_.empty()) paid_ = Counters(states_.size());
  }
  // With kWhenPaid: adds the cost of reading lists of a group. Returns the sum so far.
  std::uint64_t Pay(VertexId group, std::uint64_t cost) {
    return cost + paid_[group].fetch_add(cost, std::memory_order_relaxed);
  }
  // Claims a group whose coded lists take `coded_bytes`. If the result is kDecoded or kCoded, the
  // caller must put the group's lists and weights where they belong in that form, and then call
  // Publish. Otherwise another thread has claimed the group, or the budget does not suffice.
  Form Claim(VertexId group, EdgeOffset arcs, std::uint64_t coded_bytes);
  // From now on form(group) is `claimed`.
  void Publish(VertexId group, Form claimed) {
    states_[group].store(static_cast<std::uint8_t>(claimed), std::memory_order_release);
  }

  // --- decoded
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

  // --- coded: of a group that is claimed or cached in this form, and has `arcs` arcs
  std::byte* CodedWeights(VertexId group) const { return places_[group]; }
  std::byte* CodedLists(VertexId group, EdgeOffset arcs) const {
    return CodedWeights(group) + arcs * weight_bytes_;
  }

 private:
  using Counters = std::vector<std::atomic<std::uint64_t>>;
  EdgeCache(CacheBudget& budget, VertexId groups, std::size_t weight_bytes, bool whole, bool codes)
      : budget_(&budget),
        states_(groups),
        places_(codes ? groups : 0),
        weight_bytes_(weight_bytes),
        whole_(whole),
        codes_(codes) {}

  CacheBudget* budget_;
  std::vector<std::atomic<std::uint8_t>> states_;  // by group
  PageBuffer ids_;
  PageBuffer weights_;
  std::vector<std::byte*> places_;  // by group: where it is if it is coded; else null
  Counters paid_;                   // by group: the cost of what was read; empty before kWhenPaid
  Admission admission_ = Admission::kAtOnce;
  std::size_t weight_bytes_;
  bool whole_;
  bool codes_;
};

}  // namespace slimgraph
