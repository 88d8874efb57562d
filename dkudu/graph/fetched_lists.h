// The lists of a set of vertices, brought to this node together: a vertex that is asked for twice
// crosses once, and lists that are neighbours in their home's region cross in one read. Belongs to
// one thread.
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

class FetchedLists {
 public:
  using Ticket = std::uint32_t;

  // `cache` may be null.
  FetchedLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse);

  // A batch that is always finished before this one: what it brings into the cache is not brought
  // again.
  void Follow(const FetchedLists* earlier) { earlier_ = earlier; }

  // What was got before is invalid.
  void Clear();

  // Asks for v's list, which Get(ticket) gives after the next Start() and Finish().
  Ticket Add(VertexId v);
  void Start();
  Status Finish();
  List Get(Ticket ticket) const { return entries_[ticket].list; }

  // The memory for lists that are brought.
  std::uint64_t bytes() const { return bytes_; }

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
  std::uint64_t bytes_ = 0;
  std::unique_ptr<VertexId[]> memory_;
  std::uint64_t capacity_ = 0;
  ListFetch::Ticket fetching_ = 0;
};

}  // namespace slimgraph
