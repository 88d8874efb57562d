// Doubles both the nodes and the compute nodes: the same job on (2,1), (4,2) and (8,4).
#include <fmt/format.h>

#include <array>

#include "experiment/studies/studies.h"
#include "experiment/studies/support.h"

namespace slimgraph::experiment {
namespace {

constexpr std::array<NodeId, 3> kNodes = {2, 4, 8};

std::vector<Point> ScalabilityPoints(const Settings& settings, const Graph& graph,
                                     std::size_t job) {
  std::vector<Point> points;
  for (const NodeId nodes : kNodes) {
    std::vector<std::string> words = AllJobs()[job].words(graph);
    if (job < VertexJobs().size()) words.insert(words.end(), {"--repeat", "3"});
    points.push_back(GraphPoint(settings, graph, words, {nodes, nodes / 2, kNodes.back()}));
  }
  return points;
}

std::vector<Figure> ScalabilityFigures(const Settings& settings, const Results& results) {
  std::vector<Figure> figures;
  std::vector<std::string> jobs;
  for (const GraphJob& job : AllJobs()) jobs.emplace_back(job.name);
  for (const Graph& graph : settings.graphs) {
    Plot plot = Bars(jobs, {"(4,2)", "(8,4)"}, [&](std::size_t job, std::size_t s) {
      const auto points = ScalabilityPoints(settings, graph, job);
      return results.Ratio(points[0], points[s + 1], "/time/run_s");
    });
    plot.y_title = "times as fast as (2,1)";
    plot.references = {{"as many times the nodes", 2, 2, {}, 0},
                       {"as many times the nodes", 4, 4, {}, 1}};
    std::string answer = "Not enough was measured to tell.";
    if (const auto all = OverMarks(plot, 1)) {
      answer = fmt::format(
          "Four times the nodes make jobs {:.2f} times as fast (median of {} applications, "
          "{:.2f} to {:.2f}).",
          all->median, plot.series[1].marks.size(), all->low, all->high);
    }
    figures.push_back({graph.name + ": speed-up", answer, std::move(plot)});
  }
  return figures;
}

}  // namespace

Study Scalability(const Settings& settings) {
  Study study{"scalability",
              "Scalability: more nodes",
              "How much faster is a job on more nodes, half of which compute?",
              {Emulation(settings, kNodes.back())},
              {},
              [settings](const Results& results) { return ScalabilityFigures(settings, results); }};
  study.groups = GroupsOfAllJobs(settings, [&](const Graph& graph, std::size_t job) {
    return ScalabilityPoints(settings, graph, job);
  });
  return study;
}

}  // namespace slimgraph::experiment
