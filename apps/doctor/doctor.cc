#include "apps/doctor/doctor.h"

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

#include "apps/doctor/doctor_checks.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/node_limits.h"

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
  for (const std::string_view directory : Split(path == nullptr ? "" : path, ':')) {
    std::string candidate = fmt::format("{}/{}", directory, program);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

// Runs `program option` without a shell. Returns its standard output and standard error.
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

FoundProgram FindProgram(std::string_view name, const char* option) {
  FoundProgram program{PathOf(name), ""};
  if (!program.path.empty()) program.output = OutputOf(program.path, option);
  return program;
}

// Opens a child process's memory through /proc, as the shm transport does. Returns why that failed;
// "" if it worked.
std::string TryPeerMemory() {
  const UniqueFd memory(::memfd_create("slimgraph-doctor", MFD_CLOEXEC));
  if (!memory) return fmt::format("memfd_create: {}", std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) return fmt::format("fork: {}", std::strerror(errno));
  if (child == 0) {
    ::alarm(10);  // ends the child if the parent dies first
    while (true) ::pause();
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", child, memory.get());
  const UniqueFd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  std::string failure = opened ? "" : fmt::format("{}: {}", path, std::strerror(errno));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return failure;
}

// The tightest limit among this process's group and the groups above it.
GroupMemory OwnGroupMemory() {
  GroupMemory tightest;
  const auto own = FindControlGroup("memory");
  if (!own) return tightest;
  for (const std::string& group : GroupAndAncestors(own->path)) {
    const GroupMemory memory = MemoryOfGroup(own->version, own->mount + group);
    if (!memory.limit_bytes) continue;
    if (!tightest.limit_bytes || *memory.limit_bytes < *tightest.limit_bytes) tightest = memory;
  }
  return tightest;
}

std::optional<double> OwnGroupProcessors() {
  std::optional<double> tightest;
  const auto own = FindControlGroup("cpu");
  if (!own) return tightest;
  for (const std::string& group : GroupAndAncestors(own->path)) {
    const auto allowed = ProcessorsOfGroup(own->version, own->mount + group);
    if (allowed) tightest = std::min(tightest.value_or(*allowed), *allowed);
  }
  return tightest;
}

void InspectControlGroups(std::uint32_t processors, std::vector<DoctorFinding>& findings) {
  findings.push_back(JudgeGroupMemory(OwnGroupMemory()));
  findings.push_back(JudgeGroupProcessors(OwnGroupProcessors(), processors));
  const auto limited = NodeGroups::Make(1, {.cpu_percent = 50, .memory_bytes = 1 << 30});
  findings.push_back(JudgeNodeLimits(limited ? "" : limited.error().message));
}

// The first line of a file of /sys.
std::string FirstLineOf(const std::string& path) {
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
      // An unused entry of the GID table reads as zeros or as an empty file.
      const bool has_gid = std::any_of(gids.begin(), gids.end(), [&](const std::string& index) {
        return FirstLineOf(fmt::format("{}/gids/{}", port, index)).find_first_not_of("0:") !=
               std::string::npos;
      });
      ports.push_back({device, number, FirstLineOf(port + "/state"), has_gid});
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

std::vector<DoctorFinding> InspectMachine() {
  std::vector<DoctorFinding> findings;
  findings.push_back(JudgeLauncher(FindProgram("mpiexec.hydra", "--version")));
  findings.push_back(JudgeDefaultMpi("mpiexec", FindProgram("mpiexec", "--version")));
  findings.push_back(JudgeDefaultMpi("mpicxx", FindProgram("mpicxx", "-show")));
  findings.push_back(JudgePeerMemory(TryPeerMemory()));

  const auto processors = static_cast<std::uint32_t>(UsableThreads());
  const bool numa = ::numa_available() >= 0;
  findings.push_back(JudgeNuma(numa, numa ? ::numa_num_configured_nodes() : 1, processors));
  findings.push_back(JudgeMemory(TextOf("/proc/meminfo")));
  findings.push_back(JudgeSharedMemoryFiles(FreeBytesIn("/dev/shm")));
  InspectControlGroups(processors, findings);

  const std::string huge_pages = "/sys/kernel/mm/transparent_hugepage/";
  findings.push_back(JudgeHugePages(TextOf(huge_pages + "enabled")));
  findings.push_back(JudgeSharedHugePages(TextOf(huge_pages + "shmem_enabled")));

  const std::vector<RdmaPort> rdma_ports = FindRdmaPorts();
  findings.push_back(JudgeRdma(rdma_ports, NamesIn("/dev/infiniband")));
  findings.push_back(JudgeLockedMemory(TextOf("/proc/self/limits"), !rdma_ports.empty()));
  return findings;
}

std::string FormatFindings(const std::vector<DoctorFinding>& findings) {
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
