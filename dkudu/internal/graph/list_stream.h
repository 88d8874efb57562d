// The lists of other nodes, streamed in windows of ranks. All lists of a window lie together in
// each home's region, so a window takes one large read per home. While one window is processed, the
// next is being fetched. One thread calls LoadNextWindow(). Then all threads decode the current
// window together, and read it until the next call of LoadNextWindow().
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "dkudu/internal/graph/coded_lists.h"

namespace slimgraph::dkudu {

class ListStream {
 public:
  // Streams `range` in windows. A window takes at most about 2 * `read_bytes`: its decoded lists,
  // its coded lists and those of the next window. Lists in the range `resident`, of homes that
  // `resident_homes` marks, are not read. No window lies partly inside `resident`. The range is cut
  // into windows even if nothing is read, for the sake of the processor's caches.
  ListStream(const MiningGraph& graph, ListFetch& fetch, RankRange range, RankRange resident,
             std::vector<bool> resident_homes, std::uint64_t read_bytes);

  // Whether all lists of the graph fit into one window.
  static bool IsOneWindow(const MiningGraph& graph, std::uint64_t read_bytes);

  // Call it before the first window. Restricts reads to the lists of these ranks, as far as that
  // saves bytes.
  void RestrictTo(std::vector<bool> ranks) { wanted_ = std::move(ranks); }

  // Makes the next window the current one; false after the last.
  Result<bool> LoadNextWindow();
  // For a stream that is not read to its end: waits for the window that is being fetched.
  Status Stop();
  // Whether all threads must still decode the current window together. LoadNextWindow() decodes a
  // small window itself, because a barrier of the threads would take longer.
  bool must_decode() const { return slots_[current_].coded.pieces() > kDecodedByLoad; }
  // Called by every thread before any thread reads the window.
  void Decode();
  RankRange window() const { return slots_[current_].range; }
  // The share of all arcs that comes after the current window.
  double share_left() const;
  // The decoded lists of a home that is neither this node nor resident in the current window.
  const HomeLists& lists(NodeId home) const { return lists_[home]; }
  bool is_resident(NodeId home) const {
    return resident_homes_[home] && resident_.contains(window().first);
  }

 private:
  static constexpr std::size_t kDecodedByLoad = 8;  // pieces that LoadNextWindow() decodes

  struct Slot {
    explicit Slot(const MiningGraph& graph) : coded(graph) {}
    RankRange range;
    CodedLists coded;
  };
  struct Size {
    EdgeOffset all_arcs = 0;
    std::uint64_t bytes = 0;  // of lists that are read, plus twice their coded bytes
  };
  Size Measure(RankRange range) const;
  RankRange Cut(VertexId first) const;
  std::vector<NodeId> HomesToRead(RankRange range) const;
  void StartFetch(Slot& slot);
  void PlaceLists();
  bool reads(NodeId home, RankRange range) const {
    return home != graph_.self() && !(resident_homes_[home] && resident_.contains(range.first));
  }

  const MiningGraph& graph_;
  ListFetch& fetch_;
  RankRange range_;
  RankRange resident_;
  std::vector<bool> resident_homes_;
  std::vector<bool> wanted_;  // by rank; empty: all lists are read
  std::uint64_t window_bytes_;
  std::uint64_t all_arcs_;  // the most arcs of a window
  std::array<Slot, 2> slots_;
  std::size_t current_ = 1;
  bool started_ = false;
  // The decoded lists of the current window.
  std::vector<HomeLists> lists_;  // by home
  std::unique_ptr<VertexId[]> memory_;
  std::uint64_t capacity_ = 0;
  std::atomic<std::size_t> next_piece_{0};
};

}  // namespace slimgraph::dkudu
