#include "dkudu/houses.h"

#include "dkudu/kernel/house_kernel.h"
#include "dkudu/over_roots.h"

namespace slimgraph {
namespace {

const Stage kHouses("houses");

}  // namespace

std::uint64_t HouseBytes(const MiningGraph& graph, const MiningOptions& options) {
  return OverRootsBytes<HouseKernel>(graph, options);
}

Result<std::uint64_t> CountHouses(MiningJob& job) {
  SLIM_TRY(RequireCompleteLists(job.graph, "houses"));
  std::vector<WideCount> counts(job.cluster.threads());
  const auto done = [&](std::uint32_t thread, const HouseKernel& kernel) {
    counts[thread] = kernel.twice_houses();
  };
  SLIM_TRY(RunOverRoots<HouseKernel>(job, kHouses, done));
  WideCount twice = 0;
  for (const WideCount one : counts) twice += one;
  SLIM_ASSIGN(const WideCount all, SumOverNodes(job.cluster.all(), twice));
  return Narrow(all / 2, "houses");
}

}  // namespace slimgraph
