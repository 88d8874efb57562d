// The answering side of the mpi transport: carries out requests on this node's regions. Where the
// bytes travel separately it grants the transfer, and keeps calling MPI until that has ended.
#pragma once

#include <list>
#include <set>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/executor.h"
#include "slimgraph/fabric/internal/mpi/frames.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

class MpiTarget {
 public:
  MpiTarget(MpiWorld& world, MpiFrames& frames) : world_(world), frames_(frames) {}

  Executor& executor() { return executor_; }

  void OnRequest(NodeId from, const Frame& frame);
  void OnRelease(NodeId from, const Frame& frame);

  // True if something has moved.
  bool Progress();

  bool granted() const { return !grants_.empty(); }
  bool Granted(RegionId region) const;

  // `node` is lost, and its transfers with it.
  void Forget(NodeId node);

 private:
  struct Grant {
    NodeId from;
    std::vector<RegionId> regions;
    std::vector<MpiWorld::Transfer> receives;  // none: the other side gets what it wants
    wire::ReplyFrame reply;
  };
  using Operations = std::span<const wire::OperationFrame>;

  void ExecuteInline(NodeId from, const wire::RequestFrame& request, Operations operations,
                     Bytes payload);
  void GrantTransfers(NodeId from, const wire::RequestFrame& request, Operations operations);
  bool Flushed(NodeId from, const wire::RequestFrame& request) const;
  void Reply(NodeId to, const wire::ReplyFrame& reply);
  // Notes how a request ended.
  void Conclude(NodeId from, const wire::ReplyFrame& reply);

  MpiWorld& world_;
  MpiFrames& frames_;
  Executor executor_;
  std::list<Grant> grants_;
  std::set<std::pair<NodeId, std::uint16_t>> failed_;  // endpoints whose last request did
};

}  // namespace slimgraph
