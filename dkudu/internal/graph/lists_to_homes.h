// Brings lists to their homes while a graph is loaded. Each node makes the lists of one part of the
// file, in steps. After each step, all nodes exchange the lists that other nodes are the homes of.
// They travel coded, each behind its number at its home.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "dkudu/internal/kernel/sets.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/cluster/collectives.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph::dkudu {

class ListsToHomes {
 public:
  // Lists come from this many threads; each names itself by a `piece` below `pieces`.
  ListsToHomes(Collectives& nodes, std::size_t pieces, const ListCode& code);

  // Adds a list for another node to what is sent next.
  void Add(std::size_t piece, NodeId home, VertexId number, List list);

  // Collective: sends what was added. Calls place(number, coded) for each list that arrives, from
  // several threads; it returns the bytes of the coded list, behind which ListCode::kSlackBytes can
  // be read. `more`: whether this node has further lists. Returns whether any node has.
  using Place = std::function<std::size_t(VertexId number, const std::byte* coded)>;
  Result<bool> Exchange(bool more, std::size_t threads, const Place& place);

  // The memory that this takes if a step has `arcs` arcs, in a graph of so many vertices.
  static std::uint64_t Bytes(VertexId vertices, std::uint64_t arcs);

 private:
  Collectives& nodes_;
  const ListCode code_;
  // By piece and home. The first byte of each message tells whether its sender has more.
  std::vector<std::vector<std::vector<std::byte>>> added_;
};

}  // namespace slimgraph::dkudu
