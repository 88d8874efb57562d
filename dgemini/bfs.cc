#include "dgemini/programs.h"

#include <algorithm>
#include <span>
#include <utility>

#include "dgemini/internal/atomics.h"
#include "dgemini/internal/bucket_walk.h"
#include "dgemini/internal/caching_scope.h"
#include "dgemini/internal/leaving.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/reductions.h"

namespace slimgraph::dgemini {
namespace {

struct BfsStep {
  using Value = Nothing;
  using Reduction = AnyActive;
  static constexpr std::uint64_t kPullAbove = 20;
  static constexpr bool kActivatesOnce = true;

  VertexArray<std::uint32_t>& depth;
  const Frontier* in;
  std::uint32_t level;  // the depth of the vertices that this step reaches
  std::uint64_t left;   // arcs of vertices that are not reached yet

  template <typename Activate>
  void Push(VertexId, const Neighbours& out, Activate activate) {
    ForEachPrefetched(depth, out, [&](std::size_t, VertexId v, std::uint32_t& at) {
      if (ChangeFrom(at, kUnreached, level)) activate(v);
    });
  }
  const void* At(VertexId v) const { return &depth[v]; }
  Nothing Partial(VertexId) { return {}; }
  bool Slot(VertexId v, Nothing) { return ChangeFrom(depth[v], kUnreached, level); }

  bool Wants(VertexId v) const { return depth[v] == kUnreached; }
  bool Pull(VertexId v, const Neighbours& list) {
    for (const VertexId u : list.ids) {
      if (in->Has(u)) return Finish(v, {});
    }
    return false;
  }
  bool Finish(VertexId v, Nothing) {
    depth[v] = level;
    return true;
  }
  Nothing Signal(VertexId) { return {}; }
  void Mirror(VertexId, Nothing) {}
};

// Searches several levels at once.
struct LevelsStep {
  using Value = std::uint32_t;
  static constexpr bool kPushesAgain = true;

  VertexArray<std::uint32_t>& depth;
  DistanceBuckets<std::uint32_t>& buckets;
  std::uint64_t most_depth;

  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    const std::uint32_t so_far = LoadSeqCst(depth[u]);
    if (so_far >= most_depth || buckets.IsPast(so_far)) return;
    ForEachPrefetched(depth, out, [&](std::size_t, VertexId v, std::uint32_t& at) {
      std::uint32_t before;
      if (Lower(at, so_far + 1, before)) activate(v, before);
    });
  }
  const void* At(VertexId v) const { return &depth[v]; }
  std::uint32_t Partial(VertexId v) const { return depth[v]; }
  bool Slot(VertexId v, std::uint32_t other) { return Lower(depth[v], other); }
  bool Defers(std::uint32_t thread, auto... vertex) { return buckets.Defer(thread, vertex...); }
};

// Searches by levels, a step for each. After many small steps, it searches by buckets of levels
// (internal/bucket_walk.h), until a step is large.
//
// Large steps need most lists once at most, and many of them never. Small ones soon need the lists
// beside those that they read.
class BreadthFirstSearch {
 public:
  BreadthFirstSearch(Engine& engine, std::uint64_t most_depth)
      : engine_(engine), most_depth_(most_depth), step_{depth_, &in_, 1, engine.arcs()} {}

  Result<VertexArray<std::uint32_t>> Run(VertexId source) {
    SLIM_ASSIGN(const bool resumed,
                Resume(engine_, depth_, in_, step_.level, step_.left, small_, bucket_));
    if (!resumed) {
      depth_[source] = 0;
      SLIM_TRY(engine_.Activate(in_, std::span(&source, 1)));
    }
    for (bool more = true; more;) {
      SLIM_ASSIGN(more, bucket_ == kByLevels ? SearchLevels() : SearchBuckets());
    }
    return std::move(depth_);
  }

 private:
  static constexpr std::uint64_t kByLevels = DistanceBuckets<std::uint32_t>::kNone;
  static constexpr std::uint32_t kLevelsOfBucket = 64;

  Result<bool> LeaveNow() {
    return Leave(engine_, depth_, in_, step_.level, step_.left, small_, bucket_);
  }

  // SearchLevels() and SearchBuckets() return whether the search goes on in the other way.
  Result<bool> SearchLevels() {
    CachingScope caching(engine_, Admission::kWhenPaid);
    for (; !in_.empty() && step_.level <= most_depth_; ++step_.level) {
      const bool many_small = small_ >= kManySmallSteps;
      caching.Change(many_small ? Admission::kAtOnce : Admission::kWhenPaid);
      if (many_small && HasCostlySteps(engine_)) {
        bucket_ = (step_.level - 1) / kLevelsOfBucket;
        return true;
      }
      SLIM_ASSIGN(const bool left, LeaveNow());
      if (left) return false;
      SLIM_TRY(engine_.Advance(in_, step_, out_));
      std::swap(in_, out_);
      small_ = IsSmallStep(engine_, in_) ? small_ + 1 : 0;
    }
    return false;
  }

  Result<bool> SearchBuckets() {
    DistanceBuckets<std::uint32_t> buckets(depth_, kLevelsOfBucket, engine_.threads());
    FillBuckets(engine_, depth_, bucket_, buckets);
    LevelsStep step{depth_, buckets, most_depth_};
    bool left = false;
    const auto goes_on = [&]() -> Result<bool> {
      if (!IsSmallStep(engine_, in_)) return false;
      SLIM_ASSIGN(left, LeaveNow());
      return !left;
    };
    SLIM_ASSIGN(const bool all, WalkBuckets(engine_, in_, step, out_, buckets, bucket_, goes_on));
    if (all || left) return false;
    SLIM_TRY(GoBackToLevels());
    return true;
  }

  // Depths up to the first of the bucket are final, and so are those that SearchLevels() found. It
  // forgets all others.
  Status GoBackToLevels() {
    const auto first = static_cast<std::uint32_t>(bucket_ * kLevelsOfBucket);
    const std::uint32_t last = std::max(step_.level - 1, first);
    engine_.ForAll([&](VertexId v) {
      if (depth_[v] > last) depth_[v] = kUnreached;
    });
    SLIM_TRY(engine_.Choose(in_, [&](VertexId v) { return depth_[v] == last; }));
    step_.level = last + 1;
    small_ = 0;
    bucket_ = kByLevels;
    return {};
  }

  Engine& engine_;
  std::uint64_t most_depth_;
  VertexArray<std::uint32_t> depth_ = engine_.Values(kUnreached);
  Frontier in_{engine_.vertices()};
  Frontier out_{engine_.vertices()};
  BfsStep step_;
  std::uint32_t small_ = 0;  // how many small steps in turn
  std::uint64_t bucket_ = kByLevels;
};

}  // namespace

Result<VertexArray<std::uint32_t>> Bfs(Engine& engine, VertexId source, std::uint64_t most_depth) {
  return BreadthFirstSearch(engine, most_depth).Run(source);
}

}  // namespace slimgraph::dgemini
