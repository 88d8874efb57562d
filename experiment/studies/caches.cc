// The benefit of each cache for vertex programs, and how it depends on the edge cache's size.
#include <fmt/format.h>

#include <array>

#include "experiment/studies/studies.h"
#include "experiment/studies/support.h"

namespace slimgraph::experiment {
namespace {

constexpr std::array<const char*, 4> kLevels = {"none", "bitmap", "index", "edge"};
constexpr std::array<int, 6> kBudgets = {100, 75, 50, 25, 10, 0};  // percent; first the baseline

// The dissertation's speed-ups against runs without a cache (figure 3.14).
struct PaperRange {
  double low;
  double high;
};
constexpr std::array<PaperRange, 3> kPaper = {{{1.24, 2.37}, {1.91, 4.62}, {34, 177}}};

JobShape HalfCompute(const Settings& settings) {
  return {settings.nodes, std::max<NodeId>(1, settings.nodes / 2), settings.nodes};
}

std::vector<Point> Levels(const Settings& settings, const Graph& graph, const GraphJob& job) {
  std::vector<Point> points;
  for (const char* const level : kLevels) {
    std::vector<std::string> words = job.words(graph);
    words.insert(words.end(), {"--cache", level, "--repeat", "3"});
    points.push_back(Labelled(GraphPoint(settings, graph, words, HalfCompute(settings)), level));
  }
  return points;
}

std::vector<Point> Budgets(const Settings& settings, const Graph& graph, const GraphJob& job) {
  std::vector<Point> points;
  for (const int percent : kBudgets) {
    const std::string budget = fmt::format("{}%", percent);
    std::vector<std::string> words = job.words(graph);
    words.insert(words.end(), {"--edge-cache", budget, "--repeat", "3"});
    points.push_back(Labelled(GraphPoint(settings, graph, words, HalfCompute(settings)), budget));
  }
  return points;
}

// The number of programs for which each level is at least as fast as the one before.
std::size_t Monotone(const Plot& plot) {
  std::size_t monotone = 0;
  for (std::size_t c = 0; c < plot.categories.size(); ++c) {
    double last = 1;
    bool rises = true;
    for (const Series& series : plot.series) {
      for (const Mark& mark : series.marks) {
        if (static_cast<std::size_t>(mark.x) != c) continue;
        rises = rises && mark.y.high >= last;
        last = mark.y.median;
      }
    }
    monotone += rises;
  }
  return monotone;
}

Figure LevelsFigure(const Settings& settings, const Graph& graph, const Results& results) {
  std::vector<std::string> jobs;
  for (const GraphJob& job : VertexJobs()) jobs.emplace_back(job.name);
  Plot plot = Bars(jobs, {"bitmap", "index", "edge"}, [&](std::size_t job, std::size_t s) {
    const auto points = Levels(settings, graph, VertexJobs()[job]);
    return results.Ratio(points[0], points[s + 1], "/time/run_s");
  });
  plot.y_title = "times as fast as without caches";
  plot.log_y = true;
  for (std::size_t s = 0; s < kPaper.size(); ++s) {
    plot.references.push_back({"the dissertation's range, of its own lists and caches",
                               kPaper[s].low,
                               kPaper[s].high,
                               {},
                               s});
  }
  std::string answer = "Not enough was measured to tell.";
  if (const auto all = OverMarks(plot, 2)) {
    answer = fmt::format(
        "All caches make vertex programs {} times as fast ({} to {}); each level is no slower than "
        "the one below, within the spread, for {} of {}.",
        Number(all->median), Number(all->low), Number(all->high), Monotone(plot), jobs.size());
  }
  return {graph.name + ": levels of caches", answer, std::move(plot)};
}

Figure BudgetsFigure(const Settings& settings, const Graph& graph, const Results& results,
                     const char* path, const std::string& title, const std::string& y_title,
                     double factor) {
  Plot plot;
  plot.kind = PlotKind::kLines;
  plot.x_title = "room for edges of memory nodes, % of what they take";
  plot.y_title = y_title;
  std::vector<double> worst;
  for (std::size_t job = 0; job < VertexJobs().size(); ++job) {
    const auto points = Budgets(settings, graph, VertexJobs()[job]);
    Series series{VertexJobs()[job].name, {}, job};
    for (std::size_t i = points.size(); i-- > 0;) {
      const auto spread = results.Of(points[i], path, factor);
      if (spread) series.marks.push_back({static_cast<double>(kBudgets[i]), *spread, ""});
    }
    const auto ratio = results.Ratio(points.back(), points.front(), path);
    if (ratio) worst.push_back(ratio->median);
    plot.series.push_back(std::move(series));
  }
  std::string answer = "Not enough was measured to tell.";
  if (!worst.empty()) {
    answer = fmt::format(
        "Without room for edges, {} is {} times that with room for all "
        "(median of {} applications).",
        title, Number(SpreadOf(worst).median), worst.size());
  } else if (!plot.series.empty()) {
    answer = fmt::format("No ratio can be given: with room for all edges, {} is zero.", title);
  }
  return {graph.name + ": the edge cache's room and the " + title, answer, std::move(plot)};
}

}  // namespace

Study Caches(const Settings& settings) {
  const auto figures = [settings](const Results& results) {
    std::vector<Figure> all;
    for (const Graph& graph : settings.graphs) {
      all.push_back(LevelsFigure(settings, graph, results));
      all.push_back(
          BudgetsFigure(settings, graph, results, "/time/run_s", "time", "milliseconds", 1e3));
      all.push_back(BudgetsFigure(settings, graph, results, "/traffic/bytes", "traffic",
                                  "MB between nodes", 1e-6));
    }
    return all;
  };
  Study study{"caches",
              "Caches: what is kept of far memory",
              "How much faster do vertex programs become by each cache, and how large must the "
              "edge cache be?",
              {Emulation(settings, settings.nodes),
               fmt::format("Half of {} nodes compute. Programs compute three times in a run, and "
                           "the median is shown: the edge cache is warm by then.",
                           settings.nodes)},
              {},
              figures};
  for (const Graph& graph : settings.graphs) {
    for (const GraphJob& job : VertexJobs()) {
      const std::string name = fmt::format("{} on {}", job.name, graph.name);
      study.groups.push_back({name, Levels(settings, graph, job), "/time/run_s"});
      study.groups.push_back({name, Budgets(settings, graph, job), "/time/run_s"});
    }
  }
  return study;
}

}  // namespace slimgraph::experiment
