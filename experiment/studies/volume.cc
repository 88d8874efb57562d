// The bytes that pattern mining moves per edge of the graph, by what it reuses.
#include <fmt/format.h>

#include <array>

#include "experiment/studies/studies.h"
#include "experiment/studies/support.h"

namespace slimgraph::experiment {
namespace {

constexpr std::array<const char*, 3> kReuse = {"none", "chunk", "global"};

const std::vector<GraphJob>& Jobs() {
  using Words = std::vector<std::string>;
  static const std::vector<GraphJob> jobs = {
      {"triangle",
       [](const Graph& g) {
         return Words{"match", g.path, "--pattern", "triangle", "--no-formulae"};
       }},
      {"diamond",
       [](const Graph& g) {
         return Words{"match", g.path, "--pattern", "diamond", "--no-formulae"};
       }},
      {"4-motifs", [](const Graph& g) {
         return Words{"motifs", g.path, "-k", "4"};
       }}};
  return jobs;
}

// A point for each reuse, at (N, compute).
std::vector<Point> VolumePoints(const Settings& settings, const Graph& graph, const GraphJob& job,
                                NodeId compute) {
  std::vector<Point> points;
  for (const char* const reuse : kReuse) {
    std::vector<std::string> words = job.words(graph);
    words.insert(words.end(), {"--reuse", reuse});
    Point point = GraphPoint(settings, graph, words, {settings.nodes, compute, settings.nodes});
    const std::string label = point.label + " reuse " + reuse;
    points.push_back(Labelled(std::move(point), label));
  }
  return points;
}

std::vector<NodeId> ComputeNodes(const Settings& settings) {
  return {settings.nodes, std::max<NodeId>(1, settings.nodes / 2)};
}

}  // namespace

Study Volume(const Settings& asked) {
  // The bytes are the same over any network, and runs are faster without emulation.
  Settings settings = asked;
  settings.network = "none";
  const auto figures = [settings](const Results& results) {
    std::vector<Figure> all;
    std::vector<std::string> names;
    for (const GraphJob& job : Jobs()) names.emplace_back(job.name);
    for (const Graph& graph : settings.graphs) {
      for (const NodeId compute : ComputeNodes(settings)) {
        Plot plot = Bars(names, {"no reuse", "within a chunk", "global"},
                         [&](std::size_t job, std::size_t s) {
                           const auto points = VolumePoints(settings, graph, Jobs()[job], compute);
                           return results.Of(points[s], "/traffic/bytes", 1 / graph.edges);
                         });
        plot.y_title = "bytes per edge of the graph";
        plot.log_y = true;
        std::string answer = "Not enough was measured to tell.";
        const auto without = OverMarks(plot, 0);
        const auto with = OverMarks(plot, 2);
        if (without && with) {
          answer = fmt::format(
              "With global reuse {} bytes cross for each edge, without any {} (median of {} "
              "patterns).",
              Number(with->median), Number(without->median), plot.series[2].marks.size());
        }
        all.push_back({fmt::format("{} on {}", graph.name, Pair(settings.nodes, compute)), answer,
                       std::move(plot)});
      }
    }
    return all;
  };
  Study study{"volume",
              "Volume: what mining moves",
              "How many bytes cross between nodes for each edge of the graph, depending on which "
              "lists are reused?",
              {"Headers are counted. Patterns are matched by their plans, without formulae."},
              {},
              figures};
  for (const Graph& graph : settings.graphs) {
    for (const GraphJob& job : Jobs()) {
      for (const NodeId compute : ComputeNodes(settings)) {
        study.groups.push_back({fmt::format("{} on {}", job.name, graph.name),
                                VolumePoints(settings, graph, job, compute), "/traffic/bytes"});
      }
    }
  }
  return study;
}

}  // namespace slimgraph::experiment
