// The vertices that a push step has activated, by the thread that found them, and the number of
// their edges.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/vertex_lists.h"
#include "dgemini/step.h"
#include "dgemini/workload.h"

namespace slimgraph::dgemini {

class FoundVertices {
 public:
  struct alignas(kCacheLineBytes) OfThread {
    VertexList vertices;
    VertexList again;          // found vertices that the thread pushes in the same step
    std::uint64_t edges = 0;   // of the found vertices of the share
    std::uint64_t walked = 0;  // edges that the thread has walked in this step
  };

  // An upper bound of every step's kPullAbove.
  static constexpr std::uint64_t kMaxPullAbove = 20;

  FoundVertices(const Workload& work, const Exchange& exchange, std::uint32_t threads)
      : work_(work), exchange_(exchange), found_(threads) {}

  OfThread& of(std::uint32_t thread) { return found_[thread]; }
  std::vector<OfThread>& all() { return found_; }

  void Begin() {
    for (OfThread& found : found_) found.edges = found.walked = 0;
  }
  void CountEdges(std::uint32_t thread) { found_[thread].edges = EdgesOf(found_[thread].vertices); }
  // Moves what the threads have found into `list`.
  void MoveTo(VertexLists& list) {
    for (std::uint32_t t = 0; t < found_.size(); ++t) list.part(t).swap(found_[t].vertices);
  }

  // Vertices that this thread found and should push in the same step, if they are few. If it
  // returns none, it has counted the edges of the vertices that remain.
  template <typename Step>
  std::span<const VertexId> PushAgain(std::uint32_t thread, Frontier& out);

  // The edges of the listed vertices of the share. If the vertices are so few that they cannot
  // cause a pull, an upper bound.
  std::uint64_t EdgesOf(std::span<const VertexId> listed) const {
    if (AreFew(listed.size())) return listed.size() * work_.longest();
    const bool alone = exchange_.peers() == 0;
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const VertexId later = listed[std::min(i + kPrefetchDistance, listed.size() - 1)];
      if (alone || work_.mine(later)) work_.PrefetchOffsets(later, Direction::kOut);
      if (alone || work_.mine(listed[i])) edges += work_.Degree(listed[i]);
    }
    return edges;
  }
  // Whether `listed` vertices cannot cause a pull, even if each thread of each node has found as
  // many and as many have arrived at each node.
  bool AreFew(std::size_t listed) const {
    const std::uint64_t lists = (found_.size() + std::uint64_t{1}) * exchange_.nodes();
    return listed * (work_.longest() + 1) * kMaxPullAbove * lists <= work_.vertices();
  }

 private:
  // Whether the thread that has found these vertices should push them alone.
  bool IsForOneThread(std::span<const VertexId> listed) const {
    constexpr std::size_t kFew = 1024;
    constexpr std::uint64_t kFewArcs = 32 * kFew;
    return listed.size() < kFew && (found_.size() == 1 || EdgesOf(listed) < kFewArcs);
  }

  const Workload& work_;
  const Exchange& exchange_;
  std::vector<OfThread> found_;
};

template <typename Step>
std::span<const VertexId> FoundVertices::PushAgain(std::uint32_t thread, Frontier& out) {
  OfThread& found = found_[thread];
  found.again.clear();
  if constexpr (PushesAgain<Step>) {
    const bool alone = exchange_.peers() == 0;
    const bool is_for_one = IsForOneThread(found.vertices);
    if (is_for_one && !out.has_bitmap()) {
      found.again.swap(found.vertices);
    } else if (is_for_one) {
      found.vertices.Filter([&](VertexId v, VertexId) {
        if (!alone && !work_.mine(v)) return true;
        found.again.push_back(v);
        out.Remove(v);
        return false;
      });
    }
  }
  if (found.again.empty()) CountEdges(thread);
  return found.again;
}

}  // namespace slimgraph::dgemini
