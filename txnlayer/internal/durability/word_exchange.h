// An all-to-all exchange of words, in rounds: each node provides words for every node, and receives
// what the others have for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "slimgraph/cluster/cluster.h"

namespace slimgraph::txn {

class WordExchange {
 public:
  // Collective. `words`: an upper bound of what this node provides in a round, for all nodes
  // together. It may differ between nodes.
  static Result<WordExchange> Make(Cluster& cluster, std::uint64_t words);

  // Collective. parts[n]: the words for node n. Returns the words from each node, or nothing if no
  // node provided any.
  using Words = std::vector<std::uint64_t>;
  Result<std::optional<std::vector<Words>>> Exchange(std::span<const Words> parts);

 private:
  WordExchange(Cluster& cluster, const SharedRegion& outbox) : cluster_(cluster), outbox_(outbox) {}

  Cluster& cluster_;
  SharedRegion outbox_;
};

}  // namespace slimgraph::txn
