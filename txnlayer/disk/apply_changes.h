// Applies changes that were committed elsewhere to a store, in one batch. They are applied only
// once, even if they are given again.
//
// The changes are ordered among the store's updates by time: a change that a later update
// overwrites is left out. In the store, the others get the time of their batch.
#pragma once

#include <string>
#include <vector>

#include "txnlayer/disk/store.h"

namespace slimgraph::txn {

// The final state of each changed vertex and edge. In any order; nothing appears twice.
struct LastChanges {
  struct Vertex {
    VertexName name = 0;
    bool alive = false;
    GraphTime time = 0;
    Bytes properties = {};  // empty: zeros
  };
  // The edges of a deleted vertex must be here as deleted edges.
  struct Edge {
    VertexName one = 0;
    VertexName other = 0;
    bool alive = false;
    GraphTime time = 0;
    Bytes properties = {};
  };
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
};

struct ChangesToApply {
  std::string from;            // where they come from, for messages
  std::uint64_t contents = 0;  // a hash that identifies these changes when they are given again
  // The time of the store on which they were made. No change is older.
  GraphTime base_time = 0;
  bool come_last = false;  // after all updates, whatever their times
};

struct ChangesReport {
  bool before = false;         // the changes had been applied before
  std::uint64_t vertices = 0;  // applied by this call
  std::uint64_t edges = 0;     // applied by this call
  std::uint64_t left_out = 0;  // overwritten by later updates
  GraphTime time = 0;          // of the batch
  bool folded = false;
};

// The store must be open for writing. `changes` is called only if the changes were not applied
// before.
Result<ChangesReport> ApplyChanges(Store& store, const ChangesToApply& what,
                                   const std::function<Result<LastChanges>()>& changes);

}  // namespace slimgraph::txn
