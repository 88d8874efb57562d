// The overhead of supporting disaggregation when nothing is disaggregated: (N,N) against the same
// engines built without the code for memory nodes.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/studies/studies.h"
#include "experiment/studies/support.h"

namespace slimgraph::experiment {
namespace {

// The point of the plain engine, then that of the full engine.
std::vector<Point> OverallPoints(const Settings& settings, const Graph& graph, std::size_t job) {
  std::vector<std::string> words = AllJobs()[job].words(graph);
  if (job < VertexJobs().size()) words.insert(words.end(), {"--repeat", "3"});
  const JobShape all{settings.nodes, settings.nodes, settings.nodes};
  Point plain = GraphPoint(settings, graph, words, all);
  plain.program = settings.plain_program;
  plain.inputs += settings.plain_build;
  return {Labelled(std::move(plain), "plain"), GraphPoint(settings, graph, words, all)};
}

Figure TimeFigure(const Settings& settings, const Graph& graph, const Results& results) {
  std::vector<std::string> jobs;
  for (const GraphJob& job : AllJobs()) jobs.emplace_back(job.name);
  const std::string pair = Pair(settings.nodes, settings.nodes);
  Plot plot = Bars(jobs, {pair}, [&](std::size_t job, std::size_t) {
    const auto points = OverallPoints(settings, graph, job);
    return results.Ratio(points[1], points[0], "/time/run_s");
  });
  plot.y_title = "time over that of the plain engine";
  plot.references = {{"no difference", 1, 1}};
  std::string answer = "Not enough was measured to tell.";
  if (const auto all = OverMarks(plot, 0)) {
    const auto& marks = plot.series[0].marks;
    const auto alike = std::count_if(marks.begin(), marks.end(), [](const Mark& mark) {
      return mark.y.low <= 1 && 1 <= mark.y.high;
    });
    answer = fmt::format(
        "{} takes {:.3f} times as long as without delegation (median of {} applications, "
        "{:.3f} to {:.3f}); {} of them differ by no more than their spread.",
        pair, all->median, marks.size(), all->low, all->high, alike);
  }
  return {graph.name + ": time", answer, std::move(plot)};
}

}  // namespace

Study Overall(const Settings& settings) {
  const auto figures = [settings](const Results& results) {
    std::vector<Figure> all;
    for (const Graph& graph : settings.graphs) {
      all.push_back(TimeFigure(settings, graph, results));
    }
    return all;
  };
  Study study{"overall",
              "Overall: the overhead of memory-node support",
              "What does disaggregation cost when nothing is disaggregated?",
              {Emulation(settings, settings.nodes),
               "The plain engine is the same code, built by `make plain` without what works for "
               "memory nodes."},
              {},
              figures};
  study.groups = GroupsOfAllJobs(settings, [&](const Graph& graph, std::size_t job) {
    return OverallPoints(settings, graph, job);
  });
  return study;
}

}  // namespace slimgraph::experiment
