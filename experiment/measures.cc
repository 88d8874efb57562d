#include "experiment/measures.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

namespace slimgraph::experiment {
namespace {

using Visit = std::function<void(const std::string& path, const JsonValue& leaf)>;

void Walk(const JsonValue& value, const std::string& path, const Visit& visit) {
  const auto under = [&](const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  };
  if (const auto* const object = value.object()) {
    for (const auto& [name, one] : *object) Walk(one, under(name), visit);
  } else if (const auto* const array = value.array();
             array != nullptr && !array->empty() && !array->front().number()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      Walk((*array)[i], under(std::to_string(i)), visit);
    }
  } else {
    visit(path, value);
  }
}

bool Has(std::string_view path, std::string_view part) {
  return path.find(part) != std::string_view::npos;
}

// Nothing if the path is not a measure; otherwise whether smaller values are better.
std::optional<bool> Direction(std::string_view path) {
  if (path.ends_with("throughput_per_s") || path.ends_with("operations_per_s")) return false;
  constexpr std::array<std::string_view, 9> kWhole = {
      "time/run_s",         "time/load_s",         "traffic/bytes",
      "traffic/operations", "traffic/round_trips", "load_traffic/bytes",
      "cpu_s/compute",      "cpu_s/memory",        "memory/peak_bytes"};
  if (std::find(kWhole.begin(), kWhole.end(), path) != kWhole.end()) return true;
  if (path.starts_with("time/stages/")) return true;
  if (path.starts_with("result/") &&
      (Has(path, "latency_us") || Has(path, "/stage_us/") || Has(path, "/per_transaction/") ||
       path.ends_with("/abort_rate"))) {
    return true;
  }
  return std::nullopt;
}

std::vector<double> Numbers(const JsonValue& value) {
  std::vector<double> numbers;
  if (const auto one = value.number()) numbers.push_back(*one);
  if (const auto* const array = value.array()) {
    for (const JsonValue& one : *array) {
      if (const auto number = one.number()) numbers.push_back(*number);
    }
  }
  return numbers;
}

// Combines the numbers of all nodes: the maximum for memory peaks, otherwise the sum.
double OverNodes(const std::string& path, const std::vector<double>& numbers) {
  if (path == "memory/peak_bytes") return *std::max_element(numbers.begin(), numbers.end());
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

}  // namespace

std::optional<double> ValueAt(const JsonValue& report, const std::string& path) {
  if (path == "/cpu_s") {
    const auto compute = ValueAt(report, "/cpu_s/compute");
    if (!compute) return std::nullopt;
    return *compute + ValueAt(report, "/cpu_s/memory").value_or(0);
  }
  const JsonValue* const found = report.Find(path);
  if (found == nullptr) return std::nullopt;
  const std::vector<double> numbers = Numbers(*found);
  if (numbers.empty()) return std::nullopt;
  return OverNodes(path.substr(1), numbers);
}

std::vector<Measure> MeasuresOf(const JsonValue& report) {
  std::vector<Measure> measures;
  Walk(report, "", [&](const std::string& path, const JsonValue& leaf) {
    const auto less_is_better = Direction(path);
    const std::vector<double> numbers = Numbers(leaf);
    if (!less_is_better || numbers.empty()) return;
    measures.push_back({path, *less_is_better, {OverNodes(path, numbers)}});
    if (path != "time/run_s") return;
    if (const JsonValue* const runs = report.Find("/time/runs_s")) {
      measures.back().samples = Numbers(*runs);
    }
  });
  return measures;
}

std::vector<std::pair<std::string, double>> AnswersOf(const JsonValue& report) {
  std::vector<std::pair<std::string, double>> answers;
  const std::string command = report.TextAt("/command");
  const JsonValue* const result = report.Find("/result");
  // The results of transactions and benches are measurements, not answers.
  if (result == nullptr || command.starts_with("txn") || command.starts_with("bench")) return {};
  Walk(*result, "result", [&](const std::string& path, const JsonValue& leaf) {
    // These describe how the engine computed the answer, which may vary.
    if (path == "result/steps" || path == "result/pulls") return;
    if (const auto number = leaf.number()) answers.emplace_back(path, *number);
  });
  return answers;
}

}  // namespace slimgraph::experiment
