#include "slimgraph/stats/usage.h"

#include <sys/resource.h>

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

}  // namespace slimgraph
