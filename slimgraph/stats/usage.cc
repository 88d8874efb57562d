#include "slimgraph/stats/usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

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

std::uint64_t PeakMemoryBytes() {
  return static_cast<std::uint64_t>(OwnUsage().ru_maxrss) * 1024;  // Linux counts it in KiB
}

std::uint64_t HeldMemoryBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t mapped_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> mapped_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace slimgraph
