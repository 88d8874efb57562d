#include "experiment/studies/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/page/axis.h"
#include "slimgraph/base/units.h"

namespace slimgraph::experiment {

const std::vector<GraphJob>& VertexJobs() {
  using Words = std::vector<std::string>;
  static const std::vector<GraphJob> jobs = {
      {"bfs",
       [](const Graph& g) {
         return Words{"bfs", g.path, "--source", g.source};
       }},
      {"sssp",
       [](const Graph& g) {
         return Words{"sssp", g.path, "--source", g.source};
       }},
      {"pagerank",
       [](const Graph& g) {
         return Words{"pagerank", g.path, "--iterations", "10"};
       }},
      {"cc",
       [](const Graph& g) {
         return Words{"cc", g.path};
       }},
      {"bc", [](const Graph& g) {
         return Words{"bc", g.path, "--sources", g.source};
       }}};
  return jobs;
}

const std::vector<GraphJob>& MiningJobs() {
  using Words = std::vector<std::string>;
  static const std::vector<GraphJob> jobs = {{"triangles",
                                              [](const Graph& g) {
                                                return Words{"triangles", g.path};
                                              }},
                                             {"3-motifs",
                                              [](const Graph& g) {
                                                return Words{"motifs", g.path, "-k", "3"};
                                              }},
                                             {"4-cliques", [](const Graph& g) {
                                                return Words{"cliques", g.path, "-k", "4"};
                                              }}};
  return jobs;
}

std::vector<GraphJob> AllJobs() {
  std::vector<GraphJob> jobs = VertexJobs();
  jobs.insert(jobs.end(), MiningJobs().begin(), MiningJobs().end());
  return jobs;
}

std::vector<PointGroup> GroupsOfAllJobs(const Settings& settings, const PointsOf& points) {
  const std::vector<GraphJob> jobs = AllJobs();
  std::vector<PointGroup> groups;
  for (const Graph& graph : settings.graphs) {
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      groups.push_back(
          {fmt::format("{} on {}", jobs[job].name, graph.name), points(graph, job), "/time/run_s"});
    }
  }
  return groups;
}

std::string Pair(NodeId nodes, NodeId compute) { return fmt::format("({},{})", nodes, compute); }

std::uint32_t CpuShare(const Settings& settings, NodeId most_nodes) {
  if (!settings.limited || settings.processors >= most_nodes * settings.threads) return 0;
  return static_cast<std::uint32_t>(100 * settings.processors / most_nodes);
}

std::string Emulation(const Settings& settings, NodeId most_nodes) {
  std::string text = fmt::format("Nodes are processes of {} thread{} on one machine",
                                 settings.threads, settings.threads == 1 ? "" : "s");
  if (settings.processors == 0) text = "Nodes are those of the launcher";
  const std::uint32_t share = CpuShare(settings, most_nodes);
  if (share != 0) {
    text += fmt::format(", each held to {} % of a processor by control groups", share);
  } else if (settings.processors > 0 && settings.processors < most_nodes * settings.threads) {
    text += fmt::format(
        ", which share its processors without limits, because control groups cannot be used: up "
        "to {} processes have {} processors, so fewer compute nodes look better than they are",
        most_nodes, settings.processors);
  }
  text += settings.network == "none" ? "; no network is emulated between them"
                                     : "; transfers between them take as long as over " +
                                           settings.network + " (--network)";
  if (settings.node_memory != 0) {
    text += "; each may hold " + FormatBytes(settings.node_memory);
  }
  return text + ".";
}

Point JobPoint(const Settings& settings, std::vector<std::string> words, const JobShape& shape) {
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  add("--nodes", std::to_string(shape.nodes));
  add("--compute", std::to_string(shape.compute));
  if (settings.threads != 1) add("--threads", std::to_string(settings.threads));
  if (!settings.transport.empty()) add("--transport", settings.transport);
  if (settings.network != "none") add("--network", settings.network);
  if (const auto share = CpuShare(settings, shape.most_nodes)) {
    add("--cpu-share", std::to_string(share));
  }
  if (settings.node_memory != 0) add("--node-memory", std::to_string(settings.node_memory));
  return {Pair(shape.nodes, shape.compute), std::move(words), shape.nodes};
}

Point GraphPoint(const Settings& settings, const Graph& graph, std::vector<std::string> words,
                 const JobShape& shape) {
  Point point = JobPoint(settings, std::move(words), shape);
  point.inputs = graph.stamp;
  return point;
}

Point Labelled(Point point, std::string label) {
  point.label = std::move(label);
  return point;
}

Plot Bars(const std::vector<std::string>& categories, const std::vector<std::string>& series,
          const std::function<std::optional<Spread>(std::size_t, std::size_t)>& of) {
  Plot plot;
  plot.categories = categories;
  for (std::size_t s = 0; s < series.size(); ++s) {
    Series& one = plot.series.emplace_back(Series{series[s], {}, s});
    for (std::size_t c = 0; c < categories.size(); ++c) {
      if (const auto spread = of(c, s)) one.marks.push_back({static_cast<double>(c), *spread, ""});
    }
  }
  return plot;
}

std::optional<Spread> OverMarks(const Plot& plot, std::size_t series) {
  std::vector<double> medians;
  for (const Mark& mark : plot.series.at(series).marks) medians.push_back(mark.y.median);
  if (medians.empty()) return std::nullopt;
  Spread spread = SpreadOf(medians);
  spread.low = *std::min_element(medians.begin(), medians.end());
  spread.high = *std::max_element(medians.begin(), medians.end());
  return spread;
}

std::string Number(double value) { return ShortNumber(value); }

}  // namespace slimgraph::experiment
