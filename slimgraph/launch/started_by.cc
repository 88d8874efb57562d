#include "slimgraph/launch/started_by.h"

#include <cstdlib>

#include "slimgraph/launch/internal/pmi.h"

namespace slimgraph {
namespace {

int NumberIn(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

Starter StartedBy() { return Pmi::Present() ? Starter::kPmi : Starter::kNobody; }

NodeId StartedNodes() { return Pmi::Present() ? static_cast<NodeId>(NumberIn("PMI_SIZE")) : 1; }

NodeId StartedRank() {
  for (const char* const variable : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (std::getenv(variable) != nullptr) return static_cast<NodeId>(NumberIn(variable));
  }
  return 0;
}

void ForgetLauncher() {
  for (const char* const variable :
       {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}) {
    ::unsetenv(variable);
  }
}

Status CheckLaunch() {
  if (Pmi::Present()) return {};
  struct Foreign {
    const char* size_variable;
    const char* name;
    const char* instead;
  };
  constexpr Foreign kForeign[] = {
      {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", "mpiexec.hydra -n"},
      {"SLURM_STEP_NUM_TASKS", "srun without PMI", "srun --mpi=pmi2 -n"},
      {"MPI_LOCALNRANKS", "an mpiexec without PMI-1", "mpiexec.hydra -n"},
  };
  for (const Foreign& foreign : kForeign) {
    const int copies = NumberIn(foreign.size_variable);
    // Slurm sets the variables of a batch script's own step, whose size is 1.
    if (copies <= 1) continue;
    return EnvironmentError(
        "{} has started {} copies that know nothing of each other; use '{} {}', or start one "
        "copy, with --nodes {}",
        foreign.name, copies, foreign.instead, copies, copies);
  }
  return {};
}

}  // namespace slimgraph
