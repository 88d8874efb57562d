#include "dkudu/mining_job.h"

#include <time.h>

#include <algorithm>

#include "dkudu/work_offers.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/units.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {
namespace {

double ThreadCpuSeconds() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

Status RunEngines(MiningJob& job, const Stage& stage,
                  const std::function<Status(std::uint32_t, Endpoint&)>& body) {
  if (!job.cluster.computes()) return {};
  const std::uint32_t threads = job.cluster.threads();
  job.busy_s.resize(threads);
  return RunOnThreads(threads, [&](std::size_t index) {
    const auto thread = static_cast<std::uint32_t>(index);
    SetTraceThread(thread);
    Endpoint& endpoint = job.cluster.fabric().endpoint(thread);
    const double start_s = ThreadCpuSeconds();
    const StageScope scope(endpoint, job.seconds[thread], stage);
    Status done = body(thread, endpoint);
    job.busy_s[thread] += ThreadCpuSeconds() - start_s;
    return done;
  });
}

WorkingMemory WorkingMemoryOf(const MiningOptions& options, ListPart part, const Cluster& cluster,
                              VertexId vertices) {
  // Marks, positions and counts by vertex.
  constexpr std::uint64_t kBytesPerVertex = 10;
  const bool asks = options.fetch == Fetch::kRequest && cluster.topology().compute() > 1;
  std::uint64_t of_thread = vertices * kBytesPerVertex;
  if (part == ListPart::kAll || cluster.topology().nodes() > 1) of_thread += options.chunk_bytes;
  if (asks) of_thread += 2 * ListFetch::kRoomBytes;
  // What is kept of each root of cliques.
  constexpr std::uint64_t kBytesPerRoot = 56;
  const std::uint64_t roots = vertices / cluster.topology().compute();
  const std::uint64_t root_bytes = part == ListPart::kUp ? roots * kBytesPerRoot : 0;
  const bool offers = cluster.topology().compute() * cluster.threads() > 1;
  const std::uint64_t offer_bytes = offers ? WorkOffers::kSlots * WorkOffers::kMostPartBytes : 0;
  return {cluster.threads() * of_thread + root_bytes + offer_bytes, options.cache_bytes};
}

Result<std::uint64_t> ChunkBytes(const MiningJob& job, std::uint64_t least) {
  const std::uint64_t given = job.options.chunk_bytes;
  if (given == 0) return least;
  if (given >= least) return given;
  return UsageError("--chunk-memory {} is too little for the longest lists: give at least {}K",
                    FormatBytes(given), (least + 1023) >> 10);
}

Result<EngineTimes> TimesOf(MiningJob& job) {
  EngineTimes times{.stolen_tasks = job.stolen_tasks};
  for (const double seconds : job.busy_s) {
    times.sum_s += seconds;
    times.longest_s = std::max(times.longest_s, seconds);
  }
  const auto add = [](const EngineTimes& a, const EngineTimes& b) {
    return EngineTimes{a.sum_s + b.sum_s, std::max(a.longest_s, b.longest_s),
                       a.stolen_tasks + b.stolen_tasks};
  };
  SLIM_TRY(job.cluster.all().AllReduce(std::span(&times, 1), add));
  return times;
}

}  // namespace slimgraph
