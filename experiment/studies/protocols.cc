// Six protocols in four forms of access to other nodes' tuples, on three workloads.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiment/studies/studies.h"
#include "experiment/studies/transactions.h"

namespace slimgraph::experiment {
namespace {

// The last form runs `txn choose`, which finds a stage code and runs with it.
constexpr std::array<const char*, 4> kForms = {"tcp", "rpc", "one-sided", "hybrid"};
constexpr std::size_t kRpc = 1;
constexpr std::size_t kOneSided = 2;
constexpr std::size_t kHybrid = 3;

struct Shown {
  const char* title;
  const char* y_title;
  const char* path;  // below /result; for `choose`, below /result/run
  double factor;
  bool log;
};
constexpr std::array<Shown, 4> kShown = {{
    {"throughput", "thousand transactions per second", "/throughput_per_s", 1e-3, true},
    {"latency", "microseconds, the median", "/latency_us/p50", 1, true},
    {"aborts", "% of all attempts", "/abort_rate", 100, false},
    {"round trips", "round trips per transaction", "/per_transaction/round_trips", 1, false},
}};

// Loading tpcc-neworder takes longer than a small run.
std::vector<const char*> Workloads(const Settings& settings) {
  if (settings.small) return {"smallbank", "ycsb"};
  return {"smallbank", "ycsb", "tpcc-neworder"};
}

Point PointFor(const Settings& settings, const char* workload, const char* protocol,
               std::size_t form) {
  Point point = form == kHybrid
                    ? TxnPoint(settings, "choose", workload, protocol, {})
                    : TxnPoint(settings, "run", workload, protocol, {"--stages", kForms[form]});
  point.label = std::string(protocol) + " " + kForms[form];
  return point;
}

std::string PathOf(std::size_t form, const char* path) {
  return (form == kHybrid ? std::string("/result/run") : std::string("/result")) + path;
}

std::string Best(const Plot& plot, bool most) {
  const Mark* best = nullptr;
  std::string form;
  for (const Series& series : plot.series) {
    for (const Mark& mark : series.marks) {
      if (best != nullptr && (mark.y.median > best->y.median) != most) continue;
      best = &mark;
      form = series.name;
    }
  }
  if (best == nullptr) return "Not enough was measured to tell.";
  return fmt::format("The {} is that of {}, {}: {}.", most ? "most" : "least",
                     plot.categories.at(static_cast<std::size_t>(best->x)), form,
                     Number(best->y.median));
}

// The throughput of the best mix of stages, relative to the better of the two pure forms.
Figure HybridFigure(const Settings& settings, const Results& results, const char* workload) {
  const auto throughput = [&](std::size_t protocol, std::size_t form, double factor) {
    return results.Of(PointFor(settings, workload, kProtocols[protocol], form),
                      PathOf(form, kShown[0].path), factor);
  };
  const std::vector<std::string> protocols(kProtocols.begin(), kProtocols.end());
  Plot plot = Bars(protocols, {"hybrid"}, [&](std::size_t protocol, std::size_t) {
    double best = 0;
    for (const std::size_t pure : {kRpc, kOneSided}) {
      if (const auto spread = throughput(protocol, pure, 1)) best = std::max(best, spread->median);
    }
    return best == 0 ? std::nullopt : throughput(protocol, kHybrid, 1 / best);
  });
  plot.y_title = "times the better of rpc and one-sided";
  plot.references = {{"no difference", 1, 1}, {"the most that RCC found", 1.178, 1.178}};
  std::string answer = "Not enough was measured to tell.";
  if (const auto all = OverMarks(plot, 0)) {
    answer = fmt::format(
        "The chosen mix brings {:.2f} times the better of rpc and one-sided (median of {} "
        "protocols, {:.2f} to {:.2f}).",
        all->median, plot.series[0].marks.size(), all->low, all->high);
  }
  return {std::string(workload) + ": hybrids", answer, std::move(plot)};
}

}  // namespace

Study Protocols(const Settings& asked) {
  const Settings settings = TxnSettings(asked);
  const auto figures = [settings](const Results& results) {
    std::vector<Figure> all;
    const std::vector<std::string> protocols(kProtocols.begin(), kProtocols.end());
    const std::vector<std::string> forms(kForms.begin(), kForms.end());
    for (const char* const workload : Workloads(settings)) {
      for (const Shown& shown : kShown) {
        Plot plot = Bars(protocols, forms, [&](std::size_t protocol, std::size_t form) {
          return results.Of(PointFor(settings, workload, kProtocols[protocol], form),
                            PathOf(form, shown.path), shown.factor);
        });
        plot.y_title = shown.y_title;
        plot.log_y = shown.log;
        const std::string answer = Best(plot, shown.path == kShown[0].path);
        all.push_back({fmt::format("{}: {}", workload, shown.title), answer, std::move(plot)});
      }
      all.push_back(HybridFigure(settings, results, workload));
    }
    return all;
  };
  Study study{
      "protocols",
      "Protocols: how transactions are isolated",
      "What do six protocols bring by messages over TCP (tcp), by messages over the fabric "
      "(rpc), one-sided, and with the mix of stages that measured latencies choose "
      "(hybrid)?",
      {Emulation(settings, kTxnNodes),
       "tcp goes through the kernel's sockets, and the network's delays come on top.",
       "RCC is that of Wang, Huang and Qian (arXiv 2002.12664), on a cluster with adapters."},
      {},
      figures};
  for (const char* const workload : Workloads(settings)) {
    for (const char* const protocol : kProtocols) {
      PointGroup group{fmt::format("{} on {}", protocol, workload), {}, "/result/throughput_per_s"};
      for (std::size_t form = 0; form < kForms.size(); ++form) {
        group.points.push_back(PointFor(settings, workload, protocol, form));
      }
      study.groups.push_back(std::move(group));
    }
  }
  return study;
}

}  // namespace slimgraph::experiment
