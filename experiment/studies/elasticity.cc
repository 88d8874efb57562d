// The cost of fewer compute nodes: all applications at (N, C) for C = N … 1.
#include <fmt/format.h>

#include "experiment/studies/studies.h"
#include "experiment/studies/support.h"

namespace slimgraph::experiment {
namespace {

// The dissertation's largest slowdown of a vertex program from (4,4) to (4,2).
constexpr double kPaperWorst = 8.3;

// grid[job][N - C]
PointGrid ElasticityPoints(const Settings& settings, const Graph& graph) {
  PointGrid grid;
  for (const GraphJob& job : AllJobs()) {
    auto& row = grid.emplace_back();
    for (NodeId compute = settings.nodes; compute >= 1; --compute) {
      std::vector<std::string> words = job.words(graph);
      // Repeated runs start with warm caches, as they do for an iterating user.
      if (grid.size() <= VertexJobs().size()) words.insert(words.end(), {"--repeat", "3"});
      row.push_back(GraphPoint(settings, graph, words, {settings.nodes, compute, settings.nodes}));
    }
  }
  return grid;
}

std::string Answer(const Settings& settings, const Plot& slowdown) {
  std::string text =
      fmt::format("Against N/C times the time of {},", Pair(settings.nodes, settings.nodes));
  bool any = false;
  for (std::size_t s = slowdown.series.size(); s-- > 0;) {
    const auto all = OverMarks(slowdown, s);
    if (!all) continue;
    const NodeId compute = settings.nodes - 1 - static_cast<NodeId>(s);
    const double ideal = static_cast<double>(settings.nodes) / compute;
    text += fmt::format("{} {} takes {:.2f} x ({:.2f} to {:.2f} over {} applications)",
                        any ? ";" : "", slowdown.series[s].name, all->median / ideal,
                        all->low / ideal, all->high / ideal, slowdown.series[s].marks.size());
    any = true;
  }
  return any ? text + "." : "Not enough was measured to tell.";
}

std::string Growth(const Plot& plot, const char* what, const Settings& settings) {
  const auto whole = plot.series.front().marks;
  const auto& last = plot.series.back().marks;
  std::vector<double> ratios;
  for (const Mark& mark : last) {
    for (const Mark& base : whole) {
      if (base.x == mark.x && base.y.median > 0) ratios.push_back(mark.y.median / base.y.median);
    }
  }
  if (ratios.empty()) return "Not enough was measured to tell.";
  const Spread spread = SpreadOf(ratios);
  return fmt::format(
      "One compute node of {} takes {} times {} of all {} (median of {} "
      "applications).",
      settings.nodes, Number(spread.median), what, settings.nodes, ratios.size());
}

std::vector<Figure> ElasticityFigures(const Settings& settings, const Results& results) {
  std::vector<std::string> jobs;
  for (const GraphJob& job : AllJobs()) jobs.emplace_back(job.name);
  std::vector<std::string> pairs;
  for (NodeId compute = settings.nodes; compute >= 1; --compute) {
    pairs.push_back(Pair(settings.nodes, compute));
  }
  const std::vector<std::string> fewer(pairs.begin() + 1, pairs.end());
  std::vector<Figure> figures;
  for (const Graph& graph : settings.graphs) {
    const PointGrid grid = ElasticityPoints(settings, graph);
    Plot slowdown = Bars(jobs, fewer, [&](std::size_t job, std::size_t s) {
      return results.Ratio(grid[job][s + 1], grid[job][0], "/time/run_s");
    });
    for (Series& series : slowdown.series) ++series.style;
    slowdown.y_title = "time over " + pairs[0];
    for (std::size_t s = 0; s < fewer.size(); ++s) {
      const double ideal =
          static_cast<double>(settings.nodes) / (settings.nodes - 1.0 - static_cast<double>(s));
      slowdown.references.push_back({"N/C", ideal, ideal, {}, s});
      for (std::size_t job = 0; fewer[s] == Pair(4, 2) && job < VertexJobs().size(); ++job) {
        slowdown.references.push_back({"the dissertation's worst at (4,2), of its own lists",
                                       kPaperWorst, kPaperWorst, static_cast<double>(job), s});
      }
    }
    const std::string answer = Answer(settings, slowdown);
    figures.push_back({graph.name + ": time", answer, std::move(slowdown)});

    struct Other {
      const char* title;
      const char* what;
      const char* y_title;
      const char* path;
      double factor;
    };
    for (const Other& other :
         {Other{"seconds", "the time", "seconds", "/time/run_s", 1},
          {"bytes that cross between nodes", "the bytes", "MB", "/traffic/bytes", 1e-6},
          {"largest memory of a node", "the memory", "MB", "/memory/peak_bytes", 1e-6},
          {"processor time of all nodes, with loading", "the processor time", "seconds", "/cpu_s",
           1}}) {
      Plot plot = Bars(jobs, pairs, [&](std::size_t job, std::size_t s) {
        return results.Of(grid[job][s], other.path, other.factor);
      });
      plot.y_title = other.y_title;
      plot.log_y = true;
      const std::string growth = Growth(plot, other.what, settings);
      figures.push_back({graph.name + ": " + other.title, growth, std::move(plot)});
    }
  }
  return figures;
}

}  // namespace

Study Elasticity(const Settings& settings) {
  Study study{"elasticity",
              "Elasticity: fewer compute nodes",
              fmt::format("How much longer does a job take on C of {} nodes than on all of them, "
                          "and what else does it take?",
                          settings.nodes),
              {Emulation(settings, settings.nodes),
               "Vertex programs compute three times in a run, and the median is shown: caches are "
               "warm by then. Mining computes once."},
              {},
              [settings](const Results& results) { return ElasticityFigures(settings, results); }};
  study.groups = GroupsOfAllJobs(settings, [&](const Graph& graph, std::size_t job) {
    return ElasticityPoints(settings, graph)[job];
  });
  return study;
}

}  // namespace slimgraph::experiment
