// The doctor's judgements: pure functions of texts that the system provides, so that tests can
// describe any machine. A text that could not be read is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/control_group.h"

#include "apps/doctor/doctor.h"

namespace slimgraph {

// A port as /sys/class/infiniband shows it.
struct RdmaPort {
  std::string device;
  std::string number;
  std::string state;  // "4: ACTIVE", "1: DOWN"
  bool has_gid = true;
};

// A program found in PATH.
struct FoundProgram {
  std::string path;    // "": not found
  std::string output;  // its output for --version or -show
};

DoctorFinding JudgeLauncher(const FoundProgram& mpiexec_hydra);
// `name` is mpiexec or mpicxx: the usual names, which may belong to another MPI than MPICH.
DoctorFinding JudgeDefaultMpi(std::string_view name, const FoundProgram& program);

// `limits` is /proc/self/limits.
DoctorFinding JudgeLockedMemory(std::string_view limits, bool has_rdma);

// The contents of enabled and shmem_enabled in /sys/kernel/mm/transparent_hugepage, such as
// "always [madvise] never".
DoctorFinding JudgeHugePages(std::string_view enabled);
DoctorFinding JudgeSharedHugePages(std::string_view shmem_enabled);

DoctorFinding JudgeNuma(bool available, int nodes, std::uint32_t processors);

// `device_files`: the names in /dev/infiniband.
DoctorFinding JudgeRdma(const std::vector<RdmaPort>& ports,
                        const std::vector<std::string>& device_files);

// `meminfo` is /proc/meminfo.
DoctorFinding JudgeMemory(std::string_view meminfo);

// `free_bytes` of /dev/shm, which holds MPICH's shared segments; nullopt: there is no /dev/shm.
// Memory of the shm transport does not count there.
DoctorFinding JudgeSharedMemoryFiles(std::optional<std::uint64_t> free_bytes);

// `failure`: why a process could not open another's memory; "" if it could.
DoctorFinding JudgePeerMemory(std::string_view failure);

// ---- control groups

DoctorFinding JudgeGroupMemory(const GroupMemory& memory);
DoctorFinding JudgeGroupProcessors(std::optional<double> allowed, std::uint32_t processors);

// `failure`: why nodes cannot get limits of their own; "" if they can.
DoctorFinding JudgeNodeLimits(std::string_view failure);

}  // namespace slimgraph
