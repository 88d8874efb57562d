// What the compute nodes of a job hand over when their number changes in the middle of the job: a
// memory with the state of the program, which those that follow read. All compute nodes are on one
// machine. There is one object per process; node 0's lasts as long as the job, the others' until
// their node leaves.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

class Handover {
 public:
  // How many compute nodes the job shall have from the program's step `step` on. Asked on node 0.
  using ComputeAt = std::function<NodeId(std::uint64_t step)>;

  Handover() = default;  // on other nodes than 0
  explicit Handover(ComputeAt compute_at) : compute_at_(std::move(compute_at)) {}

  // The name of the memory, as numbers that nodes can reduce; zeros: there is none.
  using Name = std::array<std::uint64_t, 8>;

  // On node 0: if the number shall change from `compute` at this step, makes a memory of so many
  // bytes.
  Result<Name> Decide(NodeId compute, std::uint64_t bytes);
  // The memory that waits for the nodes that follow. Zeros on other nodes than 0.
  Name Waiting() const;
  // Maps the memory of that name. On node 0 it is there already.
  Status Open(const Name& name);
  std::byte* memory() const { return memory_->base(); }
  void Close() { memory_.reset(); }

  // The number of compute nodes that follow; 0: the program has not been left. Known on node 0.
  NodeId next_compute() const { return next_compute_; }
  // Called on node 0 when these run.
  void SetFollowed() { next_compute_ = 0; }
  std::uint64_t bytes() const { return memory_ ? memory_->bytes() : 0; }

  // Called where the program can be left, and at its end.
  void NoteStep();
  void NoteEnd();
  // How long each step has taken, with the change of compute nodes before it.
  const std::vector<double>& step_seconds() const { return step_seconds_; }

  // Counted by the program: how often it could have been left so far.
  std::uint64_t step = 0;

 private:
  ComputeAt compute_at_;
  std::unique_ptr<SharedMemory> memory_;
  NodeId next_compute_ = 0;
  std::uint64_t noted_step_ = 0;
  std::uint64_t noted_ns_ = 0;  // when that step began
  std::vector<double> step_seconds_;
};

}  // namespace slimgraph
