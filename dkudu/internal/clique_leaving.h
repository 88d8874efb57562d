// How the compute nodes of a job stop a count of cliques, and what is left of it then: for each of
// them, how far it was.
#pragma once

#include <cstdint>
#include <vector>

#include "dkudu/mining_job.h"

namespace slimgraph::dkudu {

// How far a compute node was. Its roots of rank `end` and above are done, those below `first` are
// not begun. The others were joined with their neighbours of low rank: the roots below `middle`
// with those below `to`, the rest with those below `from`.
struct CliquesLeft {
  VertexId first = 0;
  VertexId end = 0;
  VertexId middle = 0;
  VertexId from = 0;
  VertexId to = 0;
  std::vector<VertexId> done = {};  // further roots that are done, in ascending order
};

// What is left of the count after all stops so far: how far each compute node was at each stop.
class CliqueRest {
 public:
  using Words = std::vector<std::uint64_t>;

  CliqueRest() = default;
  explicit CliqueRest(const Words& words);
  Words ToWords() const;
  // The words of one compute node, by which the others learn how far it was.
  static Words ToWords(const CliquesLeft& left);

  bool empty() const { return phases_.empty(); }
  // Adds a stop; `nodes` has the words of each compute node.
  void Add(const std::vector<Words>& nodes);

  // How many of the neighbours in `list`, which are above `root`, were joined with it: all of them
  // if the root is done.
  std::size_t Joined(const MiningGraph& graph, VertexId root, List list) const;

 private:
  std::vector<std::vector<CliquesLeft>> phases_;  // by stop, and by compute node
};

// How node 0 tells all compute nodes to stop.
class CliqueLeaving {
 public:
  // Collective.
  static Result<CliqueLeaving> Make(MiningJob& job);

  // What was left at the last stop.
  const CliqueRest& rest() const { return rest_; }
  // Whether this node asks now and then if all shall stop. If they shall, Ask() says so in the
  // memory of each.
  bool asks() const { return continuation_ != nullptr && self_ == 0; }
  Status Ask(Endpoint& endpoint, double percent) const;
  // Whether this node shall stop as soon as it loses no work by that, or even at once, because
  // other nodes continue the count.
  bool stops() const { return word() != 0; }
  bool stops_at_once() const { return word() == kAtOnce; }

  // Collective over all nodes: what is left now. `left` is how far this node was.
  Result<Continuation::Words> Rest(Cluster& cluster, const CliquesLeft& left);

 private:
  static constexpr std::uint64_t kSoon = 1;
  static constexpr std::uint64_t kAtOnce = 2;
  std::uint64_t word() const;

  Continuation* continuation_ = nullptr;  // null: the count cannot be stopped
  CliqueRest rest_;
  NodeId self_ = 0;
  NodeId compute_ = 0;
  JobRegions::Lease begun_;
};

}  // namespace slimgraph::dkudu
