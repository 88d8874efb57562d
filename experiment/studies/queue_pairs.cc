// One-sided transactions over verbs, by the number of queue pairs to each node. Many queue pairs
// emulate a larger cluster, whose state may not fit into an adapter's caches.
#include <fmt/format.h>

#include <array>

#include "experiment/studies/studies.h"
#include "experiment/studies/transactions.h"

namespace slimgraph::experiment {
namespace {

constexpr std::array<int, 5> kPerPeer = {1, 4, 16, 64, 256};

std::vector<Point> QueuePairPoints(Settings settings, const char* protocol) {
  settings.transport = "verbs";
  settings.network = "none";  // verbs is a real network
  std::vector<Point> points;
  for (const int count : kPerPeer) {
    const std::string number = std::to_string(count);
    points.push_back(Labelled(
        TxnPoint(settings, "run", "smallbank", protocol, {"--qps-per-peer", number}), number));
  }
  return points;
}

}  // namespace

Study QueuePairs(const Settings& asked) {
  const Settings settings = TxnSettings(asked);
  const auto figures = [settings](const Results& results) {
    Plot plot;
    plot.kind = PlotKind::kLines;
    plot.x_title = "queue pairs to each node";
    plot.y_title = "thousand transactions per second";
    plot.log_x = true;
    std::vector<double> ratios;
    for (std::size_t p = 0; p < kProtocols.size(); ++p) {
      const auto points = QueuePairPoints(settings, kProtocols[p]);
      Series series{kProtocols[p], {}, p};
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto spread = results.Of(points[i], "/result/throughput_per_s", 1e-3);
        if (spread) series.marks.push_back({static_cast<double>(kPerPeer[i]), *spread, ""});
      }
      const auto ratio = results.Ratio(points.back(), points.front(), "/result/throughput_per_s");
      if (ratio) ratios.push_back(ratio->median);
      plot.series.push_back(std::move(series));
    }
    std::string answer = "Not enough was measured to tell.";
    if (!ratios.empty()) {
      answer = fmt::format(
          "{} queue pairs to each node bring {} times the throughput of one "
          "(median of {} protocols).",
          kPerPeer.back(), Number(SpreadOf(ratios).median), ratios.size());
    }
    return std::vector<Figure>{{"one-sided: throughput", answer, std::move(plot)}};
  };
  Study study{"queue-pairs",
              "Queue pairs: the adapter's caches",
              "What becomes of throughput when an adapter has as many queue pairs to keep as in a "
              "larger cluster?",
              {"smallbank, all stages one-sided, over --transport verbs: this needs an RDMA device "
               "on the machine."},
              {},
              figures};
  for (const char* const protocol : kProtocols) {
    study.groups.push_back(
        {protocol, QueuePairPoints(settings, protocol), "/result/throughput_per_s"});
  }
  return study;
}

}  // namespace slimgraph::experiment
