#include "dkudu/internal/root_sums.h"

#include <functional>

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
  const auto add_to = [](EdgeSums& sums, const EdgeKernel& kernel) { sums += kernel.sums(); };
  const auto add = [](EdgeSums a, const EdgeSums& b) { return a += b; };
  return CountOverRoots<EdgeKernel, EdgeSums>(job, kEdges, add_to, add);
}

std::uint64_t HouseBytes(const MiningGraph& graph, const MiningOptions& options) {
  return OverRootsBytes<HouseKernel>(graph, options);
}

Result<std::uint64_t> CountHouses(MiningJob& job) {
  SLIM_TRY(RequireCompleteLists(job.graph, "houses"));
  const auto add_to = [](WideCount& sum, const HouseKernel& kernel) {
    sum += kernel.twice_houses();
  };
  SLIM_ASSIGN(const WideCount all,
              (CountOverRoots<HouseKernel, WideCount>(job, kHouses, add_to, std::plus<>())));
  return Narrow(all / 2, "houses");
}

}  // namespace slimgraph::dkudu
