#include "experiment/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <fstream>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/units.h"

#ifndef SLIMGRAPH_COMMIT
#define SLIMGRAPH_COMMIT ""
#endif

namespace slimgraph::experiment {
namespace {

// The value of the first line "KEY…: VALUE" in a file of /proc.
std::string Line(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

}  // namespace

double Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

std::vector<std::pair<std::string, std::string>> MachineFacts() {
  utsname system{};
  ::uname(&system);
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::string commit = SLIMGRAPH_COMMIT;
  return {{"processor", fmt::format("{} ({:.0f} processors)", Line("/proc/cpuinfo", "model name"),
                                    Processors())},
          {"memory", FormatBytes(pages * page_bytes)},
          {"system", fmt::format("{} {} on {}", system.sysname, system.release, system.machine)},
          {"slimgraph",
           fmt::format("{}, {}", SLIMGRAPH_VERSION,
                       commit.empty() ? "built outside of a repository" : "commit " + commit)},
          {"compiler", fmt::format("GCC {}", __VERSION__)}};
}

Result<std::string> BuildStamp(const std::string& program) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(program));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, program));
  std::vector<std::byte> contents(bytes);
  SLIM_TRY(ReadExactlyAt(fd, program, 0, contents));
  return fmt::format("{:016x}", XXH3_64bits(contents.data(), contents.size()));
}

}  // namespace slimgraph::experiment
