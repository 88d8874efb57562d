// Transactions that change a graph while analytics run on snapshots of it.
#include <fmt/format.h>

#include <array>

#include "experiment/studies/studies.h"
#include "experiment/studies/transactions.h"

namespace slimgraph::experiment {
namespace {

constexpr const char* kUpdateWorkload = "linkbench";
constexpr std::array<const char*, 2> kAnalytics = {"pagerank", "triangles"};
constexpr const char* kList = "pagerank,triangles";  // kAnalytics, joined

enum class Mode : bool { kAlone, kBesideAnalytics };

Point PointFor(const Settings& settings, const Graph& graph, const char* protocol, Mode mode) {
  std::vector<std::string> words = {
      "txn",    "run",     "--workload", kUpdateWorkload, "--protocol",
      protocol, "--store", graph.store,  "--seconds",     settings.small ? "0.3" : "1"};
  if (mode == Mode::kBesideAnalytics) {
    words.insert(words.end(), {"--analytics", kList});
  }
  Point point = GraphPoint(settings, graph, words, {kTxnNodes, kTxnNodes, kTxnNodes});
  return Labelled(std::move(point),
                  std::string(protocol) + (mode == Mode::kAlone ? " alone" : " beside analytics"));
}

Point Alone(const Settings& settings, const Graph& graph, std::size_t analytics) {
  Point point = GraphPoint(settings, graph, {kAnalytics[analytics], graph.path},
                           {kTxnNodes, kTxnNodes, kTxnNodes});
  return Labelled(std::move(point), std::string(kAnalytics[analytics]) + " alone");
}

std::vector<std::string> Protocols() { return {kProtocols.begin(), kProtocols.end()}; }

Figure Throughput(const Settings& settings, const Results& results, const Graph& graph) {
  Plot plot = Bars(Protocols(), {"alone", "beside analytics"}, [&](std::size_t p, std::size_t s) {
    return results.Of(PointFor(settings, graph, kProtocols[p], static_cast<Mode>(s)),
                      "/result/throughput_per_s", 1e-3);
  });
  plot.y_title = "thousand transactions per second";
  const Plot kept = Bars(Protocols(), {"kept"}, [&](std::size_t p, std::size_t) {
    return results.Ratio(PointFor(settings, graph, kProtocols[p], Mode::kBesideAnalytics),
                         PointFor(settings, graph, kProtocols[p], Mode::kAlone),
                         "/result/throughput_per_s");
  });
  std::string answer = "Not enough was measured to tell.";
  if (const auto all = OverMarks(kept, 0)) {
    answer = fmt::format(
        "Beside analytics, which take processors too, transactions keep {:.0f} % of their "
        "throughput (median of {} protocols, {:.0f} to {:.0f} %).",
        100 * all->median, kept.series[0].marks.size(), 100 * all->low, 100 * all->high);
  }
  return {graph.name + ": throughput", answer, std::move(plot)};
}

Figure Times(const Settings& settings, const Results& results, const Graph& graph) {
  std::vector<std::string> categories = Protocols();
  categories.insert(categories.begin(), "alone");
  Plot plot = Bars(categories, {kAnalytics.begin(), kAnalytics.end()},
                   [&](std::size_t category, std::size_t analytics) {
                     if (category == 0) {
                       return results.Of(Alone(settings, graph, analytics), "/time/run_s", 1e3);
                     }
                     const char* const protocol = kProtocols[category - 1];
                     return results.Of(PointFor(settings, graph, protocol, Mode::kBesideAnalytics),
                                       fmt::format("/analytics/{}/run_s", analytics), 1e3);
                   });
  plot.y_title = "milliseconds";
  std::string answer = "Not enough was measured to tell.";
  const auto& marks = plot.series[0].marks;
  if (marks.size() > 1 && marks[0].x == 0) {
    std::vector<double> ratios;
    for (std::size_t i = 1; i < marks.size(); ++i) {
      ratios.push_back(marks[i].y.median / marks[0].y.median);
    }
    answer = fmt::format(
        "{} on a snapshot, beside transactions, takes {} times as long as alone on the file "
        "(median of {} protocols).",
        kAnalytics[0], Number(SpreadOf(ratios).median), ratios.size());
  }
  return {graph.name + ": time of analytics", answer, std::move(plot)};
}

Figure Snapshots(const Settings& settings, const Results& results, const Graph& graph) {
  constexpr std::array<const char*, 2> kPaths = {"/snapshots/longest_pause_s",
                                                 "/snapshots/largest_staleness_s"};
  Plot plot = Bars(
      Protocols(), {"pause of transactions", "age of a result"}, [&](std::size_t p, std::size_t s) {
        return results.Of(PointFor(settings, graph, kProtocols[p], Mode::kBesideAnalytics),
                          kPaths[s], 1e3);
      });
  plot.y_title = "milliseconds, the longest";
  plot.log_y = true;
  std::string answer = "Not enough was measured to tell.";
  if (const auto all = OverMarks(plot, 0)) {
    answer = fmt::format(
        "For a snapshot, no transaction can begin for {} ms at the longest (median of {} "
        "protocols).",
        Number(all->median), plot.series[0].marks.size());
  }
  return {graph.name + ": snapshots", answer, std::move(plot)};
}

}  // namespace

Study Updates(const Settings& asked) {
  const Settings settings = TxnSettings(asked);
  const auto figures = [settings](const Results& results) {
    std::vector<Figure> all;
    for (const Graph& graph : settings.graphs) {
      if (graph.store.empty()) continue;
      all.push_back(Throughput(settings, results, graph));
      all.push_back(Times(settings, results, graph));
      all.push_back(Snapshots(settings, results, graph));
    }
    return all;
  };
  Study study{"updates",
              "Updates: transactions beside analytics",
              "What do transactions that change a graph and analytics on snapshots of it cost each "
              "other?",
              {Emulation(settings, kTxnNodes),
               fmt::format("The workload is {}; beside it {} run again and again, each time on a "
                           "new snapshot.",
                           kUpdateWorkload, kList),
               "Only undirected graphs have triangles; weights are left out."},
              {},
              figures};
  for (const Graph& graph : settings.graphs) {
    if (graph.store.empty()) continue;
    for (const char* const protocol : kProtocols) {
      study.groups.push_back({fmt::format("{} on {}", protocol, graph.name),
                              {PointFor(settings, graph, protocol, Mode::kAlone),
                               PointFor(settings, graph, protocol, Mode::kBesideAnalytics)},
                              "/result/throughput_per_s"});
    }
    study.groups.push_back({"analytics on " + graph.name,
                            {Alone(settings, graph, 0), Alone(settings, graph, 1)},
                            "/time/run_s"});
  }
  return study;
}

}  // namespace slimgraph::experiment
