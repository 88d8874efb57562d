#include "apps/doctor/doctor_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

using Verdict = DoctorFinding::Verdict;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGiB = 1 << 30;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The number at the start of `text`, after blanks; nullopt if there is none.
std::optional<std::uint64_t> LeadingNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() ? std::optional(number) : std::nullopt;
}

// The rest of the line that starts with `key`.
std::optional<std::string_view> LineAfter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return line.substr(key.size());
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

// The word in brackets of "always [madvise] never".
std::string_view Chosen(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return text.substr(open + 1, close - open - 1);
}

std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

DoctorFinding JudgeLauncher(const FoundProgram& mpiexec_hydra) {
  const std::string subject = "launcher";
  if (mpiexec_hydra.path.empty()) {
    return {subject, Verdict::kBad,
            "there is no mpiexec.hydra in PATH: only jobs of one node can be started",
            "apt-get install mpich"};
  }
  if (!Contains(mpiexec_hydra.output, "HYDRA")) {
    return {subject, Verdict::kBad,
            fmt::format("{} does not say that it is Hydra, MPICH's launcher", mpiexec_hydra.path),
            "apt-get install --reinstall mpich"};
  }
  const auto version = LineAfter(mpiexec_hydra.output, "    Version:");
  std::string_view number = version.value_or("of unknown version");
  number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
  return {subject, Verdict::kGood, fmt::format("{}, Hydra {}", mpiexec_hydra.path, number), ""};
}

DoctorFinding JudgeDefaultMpi(std::string_view name, const FoundProgram& program) {
  const std::string subject(name);
  const std::string ours = name == "mpiexec" ? "mpiexec.hydra" : "mpicxx.mpich";
  if (program.path.empty()) {
    return {subject, Verdict::kGood, fmt::format("none in PATH; only {} is needed", ours), ""};
  }
  // A launcher prints its own name. A compiler wrapper prints only the command that it calls.
  const bool open_mpi = Contains(program.output, "Open MPI") ||
                        Contains(program.output, "OpenRTE") || Contains(program.output, "openmpi");
  const bool mpich = Contains(program.output, "HYDRA") || Contains(program.output, "MPICH") ||
                     Contains(program.output, "mpich");
  if (!open_mpi && mpich) {
    return {subject, Verdict::kGood, fmt::format("{} is MPICH's", program.path), ""};
  }
  const std::string whose = open_mpi ? "is Open MPI's" : "is of an unknown MPI";
  const std::string follows = name == "mpiexec"
                                  ? "processes that it starts do not form one job"
                                  : "programs that it compiles cannot use libslimgraph";
  return {subject, Verdict::kNote, fmt::format("{} {}: {}", program.path, whose, follows),
          name == "mpiexec" ? "start jobs with mpiexec.hydra -n N, or with --nodes N"
                            : "compile with mpicxx.mpich"};
}

DoctorFinding JudgeLockedMemory(std::string_view limits, bool has_rdma) {
  const std::string subject = "locked memory";
  constexpr const char* kMend =
      "echo '* - memlock unlimited' > /etc/security/limits.d/slimgraph.conf (as root), then log in "
      "again; in a container: docker run --ulimit memlock=-1";
  const auto values = LineAfter(limits, "Max locked memory");
  if (!values) return {subject, Verdict::kNote, "the limit could not be read", "ulimit -l"};
  const auto soft_bytes = LeadingNumber(*values);
  if (!soft_bytes) return {subject, Verdict::kGood, "unlimited", ""};
  const std::string what = fmt::format("at most {} can be locked", FormatBytes(*soft_bytes));
  if (has_rdma && *soft_bytes < kGiB) {
    return {subject, Verdict::kBad, what + ": too little to register a graph with an adapter",
            kMend};
  }
  return {subject, Verdict::kNote,
          what + (has_rdma ? ": a partition that is larger cannot be registered"
                           : "; only RDMA adapters need more"),
          kMend};
}

DoctorFinding JudgeHugePages(std::string_view enabled) {
  const std::string subject = "huge pages";
  const std::string_view chosen = Chosen(enabled);
  if (chosen == "always" || chosen == "madvise") {
    return {subject, Verdict::kGood, fmt::format("transparent, set to {}", chosen), ""};
  }
  return {
      subject, Verdict::kNote,
      chosen.empty() ? "this kernel has no transparent huge pages: random reads are slower"
                     : "transparent huge pages are off: random reads are slower",
      chosen.empty() ? "" : "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)"};
}

DoctorFinding JudgeSharedHugePages(std::string_view shmem_enabled) {
  const std::string subject = "huge pages, shared";
  const std::string_view chosen = Chosen(shmem_enabled);
  if (chosen == "always" || chosen == "within_size" || chosen == "advise" || chosen == "force") {
    return {subject, Verdict::kGood, fmt::format("for shared memory, set to {}", chosen), ""};
  }
  return {subject, Verdict::kNote,
          chosen.empty() ? "this kernel has none for shared memory, which holds the graph"
                         : "they are off for shared memory, which holds the graph: its random "
                           "reads are slower, its first touches much slower",
          chosen.empty()
              ? ""
              : "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled (as root)"};
}

DoctorFinding JudgeNuma(bool available, int nodes, std::uint32_t processors) {
  const std::string subject = "processors";
  const std::string count = FormatCounted(processors, "processor");
  if (!available) {
    return {subject, Verdict::kNote,
            count + "; libnuma does not work here: all memory is treated as one socket's",
            "in a container: docker run --cap-add SYS_NICE"};
  }
  return {subject, Verdict::kGood,
          fmt::format("{} on {}", count, FormatCounted(nodes, "NUMA node")), ""};
}

DoctorFinding JudgeRdma(const std::vector<RdmaPort>& ports,
                        const std::vector<std::string>& device_files) {
  const std::string subject = "RDMA";
  if (ports.empty()) {
    return {subject, Verdict::kNote,
            "no adapter: data moves through shared memory on one host, over TCP or MPI between "
            "several",
            "for trials without one: modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0"};
  }
  std::vector<std::string> usable;
  std::vector<std::string> others;
  bool down = false;
  for (const RdmaPort& port : ports) {
    const std::string name = fmt::format("{}:{}", port.device, port.number);
    const bool active = Contains(port.state, "ACTIVE");
    if (active && port.has_gid) {
      usable.push_back(name);
    } else if (active) {
      others.push_back(name + " has no GID");
    } else {
      others.push_back(fmt::format("{} is {}", name, port.state.substr(port.state.find(' ') + 1)));
      down = true;
    }
  }
  const bool reachable =
      std::any_of(device_files.begin(), device_files.end(),
                  [](const std::string& name) { return name.starts_with("uverbs"); });
  if (!reachable) {
    return {subject, Verdict::kBad,
            fmt::format("{}, but there is no /dev/infiniband/uverbs*", ports.front().device),
            "modprobe ib_uverbs (as root); in a container: docker run --device /dev/infiniband"};
  }
  if (usable.empty()) {
    return {subject, Verdict::kBad, Listed(others) + ": --transport verbs fails",
            down ? "ip link set DEVICE up (RoCE); the cable and the subnet manager (InfiniBand)"
                 : "ip addr add ADDRESS dev DEVICE: the interface of a RoCE port needs one"};
  }
  const std::string not_used = others.empty() ? "" : fmt::format(" ({})", Listed(others));
  return {subject, Verdict::kGood, Listed(usable) + not_used + ": --transport verbs works", ""};
}

DoctorFinding JudgeMemory(std::string_view meminfo) {
  const std::string subject = "memory";
  const auto kib_of = [&](std::string_view key) {
    const auto rest = LineAfter(meminfo, key);
    return rest ? LeadingNumber(*rest) : std::nullopt;
  };
  const auto total_kib = kib_of("MemTotal:");
  const auto available_kib = kib_of("MemAvailable:");
  if (!total_kib || !available_kib) {
    return {subject, Verdict::kNote, "/proc/meminfo could not be read", ""};
  }
  const std::string what = fmt::format("{} of {} are available", FormatBytes(*available_kib * 1024),
                                       FormatBytes(*total_kib * 1024));
  if (*available_kib * 1024 < 256 * kMiB) {
    return {subject, Verdict::kBad, what + ": too little for any but tiny graphs",
            "end other programs: ps -eo pid,rss,comm --sort=-rss | head"};
  }
  return {subject, Verdict::kGood, what, ""};
}

DoctorFinding JudgeSharedMemoryFiles(std::optional<std::uint64_t> free_bytes) {
  const std::string subject = "/dev/shm";
  constexpr const char* kMend =
      "mount -o remount,size=1G /dev/shm (as root); in a container: docker run --shm-size=1g";
  if (!free_bytes) {
    return {subject, Verdict::kNote, "it is not there: MPI cannot run several nodes on this host",
            "mkdir -p /dev/shm && mount -t tmpfs -o size=1G tmpfs /dev/shm (as root)"};
  }
  const std::string what = fmt::format("{} are free", FormatBytes(*free_bytes));
  if (*free_bytes >= 256 * kMiB) return {subject, Verdict::kGood, what, ""};
  return {subject, *free_bytes < 16 * kMiB ? Verdict::kBad : Verdict::kNote,
          what + ": --transport mpi may end in a bus error; shm and tcp do not use it", kMend};
}

DoctorFinding JudgePeerMemory(std::string_view failure) {
  const std::string subject = "memory of peers";
  if (failure.empty()) {
    return {subject, Verdict::kGood, "a process can map another's: --transport shm works", ""};
  }
  return {subject, Verdict::kBad,
          fmt::format("a process cannot map another's ({}): --transport shm fails", failure),
          "run all nodes as one user in one container, mount /proc without hidepid, or use "
          "--transport tcp"};
}

DoctorFinding JudgeGroupMemory(const GroupMemory& memory) {
  const std::string subject = "cgroup, memory";
  if (!memory.limit_bytes) return {subject, Verdict::kGood, "no limit", ""};
  const std::uint64_t left_bytes =
      *memory.limit_bytes - std::min(*memory.limit_bytes, memory.used_bytes);
  const std::string what =
      fmt::format("at most {}, of which {} are used (the page cache counts)",
                  FormatBytes(*memory.limit_bytes), FormatBytes(memory.used_bytes));
  constexpr const char* kMend =
      "docker run --memory SIZE, or systemctl set-property UNIT MemoryMax=SIZE (as root)";
  if (*memory.limit_bytes < 256 * kMiB) {
    return {subject, Verdict::kBad, what + ": too little for any but tiny graphs", kMend};
  }
  if (left_bytes < *memory.limit_bytes / 8) {
    return {subject, Verdict::kNote, what + ": a process that needs more is killed", kMend};
  }
  return {subject, Verdict::kGood, what, ""};
}

DoctorFinding JudgeGroupProcessors(std::optional<double> allowed, std::uint32_t processors) {
  const std::string subject = "cgroup, processors";
  if (!allowed || *allowed >= processors) return {subject, Verdict::kGood, "no limit", ""};
  return {subject, Verdict::kNote,
          fmt::format("the time of {:.2f} of {} processors: threads that use more are stopped for "
                      "tens of milliseconds",
                      *allowed, processors),
          "docker run --cpus N, or systemctl set-property UNIT CPUQuota= (as root)"};
}

DoctorFinding JudgeNodeLimits(std::string_view failure) {
  const std::string subject = "cgroup, nodes";
  if (failure.empty()) {
    return {subject, Verdict::kGood, "--cpu-share and --node-memory work", ""};
  }
  return {subject, Verdict::kNote,
          fmt::format("--cpu-share and --node-memory are refused: {}", failure),
          "run slimgraph as root, or by systemd-run --user --scope; in a container, make the "
          "control groups writable"};
}

}  // namespace slimgraph
