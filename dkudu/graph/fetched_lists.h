// The lists of a set of vertices, brought to this node together: a vertex that is asked for twice
// crosses once, and lists that are neighbours in their home's region cross in one read. The set is
// as large as its memory allows. Belongs to one thread.
#pragma once

#include <memory>
#include <vector>

#include "dkudu/graph/list_cache.h"
#include "dkudu/graph/list_fetch.h"
#include "dkudu/graph/mining_graph.h"

namespace slimgraph {

// What is kept from crossing again: nothing, what a chunk of embeddings shares, or that and what
// the node's cache holds.
enum class Reuse { kNone, kChunk, kGlobal };

// How many lists a set may have.
struct ListRoom {
  std::uint64_t lists = 1;
  std::uint64_t neighbours = 0;  // of all of them

  // At least for one list, as long as any of the graph; then for as many as go into `bytes`.
  static ListRoom Within(std::uint64_t bytes, const MiningGraph& graph);
  std::uint64_t Bytes(const MiningGraph& graph) const;
};

class FetchedLists {
 public:
  using Ticket = std::uint32_t;

  // `cache` may be null.
  FetchedLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
               const ListRoom& room);

  // A batch that is always finished before this one: what it brings into the cache is not brought
  // again.
  void Follow(const FetchedLists* earlier) { earlier_ = earlier; }

  // What was got before is invalid.
  void Clear();

  // Whether v may be added; always after Clear().
  bool HasRoomFor(VertexId v) const {
    if (entries_.size() == room_.lists) return false;
    return graph_.is_own(v) || neighbours_ + graph_.degree(v) <= room_.neighbours;
  }

  // Whether all of them may be.
  bool HasRoomFor(List vertices) const;

  // Asks for v's list, which Get(ticket) gives after the next Start() and Finish().
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
    NodeId home;
    std::uint64_t begin;
    Ticket ticket;
  };
  std::size_t BucketOf(VertexId v) const;
  void Grow();
  bool IsBringing(VertexId v) const;
  void TakeFromCache();
  void AskForRun(std::size_t first, std::size_t last, VertexId* into);

  const MiningGraph& graph_;
  ListFetch& fetch_;
  ListCache* cache_;
  Reuse reuse_;
  std::vector<Entry> entries_;
  std::vector<Ticket> buckets_;  // hashed by vertex; kFree or a ticket
  std::vector<Missing> missing_;
  const FetchedLists* earlier_ = nullptr;
  std::vector<Ticket> awaited_;  // that the earlier one brings
  ListRoom room_;
  std::uint64_t neighbours_ = 0;  // of all lists that are brought
  std::unique_ptr<VertexId[]> memory_;
  std::uint64_t capacity_ = 0;
  ListFetch::Ticket fetching_ = 0;
};

}  // namespace slimgraph
