#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "apps/graph/scan.h"
#include "dgemini/engine.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph {
namespace {

// On a memory node: the lists that it keeps, decoded here.
Result<Tally> TallyServed(const dgemini::Workload& work) {
  const ListCode code(work.vertices());
  Tally tally;
  std::vector<VertexId> list;
  bool sound = true;
  for (const auto& slot : work.served_slots(Direction::kOut)) {
    const VertexId first = slot.part.first - slot.first;
    VisitServedLists(*slot.lists, code, first, first + slot.part.count,
                     [&](VertexId i, std::uint64_t byte, EdgeOffset, EdgeOffset length) {
                       list.resize(length);
                       sound = sound && code.Decode(slot.lists->lists.data() + byte, list);
                       tally.Add(slot.first + i, list);
                     });
  }
  if (!sound) return EnvironmentError("the pool's memory of the graph is not what was written");
  return tally;
}

// On a compute node: the lists of its share, which are all read from memory nodes.
Result<Tally> TallyShare(dgemini::Engine& engine) {
  Mutex mutex;
  Tally tally;
  SLIM_TRY(engine.ForEachList([](VertexId) { return true; },
                              [&](VertexId v, const Neighbours& list) {
                                Tally one;
                                one.Add(v, list.ids);
                                const std::lock_guard lock(mutex);
                                tally.Add(one);
                              }));
  return tally;
}

}  // namespace

Status ScanPool(JobRun& run, std::uint64_t repeat) {
  Cluster& cluster = run.cluster;
  const std::uint64_t start_ns = NowNs();
  dgemini::WorkloadNeeds needs;
  needs.cache.level = CacheLevel::kNone;
  SLIM_TRY(DecideEdgeBudget(cluster, needs.cache.edges));
  dgemini::Exchange exchange(cluster);
  SLIM_ASSIGN(const auto work,
              dgemini::Workload::Load(cluster, *run.standing, needs, AnnounceMemory(run)));
  Tally own;
  if (!cluster.computes()) {
    SLIM_ASSIGN(own, TallyServed(*work));
  }
  std::optional<dgemini::Engine> engine;
  if (cluster.computes()) engine.emplace(cluster, *work, exchange, dgemini::Mode::kPush);
  SLIM_TRY(cluster.all().Barrier());
  run.load_s = SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  cluster.fabric().ClearTraffic();

  const std::uint64_t run_ns = NowNs();
  Tally held;
  for (std::uint64_t round = 0; round < repeat; ++round) {
    Tally read;
    if (engine) {
      SLIM_ASSIGN(read, TallyShare(*engine));
    }
    const std::array mine{own, read};
    std::vector<std::vector<Tally>> all;
    SLIM_TRY(work->ServeWhile([&]() -> Status {
      SLIM_ASSIGN(all, GatherByRank<Tally>(cluster.all(), mine));
      return {};
    }));
    held = {};
    Tally found;
    for (const std::vector<Tally>& of_node : all) {
      held.Add(of_node[0]);
      found.Add(of_node[1]);
    }
    if (found != held) {
      return VerificationError(
          "{} lists with checksum {:016x} were read; the pool's nodes hold {} with {:016x}",
          found.lists, found.checksum, held.lists, held.checksum);
    }
  }
  run.run_s = SecondsSince(run_ns);
  ReportScan(run, *run.standing, held);
  return {};
}

}  // namespace slimgraph
