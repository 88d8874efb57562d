#include "dkudu/motifs.h"

#include <algorithm>

#include "dkudu/cliques.h"
#include "dkudu/internal/kernel/neighbour_lists.h"
#include "dkudu/internal/root_sums.h"
#include "slimgraph/base/check.h"

namespace slimgraph::dkudu {
namespace {

struct Wide {
  const char* name;
  WideCount count;
};

Result<std::vector<MotifCount>> NarrowAll(const std::vector<Wide>& counts) {
  std::vector<MotifCount> narrow;
  for (const auto& [name, wide] : counts) {
    SLIM_ASSIGN(const std::uint64_t count, Narrow(wide, fmt::format("{}s", name)));
    narrow.push_back({name, count});
  }
  return narrow;
}

Result<std::vector<MotifCount>> OfThree(MiningJob& job, Induced induced) {
  SLIM_ASSIGN(const WideCount triangles, CountCliques(job, 3));
  WideCount wedges = job.graph.sums().pairs;
  if (induced == Induced::kVertex) wedges -= 3 * triangles;
  return NarrowAll({{"triangle", triangles}, {"wedge", wedges}});
}

Result<std::vector<MotifCount>> OfFour(MiningJob& job, Induced induced) {
  // Fail at once if the chunk memory is too small for either step.
  SLIM_TRY(CheckedChunkBytes(
      job, std::max(LeastKernelBytes(job.graph), LeastCliqueBytes(job.graph, 4))));
  SLIM_ASSIGN(const EdgeSums sums, SumOverEdges(job));
  SLIM_ASSIGN(const WideCount cliques, CountCliques(job, 4));
  // Edge-induced counts. Every triangle has three edges.
  WideCount diamonds = sums.diamonds;
  WideCount cycles = sums.cycles;
  WideCount tailed = sums.tails / 2;  // each triangle corner is an end of two of its edges
  WideCount stars = job.graph.sums().triples;
  WideCount paths = sums.paths - sums.triangles;  // a path whose ends coincide is a triangle
  if (induced == Induced::kVertex) {
    // Subtract how often each pattern is contained in the patterns with more edges.
    diamonds -= 6 * cliques;
    cycles -= diamonds + 3 * cliques;
    tailed -= 4 * diamonds + 12 * cliques;
    stars -= tailed + 2 * diamonds + 4 * cliques;
    paths -= 4 * cycles + 2 * tailed + 6 * diamonds + 12 * cliques;
  }
  return NarrowAll({{"4-clique", cliques},
                    {"diamond", diamonds},
                    {"4-cycle", cycles},
                    {"tailed-triangle", tailed},
                    {"3-star", stars},
                    {"4-path", paths}});
}

}  // namespace

std::uint64_t MotifBytes(const MiningGraph& graph, const MiningOptions& options,
                         unsigned vertices) {
  if (vertices == 3) return CliqueBytes(graph, options, 3);
  return std::max(EdgeSumBytes(graph, options), CliqueBytes(graph, options, 4));
}

Result<std::vector<MotifCount>> CountMotifs(MiningJob& job, unsigned vertices, Induced induced) {
  SLIM_CHECK(vertices == 3 || vertices == 4);
  return vertices == 3 ? OfThree(job, induced) : OfFour(job, induced);
}

}  // namespace slimgraph::dkudu
