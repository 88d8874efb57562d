// What the compute nodes of a job hand over when their number changes in the middle of the job, or
// keep in case that one of them dies: a memory with the state of the program, which those that
// follow read. All compute nodes are on one machine. There is one object per process; node 0's
// lasts as long as the job, the others' until their node leaves.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/types.h"
#include "slimgraph/cluster/handover_keeper.h"

namespace slimgraph {

class Handover {
 public:
  // How many compute nodes the job shall have from the program's step `step` on. Asked on node 0.
  using ComputeAt = std::function<NodeId(std::uint64_t step)>;

  Handover() = default;  // on other nodes than 0
  // `survives`: the state is kept at each step.
  explicit Handover(ComputeAt compute_at, bool survives = false)
      : compute_at_(std::move(compute_at)), survives_(survives) {}
  // Another process, which outlives this one, keeps the memories: `keeper`, which must outlive this
  // object. What a process before this one has kept there waits. An error if it cannot be mapped.
  Status UseKeeper(HandoverKeeper& keeper);

  // The name of a memory, as numbers that nodes can reduce; zeros: there is none. The last number
  // is 1 if the program is left.
  using Name = std::array<std::uint64_t, 8>;
  static bool Leaves(const Name& name) { return name.back() == 1; }

  // On node 0: whether the state is kept in case that a node dies.
  bool survives() const { return survives_; }
  // On node 0: whether the number of nodes shall change from `compute`, now at `step`.
  bool Asks(NodeId compute);
  // On node 0: the memory of so many bytes into which the state is to be written.
  Result<Name> Prepare(std::uint64_t bytes);
  // Both. Nothing is prepared if the state is neither kept nor handed over.
  Result<Name> Decide(NodeId compute, std::uint64_t bytes);
  // On node 0: all nodes have written it.
  void Complete();
  // On node 0: the memory from which the program resumes. Zeros on other nodes.
  Name Waiting() const;
  // The memory of that name, which stays mapped.
  Result<std::byte*> Open(const Name& name);
  // All nodes have read what was waiting.
  void Close();

  // The number of compute nodes that follow; 0: the program has not been left. Known on node 0.
  NodeId next_compute() const { return next_compute_; }
  // Called on node 0 when these run.
  void SetFollowed() { next_compute_ = 0; }
  // The step of the state that waits, or 0; and its size.
  std::uint64_t waiting_step() const { return waiting_ ? waiting_step_ : 0; }
  std::uint64_t bytes() const { return waiting_ ? memories_[*waiting_].memory->bytes() : 0; }

  // Called where the program can be left, and at its end.
  void NoteStep();
  void NoteEnd();
  // How long each step has taken, with the change of compute nodes before it. Nothing if a process
  // before this one has taken some.
  const std::vector<double>& step_seconds() const { return step_seconds_; }

  // Counted by the program: how often it could have been left so far.
  std::uint64_t step = 0;

 private:
  struct Named {
    Name name{};
    std::unique_ptr<SharedMemory> memory;
    void Rename();
  };

  ComputeAt compute_at_;
  bool survives_ = false;
  HandoverKeeper* keeper_ = nullptr;
  bool follows_a_dead_one_ = false;
  NodeId compute_ = 0;                  // when it was last asked for a change
  std::array<Named, 2> memories_;       // one is written while the other one waits
  std::optional<std::size_t> waiting_;  // on node 0: which one is complete
  std::uint64_t waiting_step_ = 0;
  NodeId wanted_ = 0;  // once the memory that is written is complete
  NodeId next_compute_ = 0;
  std::uint64_t noted_step_ = 0;
  std::uint64_t noted_ns_ = 0;  // when that step began
  std::vector<double> step_seconds_;
};

}  // namespace slimgraph
