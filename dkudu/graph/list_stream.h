// The lists of other nodes in windows of places: all lists of a window lie together in their homes'
// regions, so that a window takes one large read from each. While one is worked on, the next is on
// its way. Filled by one thread; others may read the current window between two calls of Next().
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "dkudu/graph/list_fetch.h"
#include "dkudu/graph/mining_graph.h"

namespace slimgraph {

// Places [first, end).
struct PlaceRange {
  VertexId first = 0;
  VertexId end = 0;
  bool contains(VertexId v) const { return first <= v && v < end; }
};

// Where the lists of one home stand in this node's memory.
struct HomeLists {
  const VertexId* memory = nullptr;
  std::uint64_t begin = 0;  // the displacement of what memory starts with
};

// The lists of `home` in the range, in displacements.
std::pair<std::uint64_t, std::uint64_t> ListsOf(const MiningGraph& graph, NodeId home,
                                                PlaceRange range);

class ListStream {
 public:
  // Windows over `range`, of each of which about `read_bytes` are read at most. The lists in `held`
  // of the homes that `holds` are not: no window lies half in it. Without any to read there are
  // windows all the same, for the sake of the processor's caches.
  ListStream(const MiningGraph& graph, ListFetch& fetch, PlaceRange range, PlaceRange held,
             std::vector<bool> holds, std::uint64_t read_bytes);

  // Before the first window: only the lists of these places are read, as far as that saves bytes.
  void Want(std::vector<bool> places) { wanted_ = std::move(places); }

  // Makes the next window the current one; false after the last.
  Result<bool> Next();
  PlaceRange window() const { return slots_[current_].range; }
  // Of all lists, how many are behind the current window.
  double share_left() const;
  // Of a home that is not this node, and not held in the current window.
  const HomeLists& lists(NodeId home) const { return slots_[current_].homes[home]; }
  bool holds(NodeId home) const { return holds_[home] && held_.contains(window().first); }

 private:
  struct Slot {
    PlaceRange range;
    std::vector<HomeLists> homes;
    std::unique_ptr<VertexId[]> memory;
    std::uint64_t capacity = 0;
    ListFetch::Ticket fetching = 0;
  };
  struct Entries {
    std::uint64_t all = 0;
    std::uint64_t read = 0;
  };
  Entries Count(PlaceRange range) const;
  PlaceRange Cut(VertexId first) const;
  void Ask(Slot& slot);
  void AskForWanted(NodeId home, PlaceRange range, const HomeLists& lists, VertexId* into);
  bool reads(NodeId home, PlaceRange range) const {
    return home != graph_.self() && !(holds_[home] && held_.contains(range.first));
  }

  const MiningGraph& graph_;
  ListFetch& fetch_;
  PlaceRange range_;
  PlaceRange held_;
  std::vector<bool> holds_;
  std::vector<bool> wanted_;    // by place; empty: all
  std::uint64_t read_entries_;  // of a window, at most
  std::uint64_t all_entries_;
  std::array<Slot, 2> slots_;
  std::size_t current_ = 1;
  bool started_ = false;
};

}  // namespace slimgraph
