// The operations of one endpoint on one other node. They travel, are executed in order, and their
// ends travel back, all in simulated time, by events that depend on no thread of either node. Where
// the contract of endpoint.h promises nothing, chance decides: when the caller's memory is read, in
// which order the bytes of an operation are accessed, and what happens in between.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/sim/target.h"

namespace slimgraph {

class SimOperationLink : public std::enable_shared_from_this<SimOperationLink> {
 public:
  // `self` is the node of the job to which `inbox` belongs.
  SimOperationLink(NodeId self, const SimTarget& own, SimInbox& inbox,
                   std::shared_ptr<SimTarget> target)
      : self_(self), own_node_(own.node), inbox_(inbox), target_(std::move(target)) {}

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);
  // Ends all operations that have not ended with kPeerLost.
  void Lose();
  // Nothing accesses the operations or the inbox any more.
  void Abandon() { abandoned_ = true; }

 private:
  struct Part {
    std::uint64_t id;
    std::span<const Operation> operations;
    bool continues;
    std::uint64_t arrives_ns;
    Outcome outcome = Outcome::kOk;
    std::uint32_t failed_index = 0;
  };
  struct Stretch {
    std::uint64_t from;
    std::uint64_t to;
  };

  void StepAt(std::uint64_t time_ns);
  void Step();
  bool Begin(Part& part);
  void Access(const Operation& operation, const Stretch& stretch);
  void EndOperation();
  void EndPart(Outcome outcome, std::uint32_t failed_index);
  void Report();
  void Cut(const Operation& operation);

  const NodeId self_;
  const NodeId own_node_;  // in the simulation
  SimInbox& inbox_;
  const std::shared_ptr<SimTarget> target_;
  std::deque<Part> parts_;          // that were posted and not reported
  std::size_t executed_ = 0;        // how many of `parts_` are only to be reported
  std::uint32_t next_ = 0;          // the operation of parts_[executed_] that is executed
  SimRegion* region_ = nullptr;     // that of an operation that has begun
  std::vector<Stretch> stretches_;  // the rest of that operation
  std::uint64_t last_arrival_ns_ = 0;
  std::uint64_t last_report_ns_ = 0;
  bool failed_ = false;  // the last part did
  bool lost_ = false;
  bool abandoned_ = false;
};

}  // namespace slimgraph
