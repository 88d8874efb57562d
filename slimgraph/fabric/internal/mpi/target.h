// The serving side of the mpi transport: executes requests on this node's regions. If the bytes
// travel separately, it grants the transfer, and keeps calling MPI until the transfer has ended.
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

  // Returns whether any transfer has advanced.
  bool Progress();

  bool granted() const { return !grants_.empty(); }
  bool Granted(RegionId region) const;

  // Drops the transfers of a lost node.
  void Forget(NodeId node);

 private:
  struct Grant {
    NodeId from;
    std::vector<RegionId> regions;
    std::vector<MpiWorld::Transfer> receives;  // empty for reads: the other side gets the bytes
                                               // itself
    wire::ReplyFrame reply;
  };
  using Operations = std::span<const wire::OperationFrame>;

  void ExecuteInline(NodeId from, const wire::RequestFrame& request, Operations operations,
                     Bytes payload);
  void GrantTransfers(NodeId from, const wire::RequestFrame& request, Operations operations);
  bool Flushed(NodeId from, const wire::RequestFrame& request) const;
  void Reply(NodeId to, const wire::ReplyFrame& reply);
  // Records whether the request failed, for requests that continue it.
  void RecordOutcome(NodeId from, const wire::ReplyFrame& reply);

  MpiWorld& world_;
  MpiFrames& frames_;
  Executor executor_;
  std::list<Grant> grants_;
  std::set<std::pair<NodeId, std::uint16_t>> failed_;  // endpoints whose last request failed
};

}  // namespace slimgraph
