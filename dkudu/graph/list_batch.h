// The lists of a set of vertices, brought to this node together: a vertex that is asked for twice
// crosses once, and lists that are neighbours in their home's region cross in one read. Belongs to
// one thread.
#pragma once

#include <memory>
#include <vector>

#include "dkudu/graph/list_cache.h"
#include "dkudu/graph/mining_graph.h"
#include "slimgraph/fabric/endpoint.h"

namespace slimgraph {

// What is kept from crossing again: nothing, what a chunk of embeddings shares, or that and what
// the node's cache holds.
enum class Reuse { kNone, kChunk, kGlobal };

class ListBatch {
 public:
  using Ticket = std::uint32_t;

  // `cache` may be null.
  ListBatch(const MiningGraph& graph, Endpoint& endpoint, ListCache* cache, Reuse reuse);

  // What was got before is invalid.
  void Clear();

  // Asks for v's list, which Get(ticket) gives after the next Fetch().
  Ticket Add(VertexId v);
  Status Fetch();
  List Get(Ticket ticket) const { return entries_[ticket].list; }

  // The memory for lists that Fetch() brings.
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
  Ticket* Bucket(VertexId v);
  void Grow();
  void AskForRun(std::size_t first, std::size_t last, VertexId* into);

  const MiningGraph& graph_;
  Endpoint& endpoint_;
  ListCache* cache_;
  Reuse reuse_;
  std::vector<Entry> entries_;
  std::vector<Ticket> buckets_;  // hashed by vertex; kFree or a ticket
  std::vector<Missing> missing_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<VertexId[]> memory_;
  std::uint64_t capacity_ = 0;
};

}  // namespace slimgraph
