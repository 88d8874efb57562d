#include "apps/doctor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <numa.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "apps/doctor_checks.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {
namespace {

using Verdict = DoctorFinding::Verdict;

std::string TextOf(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string PathOf(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = fmt::format("{}/{}", directory, program);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

// What `program` prints when it is asked by `option`; no shell is involved.
std::string OutputOf(const std::string& program, const char* option) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDWR), STDIN_FILENO);
    ::dup2(pipe[1], STDOUT_FILENO);
    ::dup2(pipe[1], STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), option, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(pipe[1]);
  const UniqueFd output(pipe[0]);
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t n = 0; (n = ::read(output.get(), chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
  return text;
}

FoundProgram Find(std::string_view name, const char* option) {
  FoundProgram program{PathOf(name), ""};
  if (!program.path.empty()) program.says = OutputOf(program.path, option);
  return program;
}

// Does what the shm transport does: opens memory of another process of ours through /proc. Returns
// why it could not.
std::string TryPeerMemory() {
  const UniqueFd memory(::memfd_create("slimgraph-doctor", MFD_CLOEXEC));
  if (!memory) return fmt::format("memfd_create: {}", std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) return fmt::format("fork: {}", std::strerror(errno));
  if (child == 0) {
    ::alarm(10);  // ends it, should we die first
    while (true) ::pause();
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", child, memory.get());
  const UniqueFd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  std::string failure = opened ? "" : fmt::format("{}: {}", path, std::strerror(errno));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return failure;
}

struct Hierarchy {
  const char* mount;
  const char* controller;  // empty: version 2
};

GroupMemory GroupMemoryIn(std::string_view proc_cgroup, const Hierarchy& hierarchy,
                          const char* limit_name, const char* used_name) {
  GroupMemory tightest;
  const auto path = GroupPath(proc_cgroup, hierarchy.controller);
  if (!path) return tightest;
  for (const std::string& group : GroupAndThoseAbove(*path)) {
    const std::string directory = hierarchy.mount + group + "/";
    const auto limit_bytes = ParseGroupLimit(TextOf(directory + limit_name));
    if (!limit_bytes || (tightest.limit_bytes && *tightest.limit_bytes <= *limit_bytes)) continue;
    tightest = {limit_bytes, ParseGroupLimit(TextOf(directory + used_name)).value_or(0)};
  }
  return tightest;
}

std::optional<double> GroupProcessorsIn(std::string_view proc_cgroup, const Hierarchy& hierarchy) {
  std::optional<double> tightest;
  const auto path = GroupPath(proc_cgroup, hierarchy.controller);
  if (!path) return tightest;
  for (const std::string& group : GroupAndThoseAbove(*path)) {
    const std::string directory = hierarchy.mount + group + "/";
    const std::string text = *hierarchy.controller == '\0'
                                 ? TextOf(directory + "cpu.max")
                                 : TextOf(directory + "cpu.cfs_quota_us") + " " +
                                       TextOf(directory + "cpu.cfs_period_us");
    const auto allowed = ParseGroupProcessors(text);
    if (allowed) tightest = std::min(tightest.value_or(*allowed), *allowed);
  }
  return tightest;
}

void ExamineGroups(std::uint32_t processors, std::vector<DoctorFinding>& findings) {
  const std::string proc_cgroup = TextOf("/proc/self/cgroup");
  constexpr Hierarchy kUnified{"/sys/fs/cgroup", ""};
  GroupMemory memory = GroupMemoryIn(proc_cgroup, kUnified, "memory.max", "memory.current");
  if (!memory.limit_bytes) {
    memory = GroupMemoryIn(proc_cgroup, {"/sys/fs/cgroup/memory", "memory"},
                           "memory.limit_in_bytes", "memory.usage_in_bytes");
  }
  auto allowed = GroupProcessorsIn(proc_cgroup, kUnified);
  if (!allowed) allowed = GroupProcessorsIn(proc_cgroup, {"/sys/fs/cgroup/cpu", "cpu"});
  findings.push_back(JudgeGroupMemory(memory));
  findings.push_back(JudgeGroupProcessors(allowed, processors));
}

// The first line of a file of /sys.
std::string LineOf(const std::string& path) {
  const std::string text = TextOf(path);
  return text.substr(0, text.find('\n'));
}

std::vector<RdmaPort> FindRdmaPorts() {
  const std::string devices = "/sys/class/infiniband";
  std::vector<RdmaPort> ports;
  for (const std::string& device : NamesIn(devices)) {
    const std::string of_device = fmt::format("{}/{}/ports", devices, device);
    for (const std::string& number : NamesIn(of_device)) {
      const std::string port = fmt::format("{}/{}", of_device, number);
      const auto gids = NamesIn(port + "/gids");
      // An unused place of the table reads as zeros, or as nothing at all.
      const bool has_gid = std::any_of(gids.begin(), gids.end(), [&](const std::string& index) {
        return LineOf(fmt::format("{}/gids/{}", port, index)).find_first_not_of("0:") !=
               std::string::npos;
      });
      ports.push_back({device, number, LineOf(port + "/state"), has_gid});
    }
  }
  return ports;
}

std::optional<std::uint64_t> FreeBytesIn(const char* directory) {
  struct statvfs space {};
  if (::statvfs(directory, &space) != 0) return std::nullopt;
  return std::uint64_t{space.f_bavail} * space.f_frsize;
}

}  // namespace

std::vector<DoctorFinding> Examine() {
  std::vector<DoctorFinding> findings;
  findings.push_back(JudgeLauncher(Find("mpiexec.hydra", "--version")));
  findings.push_back(JudgeDefaultMpi("mpiexec", Find("mpiexec", "--version")));
  findings.push_back(JudgeDefaultMpi("mpicxx", Find("mpicxx", "-show")));
  findings.push_back(JudgePeerMemory(TryPeerMemory()));

  const auto processors = std::thread::hardware_concurrency();
  const bool numa = ::numa_available() >= 0;
  findings.push_back(JudgeNuma(numa, numa ? ::numa_num_configured_nodes() : 1, processors));
  findings.push_back(JudgeMemory(TextOf("/proc/meminfo")));
  findings.push_back(JudgeSharedMemoryFiles(FreeBytesIn("/dev/shm")));
  ExamineGroups(processors, findings);

  const std::string huge_pages = "/sys/kernel/mm/transparent_hugepage/";
  findings.push_back(JudgeHugePages(TextOf(huge_pages + "enabled")));
  findings.push_back(JudgeSharedHugePages(TextOf(huge_pages + "shmem_enabled")));

  const std::vector<RdmaPort> rdma_ports = FindRdmaPorts();
  findings.push_back(JudgeRdma(rdma_ports, NamesIn("/dev/infiniband")));
  findings.push_back(JudgeLockedMemory(TextOf("/proc/self/limits"), !rdma_ports.empty()));
  return findings;
}

std::string Describe(const std::vector<DoctorFinding>& findings) {
  constexpr std::array kMarks = {"ok", "note", "BAD"};
  std::string text;
  std::array<int, 3> counts{};
  for (const DoctorFinding& finding : findings) {
    const auto verdict = static_cast<std::size_t>(finding.verdict);
    ++counts[verdict];
    text += fmt::format("{:4}  {:18}  {}\n", kMarks[verdict], finding.subject, finding.what);
    if (!finding.mend.empty()) text += fmt::format("{:26}-> {}\n", "", finding.mend);
  }
  text += fmt::format("{} ok, {} to note, {} bad\n", counts[0], counts[1], counts[2]);
  return text;
}

int DoctorExitCode(const std::vector<DoctorFinding>& findings) {
  const bool bad = std::any_of(findings.begin(), findings.end(), [](const DoctorFinding& finding) {
    return finding.verdict == Verdict::kBad;
  });
  return bad ? 4 : 0;
}

}  // namespace slimgraph
