// The little of PMI-1 that a job needs to form: the rank, the size, and one value that node 0
// leaves for the others. mpiexec.hydra and Slurm's pmi2 plugin both speak it. (PMI-1 is lines of
// key=value over the descriptor in $PMI_FD.) Using it directly, a job of four nodes starts in 20
// ms; MPI_Init takes 130, and is left to the mpi transport.
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

  // Whether the environment has one.
  static bool Present();
  static Result<Pmi> Open();

  NodeId rank() const { return rank_; }
  NodeId size() const { return size_; }

  // Collective: node 0's value, on all nodes. At most 1000 bytes, no blanks. Fails where not all
  // nodes have come to it within the limit: one that dies before is missed by nobody else.
  Result<std::string> ShareFromZero(std::string_view value,
                                    std::chrono::milliseconds limit = kLimit);

  // Without it the launcher takes our exit for a crash. Waits for the launcher's answer, not for
  // other nodes. Further calls do nothing.
  void Finalize();

  // Has the launcher end all processes of the job.
  void Abort(int exit_code);

 private:
  Result<std::string> Ask(std::string_view command, std::string_view expected,
                          std::chrono::milliseconds limit = kLimit);

  int fd_ = -1;
  NodeId rank_ = 0;
  NodeId size_ = 1;
};

}  // namespace slimgraph
