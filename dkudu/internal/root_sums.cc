#include "dkudu/internal/root_sums.h"

#include "dkudu/internal/kernel/house_kernel.h"
#include "dkudu/internal/over_roots.h"

namespace slimgraph::dkudu {
namespace {

const Stage kEdges("edge sums");
const Stage kHouses("houses");

}  // namespace

std::uint64_t EdgeSumBytes(const MiningGraph& graph, const MiningOptions& options) {
  return OverRootsBytes<EdgeKernel>(graph, options);
}

Result<EdgeSums> SumOverEdges(MiningJob& job) {
  SLIM_TRY(RequireCompleteLists(job.graph, "triangles and 4-cycles at edges"));
  std::vector<EdgeSums> sums(job.cluster.threads());
  const auto done = [&](std::uint32_t thread, const EdgeKernel& kernel) {
    sums[thread] = kernel.sums();
  };
  SLIM_TRY(RunOverRoots<EdgeKernel>(job, kEdges, done));
  EdgeSums mine;
  for (const EdgeSums& one : sums) mine += one;
  const auto add = [](EdgeSums a, const EdgeSums& b) { return a += b; };
  SLIM_TRY(job.cluster.all().AllReduce(std::span(&mine, 1), add));
  return mine;
}

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

}  // namespace slimgraph::dkudu
