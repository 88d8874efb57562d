// A graph that a session has opened. Each vertex has an original id, the one in the input. All
// results are by original ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/files/edge_arrays.h"
#include "slimgraph/files/original_ids.h"
#include "slimgraph/session/session.h"

namespace slimgraph {

namespace internal {
struct GraphHandle;
}

// How a file that is not a .slim file is read.
struct ReadOptions {
  std::optional<bool> directed = {};  // required for formats that do not say it, such as edge lists
  bool weighted = false;              // the lines of an edge list have weights
  std::string format = {};            // "": by the file's name; snap, mtx, metis, sg, wsg, webgraph
};

class Graph {
 public:
  // Collective. Opens a .slim file, or converts another file into a temporary .slim file, which
  // vanishes with the session. All nodes must see a .slim file under the same path; only node 0
  // reads another file. Lists are loaded when they are first needed.
  static Result<Graph> Open(Session& session, const std::string& path,
                            const ReadOptions& options = {});
  // Collective. The pool's graph to which the session is attached. Nothing is loaded: its lists are
  // read where they stand. Only patterns, and programs that ignore directions in a directed graph,
  // use lists that the nodes of the session load from the graph's file. It has no path().
  static Result<Graph> OfPool(Session& session);
  // Collective. Only node 0's edges count. All nodes must be on one machine.
  static Result<Graph> FromEdges(Session& session, const EdgeArrays& edges);

  VertexId vertices() const;
  std::uint64_t edges() const;  // {u, v} counts once
  bool directed() const;
  bool weighted() const;
  // The original ids; ids().InOrder(i) has the i-th smallest.
  const OriginalIds& ids() const;
  // The .slim file. A temporary file has no name any more; while this object lives, processes of
  // the same user on this machine open it under this path, with ReadOptions.format "slim". So
  // another session can open the graph, also after this session is over. Empty on the nodes that
  // have not made a temporary file.
  const std::string& path() const;

  // The bytes that nodes have read from each other or sent in the last call of an algorithm or a
  // count on this graph, on all nodes together; without loading. Nothing before the first, after
  // Run, and after vertex programs while memory nodes send lists, which are not counted.
  std::optional<std::uint64_t> traffic_bytes() const;

  // For the library's own code.
  internal::GraphHandle& handle() { return *handle_; }

 private:
  friend class GraphStore;
  explicit Graph(std::shared_ptr<internal::GraphHandle> handle) : handle_(std::move(handle)) {}
  static Result<Graph> OpenSlim(Session& session, const std::string& call,
                                const Result<std::string>& path, const std::string& shown);
  template <typename Write>
  static Result<Graph> OpenTemporary(Session& session, const std::string& call,
                                     const std::string& shown, Write write);
  std::shared_ptr<internal::GraphHandle> handle_;
};

}  // namespace slimgraph
