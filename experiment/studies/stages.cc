// The latency of each stage of a protocol in both forms, and the throughput of every mix of forms.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/studies/studies.h"
#include "experiment/studies/transactions.h"

namespace slimgraph::experiment {
namespace {

constexpr const char* kWorkload = "smallbank";
constexpr const char* kRows = "/result/rows";

Point Probe(const Settings& settings, const char* protocol) {
  return Labelled(TxnPoint(settings, "choose", kWorkload, protocol, {}), "each stage");
}

Point Codes(const Settings& settings, const char* protocol) {
  return Labelled(TxnPoint(settings, "sweep", kWorkload, protocol, {"--over", "stages"}),
                  "all codes");
}

Figure StagesFigure(const Settings& settings, const Results& results, const char* protocol) {
  const Point point = Probe(settings, protocol);
  std::vector<std::string> stages;
  for (const JsonValue& report : results.reports(point.line())) {
    const JsonValue* const probed = report.Find("/result/probe_us");
    if (!stages.empty() || probed == nullptr || probed->object() == nullptr) continue;
    for (const auto& [stage, by_form] : *probed->object()) {
      // Some stages take no time in any form: without replicas nothing is logged.
      if (by_form.NumberAt("/one_sided").value_or(0) + by_form.NumberAt("/two_sided").value_or(0) >
          0) {
        stages.push_back(stage);
      }
    }
  }
  const std::vector<std::string> forms = {"two_sided", "one_sided"};
  Plot plot = Bars(stages, {"two-sided", "one-sided"}, [&](std::size_t stage, std::size_t form) {
    return results.Of(point, "/result/probe_us/" + stages[stage] + "/" + forms[form]);
  });
  plot.y_title = "microseconds";
  std::size_t sooner = 0;
  for (const Mark& one : plot.series[1].marks) {
    for (const Mark& two : plot.series[0].marks) {
      sooner += one.x == two.x && one.y.median < two.y.median;
    }
  }
  return {
      fmt::format("{}: latency of each stage", protocol),
      fmt::format("{} of {} stages of {} are faster one-sided.", sooner, stages.size(), protocol),
      std::move(plot)};
}

Figure CodesFigure(const Settings& settings, const Results& results, const char* protocol) {
  const Point point = Codes(settings, protocol);
  Plot plot;
  plot.kind = PlotKind::kScatter;
  plot.x_title = "latency, microseconds (median)";
  plot.y_title = "thousand transactions per second";
  Series mixed{"mixed", {}, 0};
  Series pure{"one form alone", {}, 1};
  const auto& reports = results.reports(point.line());
  for (std::size_t row = 0; !reports.empty(); ++row) {
    const std::string path = fmt::format("{}/{}", kRows, row);
    const std::string code = reports.front().TextAt(path + "/value");
    if (code.empty()) break;
    const auto rate = results.Of(point, path + "/throughput_per_s", 1e-3);
    const auto latency = results.Of(point, path + "/latency_us/p50");
    if (!rate || !latency) continue;
    const bool one_form = code.find_first_not_of(code[0]) == std::string::npos;
    (one_form ? pure : mixed).marks.push_back({latency->median, *rate, code, one_form});
  }
  std::string answer = "Not enough was measured to tell.";
  const auto less = [](const Mark& a, const Mark& b) { return a.y.median < b.y.median; };
  const auto best = std::max_element(mixed.marks.begin(), mixed.marks.end(), less);
  const auto best_pure = std::max_element(pure.marks.begin(), pure.marks.end(), less);
  if (best != mixed.marks.end() && best_pure != pure.marks.end()) {
    best->labelled = true;
    answer = fmt::format(
        "The best mix, {}, brings {:.2f} times the throughput of {}, the better of "
        "one form alone.",
        best->label, best->y.median / best_pure->y.median, best_pure->label);
  }
  plot.series = {std::move(mixed), std::move(pure)};
  return {fmt::format("{}: every code", protocol), answer, std::move(plot)};
}

}  // namespace

Study Stages(const Settings& asked) {
  const Settings settings = TxnSettings(asked);
  const auto figures = [settings](const Results& results) {
    std::vector<Figure> all;
    for (const char* const protocol : kProtocols) {
      // Calvin's stages do not run one after the other, so they are not timed.
      Figure stages = StagesFigure(settings, results, protocol);
      if (!stages.empty()) all.push_back(std::move(stages));
      all.push_back(CodesFigure(settings, results, protocol));
    }
    return all;
  };
  Study study{"stages",
              "Stages: one-sided or by message",
              "How long does each stage of a protocol take in either form, and what does every mix "
              "of forms bring?",
              {Emulation(settings, kTxnNodes),
               "smallbank. A code has a digit for each stage of the protocol: 0 by messages, 1 "
               "one-sided. Latencies of stages are from a run in which each transaction draws a "
               "random code."},
              {},
              figures};
  for (const char* const protocol : kProtocols) {
    study.groups.push_back(
        {std::string(protocol), {Probe(settings, protocol)}, "/result/run/throughput_per_s"});
    study.groups.push_back(
        {std::string(protocol), {Codes(settings, protocol)}, "/result/rows/0/throughput_per_s"});
  }
  return study;
}

}  // namespace slimgraph::experiment
