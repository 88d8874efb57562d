// What a process keeps for node 0 of a job, which runs in a child process and may die: the memories
// with the state of the program (handover.h), which of them is complete, and how far its result is
// written. The child inherits all that, and so does the one that follows it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "slimgraph/base/result.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class HandoverKeeper {
 public:
  static Result<std::unique_ptr<HandoverKeeper>> Make();
  // After the child's death. Processes of its job may still write into the memory that is not
  // complete, so the next child gets another one.
  Status Renew();

  // A state of the program that is complete.
  struct State {
    std::size_t memory = 0;  // 0 or 1: where it is
    std::uint64_t bytes = 0;
    std::uint64_t step = 0;
    NodeId compute = 0;  // the number of compute nodes that go on from there
  };

  // --- in the child
  // One of the two memories, with so many bytes.
  Result<std::unique_ptr<SharedMemory>> Open(std::size_t memory, std::uint64_t bytes) const;
  void Note(const State& state);
  // From now on a part of its result may be written.
  void NoteResultBegins();
  // The whole result is written, and the job is to end with that code.
  void NoteResult(int exit_code);

  // --- in both: what was noted last
  std::optional<State> Last() const;
  bool has_begun_result() const;
  // Of NoteResult(). Nothing: the result is not complete.
  std::optional<int> exit_code() const;

 private:
  // In memory that the processes share. `last` tells which state counts, so a child that dies while
  // it notes one leaves the other.
  struct Notes {
    std::uint64_t last;  // its memory plus 1; 0: none is complete
    std::uint64_t has_begun_result;
    std::uint64_t exit_code;  // plus 1; 0: the result is not complete
    std::array<State, 2> states;
  };
  Notes& notes() const;

  std::array<UniqueFd, 2> memories_;
  std::unique_ptr<SharedMemory> notes_;
};

}  // namespace slimgraph
