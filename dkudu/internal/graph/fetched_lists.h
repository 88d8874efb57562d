// The lists of a set of vertices, fetched to this node together. A list that is asked for twice
// crosses the fabric once, and lists that are adjacent in their home's region cross in one read.
// They arrive coded, and are decoded when all have arrived. A memory budget limits the set. Used by
// one thread.
#pragma once

#include <memory>
#include <vector>

#include "dkudu/internal/graph/list_cache.h"
#include "dkudu/internal/graph/list_fetch.h"
#include "dkudu/mining_graph.h"

namespace slimgraph::dkudu {

// Which lists are not fetched again: none, those in the same chunk of embeddings, or also those in
// the node's cache.
enum class Reuse { kNone, kChunk, kGlobal };

// The capacity of a set of lists.
struct ListRoom {
  std::uint64_t lists = 1;
  std::uint64_t neighbours = 0;  // of all lists together

  // As much as fits into `bytes`, but at least one list as long as the graph's longest.
  static ListRoom Within(std::uint64_t bytes, const MiningGraph& graph);
  std::uint64_t Bytes(const MiningGraph& graph) const;
  // The bytes that a set uses at most if it has no more than `most.lists` different vertices with
  // no more than `most.neighbours` neighbours.
  std::uint64_t BytesTaken(const MiningGraph& graph, const ListRoom& most) const;
  // The memory for coded bytes. If lists are short and the graph is large, it may hold the coded
  // bytes of fewer than `neighbours` neighbours.
  std::uint64_t CodedBytes(const MiningGraph& graph) const;
};

class FetchedLists {
 public:
  using Ticket = std::uint32_t;

  // `cache` may be null.
  FetchedLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
               const ListRoom& room);

  // `earlier` is a batch that is always finished before this one. Lists that it brings into the
  // cache are not fetched again.
  void SetEarlier(const FetchedLists* earlier) { earlier_ = earlier; }

  // Invalidates all lists that Get() returned.
  void Clear();

  // Whether there is room to add v; always true after Clear().
  bool HasRoomFor(VertexId v) const {
    if (entries_.size() == room_.lists) return false;
    if (graph_.is_own(v)) return true;
    const EdgeOffset degree = graph_.degree(v);
    return neighbours_ + degree <= room_.neighbours &&
           coded_bytes_ + graph_.code().Bytes(degree) <= room_coded_bytes_;
  }

  // Whether there is room to add all of them.
  bool HasRoomFor(List vertices) const;

  // Adds v to the set. Get(ticket) returns its list after the next Start() and Finish().
  Ticket Add(VertexId v);
  void Start();
  Status Finish();
  List Get(Ticket ticket) const { return entries_[ticket].list; }

 private:
  struct Entry {
    VertexId vertex;
    List list;
  };
  struct Missing {
    std::uint64_t begin;  // of its coded bytes at home; if requested, then in coded_
    NodeId home;
    Ticket ticket;
  };
  std::size_t BucketOf(VertexId v) const;
  void Grow();
  bool IsFetching(VertexId v) const;
  void TakeFromCache();
  std::uint64_t CodedBytes(const Missing& one) const {
    return graph_.code().Bytes(entries_[one.ticket].list.size());
  }
  void MakeRoom();
  void CollectAdjacent(std::size_t first, std::size_t last, std::uint64_t end, std::uint64_t into);
  void Decode();

  const MiningGraph& graph_;
  ListFetch& fetch_;
  ListCache* cache_;
  Reuse reuse_;
  std::vector<Entry> entries_;
  std::vector<Ticket> buckets_;  // hash table by vertex: kFree or a ticket
  std::vector<Missing> missing_;
  const FetchedLists* earlier_ = nullptr;
  std::vector<Ticket> awaited_;  // lists that earlier_ fetches
  ListRoom room_;
  std::uint64_t room_coded_bytes_;
  std::uint64_t neighbours_ = 0;  // of all lists that are fetched
  std::uint64_t coded_bytes_ = 0;
  std::unique_ptr<VertexId[]> memory_;
  std::uint64_t capacity_ = 0;
  std::unique_ptr<std::byte[]> coded_;
  std::uint64_t coded_capacity_ = 0;
  ListFetch::Ticket fetching_ = 0;
};

}  // namespace slimgraph::dkudu
