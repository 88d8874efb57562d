#include "apps/job/job_report.h"

#include <algorithm>
#include <map>
#include <span>
#include <sstream>

#include "apps/output/text_output.h"
#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/units.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {
namespace {

// Processor time and peak memory of one node.
struct NodeFigures {
  double cpu_s;
  std::uint64_t peak_bytes;
};

// A stage's number may differ between processes, so nodes send stage names with the numbers.
Result<Traffic> SumOverNodes(Collectives& all, const Traffic& mine, NodeId nodes) {
  std::string names;
  for (const std::string& name : StageNames()) names += name + '\n';
  SLIM_ASSIGN(const auto all_names, GatherByRank<char>(all, names));
  SLIM_ASSIGN(auto all_numbers, GatherByRank<std::uint64_t>(all, mine.Numbers()));
  Traffic sum(nodes);
  for (std::size_t node = 0; node < all_numbers.size(); ++node) {
    std::vector<StageId> stages;
    std::string_view rest(all_names[node].data(), all_names[node].size());
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      stages.push_back(StageNamed(rest.substr(0, end)));
      rest.remove_prefix(end + 1);
    }
    std::vector<std::uint64_t>& numbers = all_numbers[node];
    for (std::size_t i = 0; i < numbers.size(); i += Traffic::kNumbersPerCount) {
      numbers[i] = stages[numbers[i]];
    }
    sum.Add(numbers);
  }
  return sum;
}

void SetCount(Report& report, const std::string& path, const TrafficCount& count) {
  report.Set(path + "/bytes", count.bytes());
  report.Set(path + "/payload_bytes", count.payload_bytes);
  report.Set(path + "/operations", count.operations);
  report.Set(path + "/round_trips", count.round_trips);
}

// The sum of the traffic of several phases, of_each(traffic).
template <typename OfEach>
TrafficCount Sum(std::span<const Traffic> phases, OfEach of_each) {
  TrafficCount sum;
  for (const Traffic& traffic : phases) sum += of_each(traffic);
  return sum;
}

void SetTraffic(Report& report, const std::string& path, std::span<const Traffic> phases) {
  SetCount(report, path, Sum(phases, [](const Traffic& one) { return one.Total(); }));
  for (std::size_t i = 0; i < kNumTrafficKinds; ++i) {
    const auto kind = static_cast<TrafficKind>(i);
    const TrafficCount count = Sum(phases, [&](const Traffic& one) { return one.OfKind(kind); });
    SetCount(report, fmt::format("{}/by_kind/{}", path, TrafficKindName(kind)), count);
  }
  const auto names = StageNames();
  for (StageId stage = 0; stage < static_cast<StageId>(names.size()); ++stage) {
    const TrafficCount count = Sum(phases, [&](const Traffic& one) { return one.OfStage(stage); });
    if (count.operations == 0) continue;
    SetCount(report, fmt::format("{}/by_stage/{}", path, names[stage]), count);
  }
}

// A stage's time is that of the slowest thread of all nodes. Nodes send names with the times,
// because a node may know stages that others do not.
Status SetStageTimes(JobRun& run) {
  std::string mine;
  const auto names = StageNames();
  for (std::size_t stage = 0; stage < names.size(); ++stage) {
    double slowest = 0;
    for (const StageSeconds& seconds : run.seconds) slowest = std::max(slowest, seconds[stage]);
    if (slowest > 0) mine += fmt::format("{}\t{}\n", names[stage], slowest);
  }
  SLIM_ASSIGN(const auto all, GatherByRank<char>(run.cluster.all(), mine));
  std::map<std::string, double> slowest_of;
  for (const auto& theirs : all) {
    std::istringstream lines(std::string(theirs.begin(), theirs.end()));
    std::string name;
    double seconds = 0;
    while (std::getline(lines, name, '\t') && lines >> seconds) {
      lines.ignore(1);
      slowest_of[name] = std::max(slowest_of[name], seconds);
    }
  }
  for (const auto& [name, seconds] : slowest_of) run.report.Set("/time/stages/" + name, seconds);
  return {};
}

Status WriteTrace(JobRun& run, const std::string& path) {
  const std::string mine = PackTrace(TakeTrace(run.cluster.self()));
  SLIM_ASSIGN(const auto all, GatherByRank<char>(run.cluster.all(), mine));
  if (run.cluster.self() != 0) return {};
  std::vector<TraceEvent> events;
  for (const auto& packed : all) UnpackTrace({packed.data(), packed.size()}, events);
  const std::string text = ToChromeTrace(events);
  SLIM_ASSIGN(TextOutput file, TextOutput::Create(path));
  SLIM_TRY(file.Append(text));
  run.text_to_stderr |= IsStandardOutput(path);
  return file.Commit();
}

}  // namespace

Status FinishPhase(JobRun& run) {
  if (run.phases == nullptr) return {};
  Cluster& cluster = run.cluster;
  const NodeId nodes = cluster.topology().nodes();
  const Traffic mine = run.run_traffic ? *run.run_traffic : cluster.fabric().traffic();
  SLIM_ASSIGN(Traffic traffic, SumOverNodes(cluster.all(), mine, nodes));
  Phases& phases = *run.phases;
  // Node 0 computes in every phase.
  const double cpu_s = ProcessorSeconds() - (cluster.self() == 0 ? phases.cpu_s : 0);
  SLIM_ASSIGN(const double all_cpu_s, cluster.all().AllSum(cluster.computes() ? cpu_s : 0));
  if (cluster.self() != 0) return {};
  const Handover& handover = phases.handover;
  phases.all.push_back({.compute = cluster.topology().compute(),
                        .first_step = phases.first_step,
                        .stall_s = phases.all.empty()
                                       ? 0
                                       : static_cast<double>(run.began_ns - phases.ended_ns) * 1e-9,
                        .run_s = static_cast<double>(run.ended_ns - run.began_ns) * 1e-9,
                        .compute_cpu_s = all_cpu_s,
                        .handed_over_bytes = handover.next_compute() == 0 ? 0 : handover.bytes(),
                        .bytes = traffic.Total().bytes()});
  phases.traffic.push_back(std::move(traffic));
  phases.ended_ns = run.ended_ns;
  phases.began_ns = 0;
  phases.first_step = handover.step;
  phases.cpu_s += cpu_s;
  return {};
}

Status FinishReport(JobRun& run, const std::string& trace) {
  SLIM_TRY(FinishPhase(run));
  Cluster& cluster = run.cluster;
  Report& report = run.report;
  const Topology& topology = cluster.topology();
  // Read before the collectives below add to the traffic.
  const Traffic mine = run.run_traffic ? *run.run_traffic : cluster.fabric().traffic();
  SetOptions(report);
  report.Set("/cluster/nodes", std::uint64_t{topology.nodes()});
  report.Set("/cluster/compute", std::uint64_t{topology.compute()});
  report.Set("/cluster/threads", std::uint64_t{cluster.threads()});
  report.Set("/cluster/transport", cluster.options().transport);
  report.Set("/cluster/network", cluster.options().network);
  if (cluster.job().encrypts()) report.Set("/cluster/encrypted", true);
  if (const std::uint64_t limit = NodeMemoryLimit(); limit != 0) {
    report.Set("/cluster/node_memory_bytes", limit);
  }
  report.Set("/time/load_s", run.load_s);
  report.Set("/time/run_s", run.run_s);
  SLIM_TRY(SetStageTimes(run));
  SLIM_ASSIGN(const Traffic traffic, SumOverNodes(cluster.all(), mine, topology.nodes()));
  SLIM_ASSIGN(const Traffic load, SumOverNodes(cluster.all(), run.load_traffic, topology.nodes()));
  std::vector<Traffic> phases = {traffic};
  if (run.phases != nullptr && cluster.self() == 0) {
    phases = run.phases->traffic;
    run.phases->Set(report);
  }
  SetTraffic(report, "/traffic", phases);
  SetTraffic(report, "/load_traffic", std::span(&load, 1));
  const NodeFigures figures{ProcessorSeconds(), PeakMemoryBytes()};
  SLIM_ASSIGN(const auto all_figures, GatherList(cluster.all(), std::span(&figures, 1)));
  std::vector<double> compute_s;
  std::vector<double> memory_s;
  std::vector<std::uint64_t> peak_bytes;
  const std::vector<NodeId>& members = cluster.all().members();  // the nodes that are alive
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const NodeFigures& theirs = all_figures[rank];
    (topology.is_compute(members[rank]) ? compute_s : memory_s).push_back(theirs.cpu_s);
    peak_bytes.push_back(theirs.peak_bytes);
  }
  report.Set("/cpu_s/compute", compute_s);
  report.Set("/cpu_s/memory", memory_s);
  report.Set("/memory/peak_bytes", peak_bytes);
  if (run.appends_traffic)
    run.text += fmt::format("crossed the fabric: {}\n", DescribeTraffic(phases));
  if (!trace.empty()) SLIM_TRY(WriteTrace(run, trace));
  return {};
}

void SetGraph(Report& report, const GraphSource& file) {
  report.Set("/graph/path", file.path());
  report.Set("/graph/vertices", std::uint64_t{file.vertices()});
  report.Set("/graph/edges", file.edges());
  report.Set("/graph/directed", file.directed());
  report.Set("/graph/bytes", file.file_bytes());
}

std::string DescribeTraffic(std::span<const Traffic> phases) {
  const TrafficCount total = Sum(phases, [](const Traffic& one) { return one.Total(); });
  if (total.operations == 0) return "nothing";
  std::string kinds;
  for (std::size_t i = 0; i < kNumTrafficKinds; ++i) {
    const auto kind = static_cast<TrafficKind>(i);
    const std::uint64_t operations =
        Sum(phases, [&](const Traffic& one) { return one.OfKind(kind); }).operations;
    if (operations == 0) continue;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", FormatCount(operations),
                         TrafficKindName(kind));
  }
  return fmt::format("{} ({} of them headers) in {}: {} operation{}", FormatBytes(total.bytes()),
                     FormatBytes(total.header_bytes),
                     FormatCounted(total.round_trips, "round trip"), kinds,
                     total.operations == 1 ? "" : "s");
}

}  // namespace slimgraph
