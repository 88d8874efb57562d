#include "experiment/experiment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "experiment/graphs.h"
#include "experiment/machine.h"
#include "experiment/page/page.h"
#include "experiment/verify.h"
#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/units.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph::experiment {
namespace {

Status WriteFile(const std::string& path, const std::string& text) {
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(text))));
  return file.Commit();
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Result<std::string> ThisProgram() {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return EnvironmentError("cannot find this program's file: {}", failed.message());
  return path.string();
}

// If control groups cannot be made, the reason is added to `warnings`.
Settings MakeSettings(const ExperimentOptions& options, std::vector<Graph> graphs,
                      std::vector<std::string>& warnings) {
  Settings settings;
  settings.graphs = std::move(graphs);
  settings.small = options.small;
  settings.nodes = options.nodes;
  settings.threads = options.threads;
  settings.network = options.network;
  settings.transport = options.transport;
  settings.node_memory = options.node_memory;
  settings.processors = options.launcher.empty() ? Processors() : 0;
  if (!options.launcher.empty() || !options.shares) return settings;
  const auto tried = NodeGroups::Make(1, {.cpu_percent = 50, .memory_bytes = options.node_memory});
  settings.limited = tried.has_value();
  if (!tried) {
    settings.node_memory = 0;
    warnings.push_back(tried.error().message + "; nodes run without limits");
  }
  return settings;
}

Result<std::vector<Study>> MakeStudies(const std::string& name, const Settings& settings) {
  std::vector<Study> studies;
  std::string names;
  for (const StudyKind& kind : AllStudies()) {
    names += std::string(kind.name) + ", ";
    if (name == kind.name || name == "all") studies.push_back(kind.make(settings));
  }
  if (studies.empty()) {
    return UsageError("there is no experiment '{}'; there are {}and all", name, names);
  }
  return studies;
}

// Failures that differ only in numbers, such as the node's, are reported once.
std::string WithoutNumbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// The section of the page about one study.
Section MakeSection(const Study& study, const Results& results) {
  Section section{study.name, study.title, study.question, study.notes, {}, {}, {}, {}};
  section.verified = VerifiedInWords(study, results);
  for (Figure& figure : study.figures(results)) {
    if (!figure.empty()) section.figures.push_back(std::move(figure));
  }
  std::set<std::string> reported;
  std::size_t not_reached = 0;
  for (const PointGroup& group : study.groups) {
    for (const Point& point : group.points) {
      const std::string line = point.line();
      const bool unsure = results.rounds(line) > 0 && !results.verified(line);
      section.commands.push_back(point.command() + (unsure ? "  # not verified" : ""));
      const auto failed = results.failures().find(line);
      if (failed != results.failures().end()) {
        if (reported.insert(WithoutNumbers(failed->second)).second) {
          section.missing.push_back(
              fmt::format("{}, {}: {}", group.name, point.label, failed->second));
        }
      } else if (results.rounds(line) == 0) {
        ++not_reached;
      }
    }
  }
  if (not_reached > 0) {
    section.missing.push_back(fmt::format(
        "{} point{}, because the budget was spent; the same command with a larger --budget "
        "measures the rest",
        not_reached, not_reached == 1 ? "" : "s"));
  }
  return section;
}

void SetFigure(Report& report, const std::string& path, const Figure& figure) {
  report.Set(path + "/title", figure.title);
  report.Set(path + "/answer", figure.answer);
  for (std::size_t s = 0; s < figure.plot.series.size(); ++s) {
    const Series& series = figure.plot.series[s];
    const std::string under = fmt::format("{}/series/{}", path, s);
    std::vector<double> x, median, low, high;
    std::vector<std::uint64_t> runs;
    for (const Mark& mark : series.marks) {
      x.push_back(mark.x);
      median.push_back(mark.y.median);
      low.push_back(mark.y.low);
      high.push_back(mark.y.high);
      runs.push_back(mark.y.samples);
    }
    report.Set(under + "/name", series.name);
    report.Set(under + "/x", x);
    report.Set(under + "/median", median);
    report.Set(under + "/low", low);
    report.Set(under + "/high", high);
    report.Set(under + "/runs", runs);
  }
}

std::string FileName(std::string title) {
  for (char& c : title) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!kept) c = '-';
  }
  const auto twice = [](char a, char b) { return a == '-' && b == '-'; };
  title.erase(std::unique(title.begin(), title.end(), twice), title.end());
  if (title.ends_with('-')) title.pop_back();
  return title;
}

// Writes one file for each figure into a folder of its own.
Status WriteFigures(const std::string& folder, const std::string& ending,
                    const std::vector<Section>& sections, std::string (*form)(const Figure&)) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return EnvironmentError("cannot make {}: {}", folder, failed.message());
  for (const Section& section : sections) {
    for (const Figure& figure : section.figures) {
      SLIM_TRY(WriteFile(
          fmt::format("{}/{}-{}.{}", folder, section.name, FileName(figure.title), ending),
          form(figure)));
    }
  }
  return {};
}

std::string DescribeEnd(const RunTotals& totals) {
  constexpr const char* kWhy[] = {"all medians are tight, or all rounds are done",
                                  "the budget is spent", "it was stopped"};
  std::string text = fmt::format(
      "{} of {} points were measured, in {} runs over {}; {}.", totals.measured, totals.points,
      totals.runs, FormatSeconds(totals.spent_s), kWhy[static_cast<std::size_t>(totals.end)]);
  if (totals.earlier > 0) text += fmt::format(" {} runs are from earlier.", totals.earlier);
  if (totals.left_out > 0) {
    text += fmt::format(" {} earlier runs of another build or on other graphs are left out.",
                        totals.left_out);
  }
  return text;
}

void Fill(Outcome& outcome, const std::vector<Section>& sections) {
  Report& report = outcome.summary;
  const RunTotals& totals = outcome.totals;
  report.Set("/result/points", std::uint64_t{totals.points});
  report.Set("/result/measured", std::uint64_t{totals.measured});
  report.Set("/result/runs", std::uint64_t{totals.runs});
  report.Set("/result/page", outcome.page);
  report.Set("/time/run_s", totals.spent_s);
  for (const Section& section : sections) {
    for (std::size_t i = 0; i < section.figures.size(); ++i) {
      const Figure& figure = section.figures[i];
      outcome.answers.push_back(
          fmt::format("{}, {}: {}", section.name, figure.title, figure.answer));
      SetFigure(report, fmt::format("/result/studies/{}/figures/{}", section.name, i), figure);
    }
    for (const std::string& missing : section.missing) {
      outcome.warnings.push_back(section.name + ": not measured: " + missing);
    }
  }
}

}  // namespace

Result<Outcome> RunExperiment(const ExperimentOptions& options, const std::string& command_line) {
  Outcome outcome;
  SLIM_ASSIGN(const std::string program, ThisProgram());
  SLIM_TRY(MakeStudies(options.name, {}));  // check the name before anything is made
  std::vector<std::string> files = options.graphs;
  if (files.empty()) {
    SLIM_ASSIGN(files.emplace_back(), MakeGraph(options.folder, options.small, program));
  }
  SLIM_ASSIGN(std::vector<Graph> graphs, InspectGraphs(files, program));
  const bool updates = options.name == "updates" || options.name == "all";
  for (std::size_t i = 0; updates && i < graphs.size(); ++i) {
    auto store = MakeStore(options.folder, graphs[i], program);
    if (store) {
      graphs[i].store = std::move(*store);
    } else {
      outcome.warnings.push_back("updates: not measured: " + store.error().message);
    }
  }
  Settings settings = MakeSettings(options, std::move(graphs), outcome.warnings);
  settings.plain_program = options.plain_program;
  if (settings.plain_program.empty()) {
    settings.plain_program = std::filesystem::path(program).parent_path() / "plain/slimgraph";
  }
  settings.plain_build = BuildStamp(settings.plain_program).value_or("");
  SLIM_ASSIGN(const std::vector<Study> studies, MakeStudies(options.name, settings));
  SLIM_ASSIGN(const std::string build, BuildStamp(program));
  SLIM_ASSIGN(outcome.totals, RunStudies(studies, {.folder = options.folder,
                                                   .budget_s = options.budget_s,
                                                   .rounds = options.rounds,
                                                   .program = program,
                                                   .launcher = Words(options.launcher),
                                                   .build = build}));
  std::vector<Section> sections;
  for (const Study& study : studies) {
    sections.push_back(MakeSection(study, outcome.totals.results.at(study.name)));
  }
  outcome.page = options.folder + "/index.html";
  Fill(outcome, sections);
  Page page;
  page.title = "SlimGraph, measured" + (studies.size() == 1 ? ": " + studies[0].name : "");
  page.summary = {DescribeEnd(outcome.totals),
                  "Plots show medians, each with the range that contains the true median with a "
                  "probability of 0.9 (with fewer than five runs: the range of all). Ratios are of "
                  "runs that followed each other."};
  page.facts = MachineFacts();
  page.facts.emplace_back("command", command_line);
  for (const Graph& graph : settings.graphs) {
    page.facts.emplace_back("graph " + graph.name,
                            fmt::format("{}, {} edges", graph.path,
                                        FormatCount(static_cast<std::uint64_t>(graph.edges))));
  }
  page.sections = std::move(sections);
  SLIM_TRY(WriteFile(outcome.page, ToHtml(page)));
  SLIM_TRY(WriteFile(options.folder + "/summary.json", ToJson(outcome.summary) + "\n"));
  SLIM_TRY(WriteFigures(options.folder + "/svg", "svg", page.sections, ToSvgFile));
  if (options.csv) SLIM_TRY(WriteFigures(options.folder + "/csv", "csv", page.sections, ToCsv));
  return outcome;
}

}  // namespace slimgraph::experiment
