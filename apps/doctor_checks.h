// The doctor's judgements: pure functions over what the system says of itself, so that tests can
// feed them any machine. A text that could not be read is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/doctor.h"

namespace slimgraph {

// A program found in PATH; its path is empty where there is none.
// A port as /sys/class/infiniband shows it.
struct RdmaPort {
  std::string device;
  std::string number;
  std::string state;  // "4: ACTIVE", "1: DOWN"
  bool has_gid = true;
};

struct FoundProgram {
  std::string path;
  std::string says;  // on --version
};

DoctorFinding JudgeLauncher(const FoundProgram& mpiexec_hydra);
// `name` is mpiexec or mpicxx: what a person would type, and which may be another MPI's.
DoctorFinding JudgeDefaultMpi(std::string_view name, const FoundProgram& program);

// `limits` is /proc/self/limits.
DoctorFinding JudgeLockedMemory(std::string_view limits, bool has_rdma);

// The two files of /sys/kernel/mm/transparent_hugepage: "always [madvise] never".
DoctorFinding JudgeHugePages(std::string_view enabled);
DoctorFinding JudgeSharedHugePages(std::string_view shmem_enabled);

DoctorFinding JudgeNuma(bool available, int nodes, std::uint32_t processors);

// `device_files`: the names in /dev/infiniband.
DoctorFinding JudgeRdma(const std::vector<RdmaPort>& ports,
                        const std::vector<std::string>& device_files);

// `meminfo` is /proc/meminfo.
DoctorFinding JudgeMemory(std::string_view meminfo);

// What MPICH's shared segments can take; memory of the shm transport does not count there.
DoctorFinding JudgeSharedMemoryFiles(std::optional<std::uint64_t> free_bytes);

// How one process got on when it opened another's memory; empty where it could.
DoctorFinding JudgePeerMemory(std::string_view failure);

// ---- control groups

// Where this process is in a hierarchy, from /proc/self/cgroup: of `controller` in version 1, of
// the single one of version 2 for an empty `controller`. Nothing where it is in none.
std::optional<std::string> GroupPath(std::string_view proc_cgroup, std::string_view controller);

// "/a/b" -> "/a/b", "/a", "": a group is held to the limits of all those above it, too.
std::vector<std::string> GroupAndThoseAbove(std::string_view path);

// memory.max or memory.limit_in_bytes; nothing where it says that there is no limit.
std::optional<std::uint64_t> ParseGroupLimit(std::string_view text);
// Processors: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us with a blank between them.
std::optional<double> ParseGroupProcessors(std::string_view text);

struct GroupMemory {
  std::optional<std::uint64_t> limit_bytes;
  std::uint64_t used_bytes = 0;
};
DoctorFinding JudgeGroupMemory(const GroupMemory& memory);
DoctorFinding JudgeGroupProcessors(std::optional<double> allowed, std::uint32_t processors);

}  // namespace slimgraph
