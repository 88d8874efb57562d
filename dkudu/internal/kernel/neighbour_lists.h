// The lists of roots' neighbours, for kernels that process as many at a time as their memory holds.
#pragma once

#include <algorithm>
#include <vector>

#include "dkudu/internal/kernel/root_lists.h"
#include "dkudu/internal/sharing/arc_values.h"

namespace slimgraph::dkudu {

class NeighbourLists {
 public:
  // `bytes` must be at least LeastKernelBytes() minus RootLists::Bytes(). At most `most` vertices
  // are added at a time.
  NeighbourLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
                 std::uint64_t bytes, std::uint64_t most = ~std::uint64_t{0})
      : lists_(graph, fetch, cache, reuse, RoomFor(graph, bytes, most)) {
    tickets_.reserve(std::min(TicketBytes(bytes) / sizeof(FetchedLists::Ticket), most));
  }

  // The part of `bytes` that is used by the lists of at most `most` vertices at a time.
  static std::uint64_t BytesTaken(const MiningGraph& graph, std::uint64_t bytes,
                                  std::uint64_t most) {
    const ListRoom room = ListRoom::Within(bytes - TicketBytes(bytes), graph);
    return room.BytesTaken(graph, {most, graph.sums().arcs}) +
           std::min(TicketBytes(bytes), most * sizeof(FetchedLists::Ticket));
  }

  bool HasRoomFor(VertexId v) const {
    return tickets_.size() < tickets_.capacity() && lists_.HasRoomFor(v);
  }
  bool HasRoomFor(List vertices) const {
    return tickets_.size() + vertices.size() <= tickets_.capacity() && lists_.HasRoomFor(vertices);
  }
  // Returns the list's number: a list that is added again may have the number that it has.
  FetchedLists::Ticket Add(VertexId v) { return tickets_.emplace_back(lists_.Add(v)); }
  Status Fetch() {
    lists_.Start();
    return lists_.Finish();
  }
  // The same for the values of these lists as well, in one wait.
  Status Fetch(ArcReader& values) {
    lists_.Start();
    SLIM_TRY(values.Fetch());
    return lists_.Finish();
  }
  // The list of the i-th vertex that was added.
  List Get(std::size_t i) const { return lists_.Get(tickets_[i]); }
  void Clear() {
    lists_.Clear();
    tickets_.clear();
  }

 private:
  static ListRoom RoomFor(const MiningGraph& graph, std::uint64_t bytes, std::uint64_t most) {
    ListRoom room = ListRoom::Within(bytes - TicketBytes(bytes), graph);
    room.lists = std::min(room.lists, most);
    return room;
  }
  // Memory for tickets. A vertex may be added many times, and each time takes a ticket.
  static std::uint64_t TicketBytes(std::uint64_t bytes) { return bytes / 8; }

  FetchedLists lists_;
  std::vector<FetchedLists::Ticket> tickets_;
};

// The least memory of a kernel that fetches roots and then their neighbours.
inline std::uint64_t LeastKernelBytes(const MiningGraph& graph) {
  const std::uint64_t one_list = ListRoom::Within(0, graph).Bytes(graph);
  return RootLists::Bytes(graph) + one_list + one_list / 4;
}

// The most memory that a kernel uses of `chunk_bytes`. It works on one task at a time.
inline std::uint64_t KernelBytes(const MiningGraph& graph, std::uint64_t chunk_bytes) {
  const std::uint64_t roots = RootLists::Bytes(graph);
  return roots + NeighbourLists::BytesTaken(graph, chunk_bytes - std::min(chunk_bytes, roots),
                                            MostTaskNeighbours(graph));
}

}  // namespace slimgraph::dkudu
