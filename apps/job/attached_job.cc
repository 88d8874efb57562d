#include "apps/job/attached_job.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "apps/job/begin_again.h"
#include "apps/job/job_node.h"
#include "apps/job/node_zero.h"
#include "slimgraph/base/units.h"
#include "slimgraph/launch/place.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {
namespace {

// The pool's nodes are the memory nodes, so these options have no meaning.
Status CheckAttachedOptions(const JobOptions& options) {
  if (options.nodes) {
    return UsageError(
        "--nodes is for graphs in files: {} has the nodes of its pool; give --compute",
        options.standing->pool + ":" + options.standing->graph);
  }
  if (options.limits.any()) {
    return UsageError(
        "--cpu-share and --node-memory limit nodes that --nodes starts, not a pool's");
  }
  if (options.transport != "" && options.transport != "shm" && options.transport != "tcp") {
    return UsageError("graphs of a pool are read over --transport shm or tcp, not {}",
                      options.transport);
  }
  if (StartedNodes() > 1) {
    return UsageError(
        "a job on a pool starts its compute nodes by itself: run it without mpiexec, or let it "
        "start one process");
  }
  if (!options.may_move && (options.survive || !options.schedule.empty())) {
    return UsageError("{} and {} cannot be combined",
                      options.survive ? "--survive" : "--compute-schedule", options.stays_with);
  }
  return CheckNetwork(options.network);
}

// AttachRequest's function for the one of PoolGraph.
std::function<Result<std::string>(const std::string&)> ViewByFacts(
    std::function<Result<std::string>(const StandingGraph&)> view_of) {
  if (!view_of) return {};
  return [view_of](const std::string& facts) -> Result<std::string> {
    SLIM_ASSIGN(const auto graph, StandingGraph::Open(facts, {}));
    return view_of(*graph);
  };
}

AttachRequest RequestFor(const JobOptions& options, const std::vector<std::string>& arguments,
                         NodeId compute) {
  return {.pool = options.standing->pool,
          .graph = options.standing->graph,
          .view_of = ViewByFacts(options.standing->view_of),
          .views_are_graphs = options.standing->views_are_graphs,
          .compute = compute,
          .resizable = options.may_move,
          .process = options.survive ? ::getppid() : 0,
          .transport = options.transport,
          .in_place = InPlaceBy(options.access.value_or(Access::kInPlace), options.host_of),
          .words = arguments};
}

// How a node has left the job.
struct NodeEnd {
  int code = 0;
  std::string loss = {};  // node 0 of a job that survives: the node that died or is silent
};

// On node 0 of a job that survives. If the job cannot go on, says why it has failed.
NodeEnd AfterLoss(const Job& job, const Phases& phases, const Error& error) {
  if (job.loss().empty() || !job.alive(0) || phases.keeper->has_begun_result()) {
    return {PrintError(error)};
  }
  if (const auto failure = job.failure()) return {PrintError(*failure)};
  return {static_cast<int>(ErrorKind::kEnvironment), job.loss()};
}

// Joins the job and runs this node of it.
NodeEnd RunNodeOf(JoinConfig config, const JobOptions& options, const std::string& pool_facts,
                  std::optional<StandingHere> part, Report& report, Phases* phases,
                  const Application& application) {
  const bool is_first = config.self == 0;
  const bool survives = is_first && options.survive;
  const auto job = Job::Join(std::move(config), survives ? OnLoss::kReport : OnLoss::kEndJob);
  if (!job && survives) return {job.error().exit_code(), job.error().message};
  // Node 0 says why the job has not formed.
  if (!job) return {is_first ? PrintError(job.error()) : job.error().exit_code()};
  const auto facts = (*job)->Exchange(pool_facts);
  if (!facts && survives) return AfterLoss(**job, *phases, facts.error());
  while (!facts) ::pause();  // the control thread ends this process
  OfPool of_pool{.graph = nullptr, .part = std::move(part)};
  // The memories of a view that is no graph are not those of the graph.
  std::vector<std::unique_ptr<SharedMemory>> memories;
  if (of_pool.part && (!options.standing->view_of || options.standing->views_are_graphs)) {
    memories = std::move(of_pool.part->memories);
    of_pool.part.reset();
  }
  auto graph = StandingGraph::Open(facts->front(), std::move(memories));
  if (!graph) (*job)->Fail(graph.error());
  if (!graph && survives) return AfterLoss(**job, *phases, graph.error());
  while (!graph) ::pause();
  of_pool.graph = *std::move(graph);
  if (!survives) return {RunInJob(**job, options, report, of_pool, phases, application)};
  const auto done = TryInJob(**job, options, report, of_pool, phases, application);
  return done ? NodeEnd{*done} : AfterLoss(**job, *phases, done.error());
}

// Node 0: has the compute nodes started, and changes them by the schedule, or because
// `slimgraph job resize` has asked for it.
class ComputeNodes {
 public:
  ComputeNodes(const JobOptions& options, const std::vector<std::string>& arguments)
      : options_(options), arguments_(arguments) {
    if (!options.schedule.empty() && options.schedule.front().step == 0) {
      wanted_ = options.schedule[next_entry_++].compute;
    } else {
      wanted_ = options.compute.value_or(1);
    }
  }
  // So many compute nodes go on from that step. The schedule's changes up to it have been made.
  void GoOn(NodeId compute, std::uint64_t step) {
    wanted_ = compute;
    while (next_entry_ < options_.schedule.size() && options_.schedule[next_entry_].step <= step) {
      ++next_entry_;
    }
  }

  // Begins a phase: with the compute nodes that At() has had started, or else starts as many as are
  // wanted. Those of the phase before stay until the next call, since they may still be ending.
  Status Start() {
    if (!next_) SLIM_TRY(MakeNext());
    compute_ = wanted_;
    ended_ = std::exchange(now_, std::exchange(next_, nullptr));
    return {};
  }
  Attachment& attachment() { return *now_; }
  NodeId wanted() const { return wanted_; }
  NodeId compute() const { return compute_; }

  // As Handover::ComputeAt. If the nodes that follow cannot be started, says why, and the job keeps
  // those that it has.
  NodeId At(std::uint64_t step) {
    for (; next_entry_ < options_.schedule.size(); ++next_entry_) {
      if (options_.schedule[next_entry_].step > step) break;
      wanted_ = options_.schedule[next_entry_].compute;
    }
    if (const auto asked = now_->TakeResize()) wanted_ = *asked;
    if (wanted_ == compute_) return compute_;
    if (const Status made = MakeNext(); !made) {
      std::fputs(fmt::format("slimgraph: the job keeps its {}: {}\n",
                             FormatCounted(compute_, "compute node"), made.error().message)
                     .c_str(),
                 stderr);
      now_->TellKept(made.error().message);
      wanted_ = compute_;
    } else {
      std::fputs(fmt::format("slimgraph: {} instead of {} from step {} on\n",
                             FormatCounted(wanted_, "compute node"), compute_, step)
                     .c_str(),
                 stderr);
    }
    return wanted_;
  }

 private:
  Status MakeNext() {
    SLIM_ASSIGN(next_, Attachment::Make(RequestFor(options_, arguments_, wanted_)));
    return {};
  }

  const JobOptions& options_;
  const std::vector<std::string>& arguments_;
  std::size_t next_entry_ = 0;  // of the schedule
  NodeId wanted_ = 1;
  NodeId compute_ = 0;
  std::unique_ptr<Attachment> ended_;  // that of the phase before, whose processes are ending
  std::unique_ptr<Attachment> now_;
  std::unique_ptr<Attachment> next_;
};

// "": nobody has ended the job.
std::string WhyOver(Attachment& attachment) {
  const std::string why = attachment.WhyUnwanted();
  return why.empty() ? "" : fmt::format("the job has ended: {}", why);
}

// For JoinConfig, in a job with `compute` compute nodes.
std::function<std::string(NodeId, const std::string&)> BeforeEnd(
    Attachment& attachment, NodeId compute, const std::vector<std::string>& arguments) {
  return [&attachment, compute, arguments](NodeId lost, const std::string& reason) {
    const std::string why = WhyOver(attachment);
    if (why.empty() && lost >= compute && attachment.facts().copies > 1) {
      BeginAgain(fmt::format("node {}: {}", lost, reason), arguments);
    }
    return why;
  };
}

// Has the steps kept. If a node 0 before this one has died, resumes from the last step that it
// kept.
Status ResumeFrom(HandoverKeeper& keeper, const NodeZerosBefore& before, ComputeNodes& nodes,
                  Phases& phases) {
  phases.keeper = &keeper;
  SLIM_TRY(phases.handover.UseKeeper(keeper));
  if (before.deaths == 0) return {};
  const auto last = keeper.Last();
  if (last) nodes.GoOn(last->compute, last->step);
  phases.began_ns = before.began_ns;
  phases.AddLost(nodes.wanted());
  return {};
}

// Node 0, in all phases of the job. `keeper`: null unless the job survives deaths.
int RunFirstNode(const std::string& command, JobOptions options,
                 const std::vector<std::string>& arguments, const Application& application,
                 HandoverKeeper* keeper, const NodeZerosBefore& before) {
  Report report(command);
  if (const int times = TimesBegunAgain(); times > 0) {
    report.Set("/begun_again", std::int64_t{times});
  }
  ComputeNodes nodes(options, arguments);
  Phases phases{.handover =
                    Handover([&](std::uint64_t step) { return nodes.At(step); }, options.survive)};
  Handover& handover = phases.handover;
  if (keeper != nullptr) {
    if (const Status resumed = ResumeFrom(*keeper, before, nodes, phases); !resumed) {
      return PrintError(resumed.error());
    }
  }
  DeathsInStep deaths;
  while (true) {
    if (const Status started = nodes.Start(); !started) return PrintError(started.error());
    options.compute = nodes.compute();
    handover.SetFollowed();
    Attachment& attachment = nodes.attachment();
    JoinConfig config = attachment.TakeConfig();
    if (!options.survive) config.before_end = BeforeEnd(attachment, nodes.compute(), arguments);
    const NodeEnd end =
        RunNodeOf(std::move(config), options, attachment.facts().facts, std::nullopt, report,
                  options.may_move ? &phases : nullptr, application);
    if (end.loss.empty() && handover.next_compute() == 0) return end.code;
    if (end.loss.empty()) continue;
    if (const std::string why = WhyOver(attachment); !why.empty()) {
      return PrintError(EnvironmentError("{}", why).value());
    }
    const std::uint64_t step = handover.waiting_step();
    if (const Status added = deaths.Add(step, end.loss); !added) {
      return PrintError(added.error());
    }
    phases.AddLost(nodes.compute());
    std::fputs(fmt::format("slimgraph: {}; the job goes on from step {}\n", end.loss, step).c_str(),
               stderr);
  }
}

}  // namespace

int RunAttachedJob(const std::string& command, const JobOptions& options,
                   const std::vector<std::string>& arguments, const Application& application) {
  if (const Status checked = CheckAttachedOptions(options); !checked) {
    return PrintError(checked.error());
  }
  const auto place = TakePlace();
  if (!place) return PrintError(place.error());
  if (!*place && options.survive) {
    return RunInChild([&](HandoverKeeper& keeper, const NodeZerosBefore& before) {
      return RunFirstNode(command, options, arguments, application, &keeper, before);
    });
  }
  if (!*place) return RunFirstNode(command, options, arguments, application, nullptr, {});
  auto part = TakeStandingPart();
  if (!part) return PrintError(part.error());
  JobOptions of_node = options;
  of_node.compute = (*place)->compute;
  Report report(command);
  Phases phases;
  return RunNodeOf((*place)->Config(), of_node, "", *std::move(part), report,
                   options.may_move ? &phases : nullptr, application)
      .code;
}

}  // namespace slimgraph
