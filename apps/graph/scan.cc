#include "apps/commands.h"

#include <array>
#include <atomic>
#include <memory>

#include "apps/graph/graph_input.h"
#include "apps/graph/scan.h"
#include "apps/job/job_command.h"
#include "apps/job/job_report.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/units.h"
#include "slimgraph/base/waits.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/cluster/stage_scope.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/graph/numa.h"
#include "slimgraph/graph/shared_graph.h"
#include "slimgraph/stats/progress.h"

namespace slimgraph {
namespace {

using Graph = SharedGraph<ChunkPartition>;

const Stage kScanOwn("scan own lists");
const Stage kScanRemote("scan remote lists");

// The number of lists that one read fetches.
constexpr VertexId kBatchVertices = 4096;

// Batches in flight per thread: one is summed up while the other crosses the fabric.
constexpr std::size_t kBatchesAtOnce = 2;

// The largest number of arcs in any kBatchVertices consecutive lists.
Result<EdgeOffset> MostArcsOfABatch(const GraphSource& file) {
  constexpr std::size_t kPiece = 16 * std::size_t{kBatchVertices};
  EdgeOffset most = 0;
  std::vector<EdgeOffset> offsets;
  for (std::size_t first = 0; first < file.vertices(); first += kPiece - kBatchVertices) {
    offsets.resize(std::min(kPiece, file.vertices() - first) + 1);
    SLIM_TRY(file.ReadElements(file.offsets(Direction::kOut), first, std::span(offsets), 1));
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::size_t end = std::min(i + kBatchVertices, offsets.size() - 1);
      most = std::max(most, offsets[end] - offsets[i]);
    }
  }
  return most;
}

Tally TallyOwn(const Graph& graph, NodeId self) {
  Tally tally;
  for (std::uint32_t socket = 0; socket < graph.sockets(); ++socket) {
    const VertexPart part = graph.partition().part(self, socket);
    const ListSpans& lists = graph.own(Direction::kOut, socket);
    for (VertexId i = 0; i < part.count; ++i) {
      tally.Add(part[i], lists.neighbours.subspan(lists.offsets[i],
                                                  lists.offsets[i + 1] - lists.offsets[i]));
    }
  }
  return tally;
}

// Consecutive vertices of one socket of a memory node; their lists are read together.
struct Batch {
  NodeId node = 0;
  std::uint32_t socket = 0;
  VertexId first = 0;
  VertexId count = 0;
};

std::vector<Batch> BatchesOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<Batch> batches;
  for (const NodeId node : nodes) {
    for (std::uint32_t socket = 0; socket < graph.sockets(); ++socket) {
      const VertexId count = graph.partition().part(node, socket).count;
      for (VertexId first = 0; first < count; first += kBatchVertices) {
        batches.push_back({node, socket, first, std::min(kBatchVertices, count - first)});
      }
    }
  }
  return batches;
}

// Reads batches on one thread, and sums up one batch while another crosses the fabric.
class BatchReader {
 public:
  BatchReader(const Graph& graph, Endpoint& endpoint, const std::vector<Batch>& batches,
              std::atomic<std::size_t>& next, Progress& progress)
      : graph_(graph), endpoint_(endpoint), batches_(batches), next_(next), progress_(progress) {}

  Result<Tally> ReadAll() {
    for (std::size_t i = 0; i < slots_.size(); ++i) Start(i);
    std::vector<Completion> ended;
    Waiting waiting;
    while (busy_ > 0) {
      if (endpoint_.Wait(std::chrono::seconds(1))) {
        waiting.End();
      } else {
        waiting.For(endpoint_.address().node,
                    [this] { return "lists of " + NodesInWords(endpoint_.AwaitedNodes()); });
      }
      ended.clear();
      endpoint_.Poll(ended);
      for (const Completion& one : ended) {
        Slot& slot = slots_[one.tag];
        if (one.outcome != Outcome::kOk) {
          endpoint_.Flush();  // reads in flight still write into slots_
          return EnvironmentError("cannot read lists of node {}: {}", slot.batch.node,
                                  OutcomeName(one.outcome));
        }
        slot.has_offsets ? Finish(one.tag) : FetchLists(one.tag);
      }
    }
    return tally_;
  }

 private:
  struct Slot {
    Batch batch;
    bool has_offsets = false;
    std::vector<EdgeOffset> offsets;
    std::vector<VertexId> neighbours;
  };

  void Start(std::size_t index) {
    const std::size_t number = next_.fetch_add(1);
    if (number >= batches_.size()) return;
    progress_.Update(number, batches_.size());
    Slot& slot = slots_[index];
    slot.batch = batches_[number];
    slot.has_offsets = false;
    slot.offsets.resize(slot.batch.count + std::size_t{1});
    Fetch(index, Regions(slot).offsets, slot.batch.first, std::span(slot.offsets));
    ++busy_;
  }

  void FetchLists(std::size_t index) {
    Slot& slot = slots_[index];
    slot.has_offsets = true;
    slot.neighbours.resize(slot.offsets.back() - slot.offsets.front());
    Fetch(index, Regions(slot).neighbours, slot.offsets.front(), std::span(slot.neighbours));
  }

  void Finish(std::size_t index) {
    const Slot& slot = slots_[index];
    const VertexPart part = graph_.partition().part(slot.batch.node, slot.batch.socket);
    const std::span<const VertexId> all(slot.neighbours);
    for (VertexId i = 0; i < slot.batch.count; ++i) {
      const EdgeOffset begin = slot.offsets[i] - slot.offsets[0];
      tally_.Add(part[slot.batch.first + i],
                 all.subspan(begin, slot.offsets[i + 1] - slot.offsets[i]));
    }
    --busy_;
    Start(index);
  }

  const ListRegions& Regions(const Slot& slot) const {
    return graph_.regions(Direction::kOut, slot.batch.socket);
  }

  template <typename T>
  void Fetch(std::size_t index, RegionId region, std::uint64_t first, std::span<T> into) {
    endpoint_.Read(slots_[index].batch.node, region, first * sizeof(T),
                   std::as_writable_bytes(into), index);
    endpoint_.Ring();
  }

  const Graph& graph_;
  Endpoint& endpoint_;
  const std::vector<Batch>& batches_;
  std::atomic<std::size_t>& next_;
  Progress& progress_;
  std::array<Slot, kBatchesAtOnce> slots_;
  std::size_t busy_ = 0;
  Tally tally_;
};

Result<Tally> ReadRemote(JobRun& run, const Graph& graph, const std::vector<Batch>& batches) {
  const std::uint32_t threads = run.cluster.threads();
  std::atomic<std::size_t> next{0};
  Progress progress("batches of lists read", run.cluster.self() == 0);
  std::vector<Tally> read(threads);
  SLIM_TRY(RunOnThreads(threads, [&](std::size_t t) -> Status {
    Endpoint& endpoint = run.cluster.fabric().endpoint(static_cast<std::uint32_t>(t));
    const StageScope stage(endpoint, run.seconds[t], kScanRemote);
    SLIM_ASSIGN(read[t], BatchReader(graph, endpoint, batches, next, progress).ReadAll());
    return {};
  }));
  Tally sum;
  for (const Tally& of_thread : read) sum.Add(of_thread);
  return sum;
}

Tally ScanOwn(JobRun& run, const Graph& graph) {
  const StageScope stage(run.cluster.fabric().endpoint(0), run.seconds[0], kScanOwn);
  return TallyOwn(graph, run.cluster.self());
}

// Compares what each compute node has read with what the owners held after loading.
Result<Tally> Verify(Cluster& cluster, const Tally& own, const Tally& read) {
  const std::array mine{own, read};
  SLIM_ASSIGN(const auto all, GatherByRank<Tally>(cluster.all(), mine));
  const Topology& topology = cluster.topology();
  Tally total;
  std::vector<Tally> expected(topology.compute());
  std::vector<Tally> found(topology.compute());
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    total.Add(all[node][0]);
    expected[topology.delegate(node)].Add(all[node][0]);
    if (topology.is_compute(node)) found[node] = all[node][1];
  }
  for (NodeId node = 0; node < topology.compute(); ++node) {
    if (found[node] == expected[node]) continue;
    return VerificationError(
        "node {} has read {} lists with checksum {:016x}; it and its memory nodes hold {} with "
        "{:016x}",
        node, found[node].lists, found[node].checksum, expected[node].lists,
        expected[node].checksum);
  }
  return total;
}

Status Scan(JobRun& run, const GraphInput& graph_input, std::uint64_t repeat) {
  Cluster& cluster = run.cluster;
  if (repeat == 0) return UsageError("--repeat 0: there is nothing to do");
  if (run.standing != nullptr) return ScanPool(run, repeat);
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(graph_input.path, graph_input.how.in));
  const NodeId nodes = cluster.topology().nodes();
  SLIM_ASSIGN(ChunkPartition partition,
              ChunkPartition::Balance(file, Direction::kOut, nodes, SocketCount(),
                                      ChunkPartition::DefaultAlpha(nodes)));
  SLIM_ASSIGN(const EdgeOffset most_arcs, MostArcsOfABatch(file));
  const std::uint64_t read_bytes =
      cluster.threads() * kBatchesAtOnce *
      (kBatchVertices * sizeof(EdgeOffset) + most_arcs * sizeof(VertexId));
  const auto announce = [&](MemoryPlan& plan) {
    for (NodeId node = 0; node < cluster.topology().compute(); ++node) {
      const bool reads = !cluster.topology().DelegationSet(node).empty();
      if (reads) plan.node_bytes[node] += read_bytes;
    }
    AnnounceMemory(run)(plan);
  };
  SLIM_ASSIGN(const auto graph, Graph::Load(cluster, file, std::move(partition), {}, announce));
  const Tally own = TallyOwn(*graph, cluster.self());  // what the scan must find
  SLIM_TRY(cluster.all().Barrier());
  run.load_s = SecondsSince(start_ns);
  run.load_traffic = cluster.fabric().traffic();
  cluster.fabric().ClearTraffic();

  const std::uint64_t run_ns = NowNs();
  Tally total;
  for (std::uint64_t round = 0; round < repeat; ++round) {
    Tally read;
    if (cluster.computes()) {
      const auto batches = BatchesOf(*graph, cluster.topology().DelegationSet(cluster.self()));
      SLIM_ASSIGN(read, ReadRemote(run, *graph, batches));
      read.Add(ScanOwn(run, *graph));
    }
    SLIM_ASSIGN(total, Verify(cluster, own, read));
  }
  run.run_s = SecondsSince(run_ns);
  ReportScan(run, file, total);
  return {};
}

}  // namespace

void ReportScan(JobRun& run, const GraphSource& file, const Tally& total) {
  const Topology& topology = run.cluster.topology();
  Report& report = run.report;
  SetGraph(report, file);
  report.Set("/result/lists", total.lists);
  report.Set("/result/arcs", total.arcs);
  report.Set("/result/checksum", fmt::format("{:016x}", total.checksum));
  report.Set("/verified", true);
  run.text += fmt::format(
      "scanned {}: {} vertices, {} edges, in {}\n"
      "on {} over {}: {} compute, {} only hold memory\n"
      "every checksum of {} lists is correct ({:016x})\n",
      file.path(), FormatCount(file.vertices()), FormatCount(file.edges()),
      FormatSeconds(run.run_s), FormatCounted(topology.nodes(), "node"),
      run.cluster.options().transport, topology.compute(), topology.nodes() - topology.compute(),
      FormatCount(total.lists), total.checksum);
}

Command ScanCommand() {
  struct State {
    JobOptions job;
    GraphInput graph;
    std::uint64_t repeat = 1;
  };
  const auto state = std::make_shared<State>();
  state->graph.may_stand = true;
  const auto declare = [state](Options& options) {
    DeclareGraph(options, state->graph);
    options.Number("--repeat", "R", "read it R times", state->repeat);
    DeclareJobOptions(options, state->job);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    const Status graph = ResolveGraph(state->graph);
    if (!graph) return PrintError(graph.error());
    state->job.standing = state->graph.standing;
    return RunJob("scan", state->job, arguments,
                  [state](JobRun& job_run) { return Scan(job_run, state->graph, state->repeat); });
  };
  return {"scan", "read every list of a graph once, and verify what was read", declare, run};
}

}  // namespace slimgraph
