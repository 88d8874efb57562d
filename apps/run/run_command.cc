// `slimgraph run`: several commands on one graph, which each engine loads once.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "apps/commands.h"
#include "apps/graph/graph_input.h"
#include "apps/job/job_command.h"
#include "apps/mining/mining_command.h"
#include "apps/run/part_options.h"
#include "apps/vertex/vertex_job.h"
#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

// A part as the user has named it.
struct NamedPart {
  std::string words;  // "bfs:source=1"
  std::unique_ptr<Part> part;
  PartOptions options;
  std::string output;  // of a vertex program; "": none
};

struct RunState {
  VertexOptions vertex;  // with the options of the job and the graph
  std::vector<std::string> words;
  std::deque<NamedPart> parts;
};

std::string PossibleNames(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) {
    if (command.make_part) names += (names.empty() ? "" : ", ") + command.name;
  }
  return names;
}

Status AddPart(const std::string& words, const std::vector<Command>& commands, RunState& state) {
  const std::size_t colon = std::min(words.find(':'), words.size());
  const std::string name = words.substr(0, colon);
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& one) {
    const auto& aliases = one.aliases;
    return one.make_part &&
           (one.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end());
  });
  if (found == commands.end()) {
    return UsageError("run: '{}' is no command on a graph; there are {}", name,
                      PossibleNames(commands));
  }
  NamedPart& added = state.parts.emplace_back();
  added.words = words;
  added.part = found->make_part();
  added.part->Declare(added.options);
  if (dynamic_cast<VertexApplication*>(added.part.get()) != nullptr) {
    added.options.Text("-o,--output", "FILE", "", added.output);
  }
  const std::string_view rest = std::string_view(words).substr(std::min(colon + 1, words.size()));
  SLIM_TRY(added.options.Parse(found->name, rest));
  const auto* const mining = dynamic_cast<MiningPart*>(added.part.get());
  if (mining != nullptr) state.vertex.job.serving_threads = 1;
  return CheckOutput(mining != nullptr ? mining->output() : added.output, state.vertex.job.json);
}

Status AddParts(RunState& state) {
  const std::vector<Command> commands = AllCommands();
  for (const std::string& words : state.words) SLIM_TRY(AddPart(words, commands, state));
  return {};
}

// The run of one part, and its own report.
struct PartRun {
  Report report{"run"};
  JobRun run;
  explicit PartRun(JobRun& whole)
      : run{.cluster = whole.cluster,
            .report = report,
            .seconds = std::vector<StageSeconds>(whole.seconds.size()),
            .text = "",
            .load_s = 0,
            .run_s = 0,
            .load_traffic = Traffic(whole.cluster.topology().nodes())} {}
  PartRun(const PartRun&) = delete;
  PartRun& operator=(const PartRun&) = delete;
};

// Adds the report, the text and the figures of a part to those of the whole run.
void AddResult(const NamedPart& part, std::size_t index, const PartRun& from, JobRun& to) {
  const std::string path = fmt::format("/parts/{}", index);
  to.report.Set(path + "/part", part.words);
  part.options.ToReport(path + "/options", to.report);
  for (const auto& [name, value] : from.report.values()) {
    const bool of_object = name == "/schema" || name == "/command" || name == "/version";
    const bool of_graph = name.starts_with("/graph/");
    if (of_graph) to.report.Set(name, value);
    if (!of_object && !of_graph) to.report.Set(path + name, value);
  }
  to.report.Set(path + "/time/run_s", from.run.run_s);
  to.text += part.words + "\n";
  std::string_view rest = from.run.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n') + 1, rest.size());
    to.text += "  " + std::string(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  to.run_s += from.run.run_s;
  to.text_to_stderr |= from.run.text_to_stderr;
  if (from.run.run_traffic) to.run_traffic->Add(*from.run.run_traffic);
  for (std::size_t thread = 0; thread < to.seconds.size(); ++thread) {
    for (std::size_t stage = 0; stage < to.seconds[thread].size(); ++stage) {
      to.seconds[thread][stage] += from.run.seconds[thread][stage];
    }
  }
}

Status RunVertexParts(JobRun& run, RunState& state, std::deque<PartRun>& runs) {
  std::vector<VertexWork> works;
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    auto* const application = dynamic_cast<VertexApplication*>(state.parts[i].part.get());
    if (application != nullptr) works.push_back({*application, runs[i].run, state.parts[i].output});
  }
  return works.empty() ? Status() : RunVertexApplications(run, state.vertex, works);
}

std::vector<MiningPart*> MiningPartsOf(RunState& state) {
  std::vector<MiningPart*> parts;
  for (const auto& one : state.parts) {
    if (auto* const part = dynamic_cast<MiningPart*>(one.part.get())) parts.push_back(part);
  }
  return parts;
}

// A job attaches to one view of a graph.
Result<PoolGraph> ToAttach(RunState& state) {
  const PoolGraph& graph = *state.vertex.graph.standing;
  const auto mining = MiningPartsOf(state);
  if (mining.empty()) {
    std::vector<const VertexApplication*> applications;
    for (const auto& one : state.parts) {
      applications.push_back(dynamic_cast<const VertexApplication*>(one.part.get()));
    }
    return WithVertexView(graph, std::move(applications));
  }
  if (mining.size() < state.parts.size()) {
    return UsageError(
        "one job cannot run vertex programs and mine patterns in a graph of a pool: run them in "
        "two commands");
  }
  SLIM_ASSIGN(const dkudu::ListPart lists, ListsForAll(mining));
  return WithMiningView(graph, lists);
}

// What nodes are told that do not have the files which parts name.
std::vector<std::string> WithoutFiles(std::vector<std::string> arguments, const RunState& state) {
  for (const NamedPart& named : state.parts) {
    const auto* const part = dynamic_cast<const MiningPart*>(named.part.get());
    const auto option = part == nullptr ? std::nullopt : part->Spelled();
    if (!option) continue;
    std::string words = named.words;
    const std::string assignment = option->name + "=";
    const std::size_t at = words.find(assignment + option->file);
    SLIM_CHECK(at != words.npos, "'{}' has no {}{}", words, assignment, option->file);
    words.replace(at + assignment.size(), option->file.size(), option->instead);
    std::replace(arguments.begin(), arguments.end(), named.words, words);
  }
  return arguments;
}

Status RunMiningParts(JobRun& run, RunState& state, std::deque<PartRun>& runs) {
  std::vector<MiningStep> steps;
  std::vector<JobRun*> of_steps;
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    auto* const part = dynamic_cast<MiningPart*>(state.parts[i].part.get());
    if (part == nullptr) continue;
    SLIM_ASSIGN(steps.emplace_back(), part->Step(runs[i].run));
    of_steps.push_back(&runs[i].run);
  }
  if (steps.empty()) return {};
  std::vector<MiningPart*> parts = MiningPartsOf(state);
  SLIM_ASSIGN(const dkudu::ListPart lists, ListsForAll(parts));
  MiningCommandOptions options;
  options.job = state.vertex.job;
  options.graph = state.vertex.graph;
  options.edges = state.vertex.cache.edges;
  const Traffic before = run.load_traffic;
  SLIM_TRY(RunMiningSteps(run, options, lists, steps, of_steps));
  run.load_traffic.Add(before);
  return {};
}

Status RunParts(JobRun& run, RunState& state) {
  std::deque<PartRun> runs;
  for (std::size_t i = 0; i < state.parts.size(); ++i) runs.emplace_back(run);
  run.run_traffic.emplace(run.cluster.topology().nodes());
  SLIM_TRY(RunVertexParts(run, state, runs));
  SLIM_TRY(RunMiningParts(run, state, runs));
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    AddResult(state.parts[i], i, runs[i], run);
  }
  return {};
}

}  // namespace

Command RunSeveralCommand() {
  const auto state = std::make_shared<RunState>();
  state->vertex.graph.may_stand = true;
  const auto declare = [state](Options& options) {
    DeclareGraph(options, state->vertex.graph);
    options.Positionals("WHAT",
                        "commands on graphs, with their options: pagerank bfs:source=1 "
                        "local:clustering,output=c.csv cliques:k=4 bc:sources=1,2,3",
                        state->words);
    DeclareListAccess(options, state->vertex.cache.edges, state->vertex.job);
    options.Flag("--verify", "compare the results of vertex programs with serial computations",
                 state->vertex.verify);
    DeclareJobOptions(options, state->vertex.job);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status parts = AddParts(*state); !parts) return PrintError(parts.error());
    const Status graph = ResolveGraph(state->vertex.graph);
    if (!graph) return PrintError(graph.error());
    std::vector<std::string> words = arguments;
    if (state->vertex.graph.standing) {
      auto standing = ToAttach(*state);
      if (!standing) return PrintError(standing.error());
      state->vertex.job.standing = *std::move(standing);
      words = WithoutFiles(std::move(words), *state);
    }
    return RunJob("run", state->vertex.job, words,
                  [state](JobRun& job_run) { return RunParts(job_run, *state); });
  };
  return {"run", "several commands on one graph, which is loaded once", declare, run};
}

}  // namespace slimgraph
