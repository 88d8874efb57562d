#include "slimgraph/base/usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace slimgraph {
namespace {

rusage OwnUsage() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double ProcessorSeconds() {
  const rusage usage = OwnUsage();
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

// Not ru_maxrss: exec does not reset it, so a small job that a large process started would seem as
// large as that process.
std::uint64_t PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:" && status >> kib) break;
  }
  return kib * 1024;
}

std::uint64_t ResidentMemoryBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t mapped_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> mapped_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace slimgraph
