#include "slimgraph/launch/internal/open_files.h"

#include <sys/resource.h>

namespace slimgraph {
namespace {

// mpiexec has three pipes and a connection for each node, and a node opens the memory of others.
// Jobs were seen to start with 6 files a node and 16 more.
constexpr rlim_t kFilesOfANode = 8;
constexpr rlim_t kOtherFiles = 24;

}  // namespace

Status AllowOpenFiles(NodeId nodes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const rlim_t needed = kOtherFiles + kFilesOfANode * nodes;
  if (limit.rlim_cur >= needed) return {};
  if (limit.rlim_max < needed) {
    return EnvironmentError(
        "a job of {} nodes needs {} open files, and a process here may have {}: raise the limit, "
        "ulimit -n {} (in a new shell, or as root), or use fewer nodes",
        nodes, needed, limit.rlim_max, needed);
  }
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return {};
}

}  // namespace slimgraph
