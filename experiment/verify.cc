#include "experiment/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace slimgraph::experiment {
namespace {

// The commands that have --verify, except those whose counts are compared with each other.
constexpr std::array kVerifyThemselves = {"bfs",  "khop",  "sssp", "pagerank", "cc", "bc",
                                          "cdlp", "kcore", "mis",  "local",    "lcc"};

// What is counted on which graph: the words before the first long option, which include -k, and the
// options that choose the pattern.
std::string QuestionOf(const Point& point) {
  const std::vector<std::string>& words = point.words;
  const auto is_long = [](const std::string& word) { return word.starts_with("--"); };
  const auto options = std::find_if(words.begin(), words.end(), is_long);
  std::string question = fmt::format("{} ", fmt::join(words.begin(), options, " "));
  for (const char* const name : {"--pattern", "--induced"}) {
    const auto option = std::find(options, words.end(), name);
    if (option != words.end() && option + 1 != words.end()) {
      question += fmt::format("{} {} ", name, option[1]);
    }
  }
  return question;
}

// Null if the report has no count.
const JsonValue* CountOf(const JsonValue& report) {
  const JsonValue* const one = report.Find("/result/count");
  return one != nullptr ? one : report.Find("/result/counts");
}

}  // namespace

bool CanVerify(const Point& point) {
  return !point.words.empty() && std::find(kVerifyThemselves.begin(), kVerifyThemselves.end(),
                                           point.words[0]) != kVerifyThemselves.end();
}

void CompareResults(const Study& study, Results& results) {
  std::map<std::string, std::vector<const Point*>> asked;  // by question
  for (const PointGroup& group : study.groups) {
    for (const Point& point : group.points) {
      const auto& reports = results.reports(point.line());
      if (reports.empty() || CountOf(reports[0]) == nullptr) continue;
      auto& points = asked[QuestionOf(point)];
      const auto same = [&](const Point* one) { return one->line() == point.line(); };
      if (std::none_of(points.begin(), points.end(), same)) points.push_back(&point);
    }
  }
  for (const auto& [question, points] : asked) {
    const JsonValue first = *CountOf(results.reports(points[0]->line())[0]);
    bool agree = true;
    for (const Point* const point : points) {
      for (const JsonValue& report : results.reports(point->line())) {
        const JsonValue* const count = CountOf(report);
        agree = agree && count != nullptr && *count == first;
      }
    }
    for (const Point* const point : points) {
      if (!agree) {
        results.Withdraw(point->line(), fmt::format("runs of {}count differently", question));
      } else if (points.size() > 1) {
        results.Verify(point->line());
      }
    }
  }
}

std::string VerifiedInWords(const Study& study, const Results& results) {
  std::set<std::string> measured;
  std::set<std::string> verified;
  for (const PointGroup& group : study.groups) {
    for (const Point& point : group.points) {
      const std::string line = point.line();
      if (results.rounds(line) == 0) continue;
      measured.insert(line);
      if (results.verified(line)) verified.insert(line);
    }
  }
  return fmt::format("{} of {} measured points were verified, outside the measured time.",
                     verified.size(), measured.size());
}

}  // namespace slimgraph::experiment
