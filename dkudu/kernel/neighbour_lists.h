// The lists of roots' neighbours, for kernels that look at as many at a time as their memory holds.
#pragma once

#include <vector>

#include "dkudu/kernel/root_lists.h"

namespace slimgraph {

class NeighbourLists {
 public:
  // `bytes` is at least LeastKernelBytes() without what RootLists takes.
  NeighbourLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
                 std::uint64_t bytes)
      : lists_(graph, fetch, cache, reuse, ListRoom::Within(bytes - TicketBytes(bytes), graph)) {
    tickets_.reserve(TicketBytes(bytes) / sizeof(FetchedLists::Ticket));
  }

  bool HasRoomFor(VertexId v) const {
    return tickets_.size() < tickets_.capacity() && lists_.HasRoomFor(v);
  }
  bool HasRoomFor(List vertices) const {
    return tickets_.size() + vertices.size() <= tickets_.capacity() && lists_.HasRoomFor(vertices);
  }
  void Add(VertexId v) { tickets_.push_back(lists_.Add(v)); }
  Status Bring() {
    lists_.Start();
    return lists_.Finish();
  }
  // Of the i-th that was added.
  List Get(std::size_t i) const { return lists_.Get(tickets_[i]); }
  void Clear() {
    lists_.Clear();
    tickets_.clear();
  }

 private:
  // One may be asked for again and again.
  static std::uint64_t TicketBytes(std::uint64_t bytes) { return bytes / 8; }

  FetchedLists lists_;
  std::vector<FetchedLists::Ticket> tickets_;
};

// Of a kernel that brings roots and then their neighbours.
inline std::uint64_t LeastKernelBytes(const MiningGraph& graph) {
  const std::uint64_t one_list = ListRoom::Within(0, graph).Bytes(graph);
  return RootLists::Bytes(graph) + one_list + one_list / 4;
}

}  // namespace slimgraph
