// Transactions while one parameter varies: coroutines, contention, computation.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "experiment/studies/studies.h"
#include "experiment/studies/transactions.h"

namespace slimgraph::experiment {
namespace {

struct SweepMeasure {
  const char* title;
  const char* y_title;
  const char* path;
  double factor;
};
constexpr SweepMeasure kThroughput = {"throughput", "thousand transactions per second",
                                      "/throughput_per_s", 1e-3};
constexpr SweepMeasure kLatency = {"latency", "microseconds, the median", "/latency_us/p50", 1};
constexpr SweepMeasure kAborts = {"aborts", "% of all attempts", "/abort_rate", 100};

struct Sweep {
  const char* name;
  const char* title;
  const char* question;
  const char* over;  // the value of `txn sweep --over`
  const char* workload;
  std::vector<const char*> values;
  const char* x_title;
  bool log_x;
  std::vector<SweepMeasure> shown;
};

constexpr const char* kStageForms[] = {"rpc", "one-sided"};

Point PointFor(const Settings& settings, const Sweep& sweep, const char* protocol,
               const char* form) {
  std::string values;
  for (const char* const value : sweep.values) {
    values += (values.empty() ? "" : ",") + std::string(value);
  }
  return Labelled(TxnPoint(settings, "sweep", sweep.workload, protocol,
                           {"--over", sweep.over, "--values", values, "--stages", form}),
                  std::string(protocol) + " " + form);
}

double ValueOf(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The change from the first to the last value of the sweep, as the median of the protocols.
std::string Answer(const Plot& plot, const Sweep& sweep, const SweepMeasure& shown) {
  std::vector<double> ratios;
  for (const Series& series : plot.series) {
    if (series.marks.size() < 2 || series.marks.front().y.median <= 0) continue;
    ratios.push_back(series.marks.back().y.median / series.marks.front().y.median);
  }
  if (ratios.empty()) return "Not enough was measured to tell.";
  return fmt::format(
      "From {} to {} ({}), {} becomes {} times what it was (median of {} "
      "protocols).",
      sweep.values.front(), sweep.values.back(), sweep.x_title, shown.title,
      Number(SpreadOf(ratios).median), ratios.size());
}

Figure SweepFigure(const Settings& settings, const Results& results, const Sweep& sweep,
                   const char* form, const SweepMeasure& shown) {
  Plot plot;
  plot.kind = PlotKind::kLines;
  plot.x_title = sweep.x_title;
  plot.y_title = shown.y_title;
  plot.log_x = sweep.log_x;
  for (std::size_t p = 0; p < kProtocols.size(); ++p) {
    const Point point = PointFor(settings, sweep, kProtocols[p], form);
    Series series{kProtocols[p], {}, p};
    for (std::size_t row = 0; row < sweep.values.size(); ++row) {
      const auto spread =
          results.Of(point, fmt::format("/result/rows/{}{}", row, shown.path), shown.factor);
      if (spread) series.marks.push_back({ValueOf(sweep.values[row]), *spread, ""});
    }
    plot.series.push_back(std::move(series));
  }
  const std::string answer = Answer(plot, sweep, shown);
  return {fmt::format("{}: {}", form, shown.title), answer, std::move(plot)};
}

Study Make(const Settings& asked, const Sweep& sweep) {
  const Settings settings = TxnSettings(asked);
  const auto figures = [settings, sweep](const Results& results) {
    std::vector<Figure> all;
    for (const char* const form : kStageForms) {
      for (const SweepMeasure& shown : sweep.shown) {
        all.push_back(SweepFigure(settings, results, sweep, form, shown));
      }
    }
    return all;
  };
  Study study{
      sweep.name,
      sweep.title,
      sweep.question,
      {Emulation(settings, kTxnNodes), std::string("The workload is ") + sweep.workload + "."},
      {},
      figures};
  for (const char* const protocol : kProtocols) {
    PointGroup group{protocol, {}, "/result/rows/0/throughput_per_s"};
    for (const char* const form : kStageForms)
      group.points.push_back(PointFor(settings, sweep, protocol, form));
    study.groups.push_back(std::move(group));
  }
  return study;
}

}  // namespace

Study Coroutines(const Settings& settings) {
  return Make(settings, {"coroutines",
                         "Coroutines: concurrent transactions",
                         "How do more concurrent transactions per thread change throughput and "
                         "latency?",
                         "coroutines",
                         "smallbank",
                         {"1", "2", "4", "8", "16", "32"},
                         "coroutines per thread",
                         true,
                         {kThroughput, kLatency}});
}

Study Contention(const Settings& settings) {
  return Make(settings, {"contention",
                         "Contention: transactions that conflict",
                         "What becomes of throughput and aborts when more accesses go to few "
                         "tuples?",
                         "hot",
                         "ycsb",
                         {"0", "0.25", "0.5", "0.75", "0.9", "0.99"},
                         "share of accesses to the hot area",
                         false,
                         {kThroughput, kAborts}});
}

Study Computation(const Settings& settings) {
  return Make(settings, {"computation",
                         "Computation: transactions that compute",
                         "How much of the difference between forms is left when transactions "
                         "compute?",
                         "compute-us",
                         "ycsb",
                         {"0", "1", "2", "4", "8", "16", "32"},
                         "microseconds that each transaction computes",
                         false,
                         {kThroughput}});
}

}  // namespace slimgraph::experiment
