// The part of PMI-1 that a job needs to form: the rank, the size, and one value that node 0
// publishes to the others. mpiexec.hydra and Slurm's pmi2 plugin both support it. (PMI-1 is lines
// of key=value over the descriptor in $PMI_FD.) With it, a job of four nodes starts in 20 ms.
// MPI_Init takes 130 ms, so only the mpi transport calls it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

class Pmi {
 public:
  static constexpr std::chrono::seconds kLimit{60};

  // Whether the environment describes a PMI connection.
  static bool Present();
  static Result<Pmi> Open();

  NodeId rank() const { return rank_; }
  NodeId size() const { return size_; }

  // Collective: returns node 0's value on all nodes. The value has at most 1000 bytes and no
  // blanks. Fails if not all nodes call this within `limit`. Nothing else would detect a node that
  // dies before.
  Result<std::string> ShareFromZero(std::string_view value,
                                    std::chrono::milliseconds limit = kLimit);

  // Without this the launcher treats our exit as a crash. Waits for the launcher's answer, not for
  // other nodes. Further calls do nothing.
  void Finalize();

  // Makes the launcher kill all processes of the job.
  void Abort(int exit_code);

 private:
  Result<std::string> Request(std::string_view command, std::string_view expected,
                              std::chrono::milliseconds limit = kLimit);

  int fd_ = -1;
  NodeId rank_ = 0;
  NodeId size_ = 1;
};

}  // namespace slimgraph
