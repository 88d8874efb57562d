#include "tests/sim/scale_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiment/page/axis.h"
#include "experiment/page/page.h"

namespace slimgraph::test {
namespace {

using experiment::Figure;
using experiment::Mark;
using experiment::Plot;
using experiment::PlotKind;
using experiment::Section;
using experiment::Series;
using Points = std::vector<MeasuredPoint>;

// What grows with the number of nodes, as the traffic of the plots shows.
struct WorkInWords {
  const char* work;
  const char* title;
  const char* unit;
  const char* what_stops_it;
};
constexpr WorkInWords kWorks[] = {
    {"pagerank", "PageRank", "a run of 20 iterations",
     "What stops scaling: in each iteration, a node sends a message to each other node, however "
     "few values it has for it. With many nodes, this takes longer than the computation, and on a "
     "slow network the latency of an iteration does."},
    {"triangles", "Triangles", "a run",
     "What stops scaling: with --fetch request, a compute node requests lists from each other "
     "node, "
     "each of which has fewer and fewer of them. --fetch read takes the lists one-sided. Idle "
     "engines also look at all other nodes for work that they can take over (--steal off)."},
    {"smallbank", "SmallBank", "a run with as many transactions on each node",
     "What stops scaling: not the transactions, but the begin and the end of a run, for which each "
     "node exchanges about eight messages with each other node. The shorter the run, the more "
     "they count (--transactions)."},
};

std::vector<std::string> NetworksOf(const Points& points) {
  std::vector<std::string> networks;
  for (const MeasuredPoint& point : points) {
    if (std::ranges::find(networks, point.network) == networks.end()) {
      networks.push_back(point.network);
    }
  }
  return networks;
}

// A line for each network.
Plot Draw(const Points& points, const std::string& y_title, double MeasuredPoint::*value) {
  Plot plot;
  plot.kind = PlotKind::kLines;
  plot.x_title = "nodes";
  plot.y_title = y_title;
  plot.log_x = plot.log_y = true;
  for (const std::string& network : NetworksOf(points)) {
    Series series{network, {}, plot.series.size()};
    for (const MeasuredPoint& point : points) {
      const double y = point.*value;
      if (point.network != network || y <= 0) continue;
      series.marks.push_back({static_cast<double>(point.nodes), {y, y, y, 1}, "", false});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// "fdr: 11.5 ms on 4 nodes, least 2.0 ms on 128, 3.3 ms on 512."
std::string TimesInWords(const Points& points) {
  std::string words;
  for (const std::string& network : NetworksOf(points)) {
    Points line;
    std::ranges::copy_if(points, std::back_inserter(line),
                         [&](const MeasuredPoint& point) { return point.network == network; });
    const MeasuredPoint& least = *std::ranges::min_element(line, {}, &MeasuredPoint::ms);
    words += fmt::format("{}{}: {:.3g} ms on {} nodes, least {:.3g} ms on {}, {:.3g} ms on {}.",
                         words.empty() ? "" : " ", network, line.front().ms, line.front().nodes,
                         least.ms, least.nodes, line.back().ms, line.back().nodes);
  }
  return words;
}

std::string GrowthInWords(const Points& points, const char* what, double MeasuredPoint::*value) {
  const MeasuredPoint& first = points.front();
  const auto last = std::ranges::max_element(points, {}, &MeasuredPoint::nodes);
  return fmt::format("A node has {} {} on {} nodes, and {} on {}.",
                     experiment::ShortNumber(first.*value), what, first.nodes,
                     experiment::ShortNumber(*last.*value), last->nodes);
}

Section SectionOf(const WorkInWords& words, const Points& points) {
  Section section;
  section.name = words.work;
  section.title = words.title;
  section.question =
      fmt::format("How does the time of {} change with the number of nodes?", words.unit);
  section.notes = {words.what_stops_it};
  section.figures = {
      {"Simulated time", TimesInWords(points),
       Draw(points, fmt::format("ms for {}", words.unit), &MeasuredPoint::ms)},
      {"Messages", GrowthInWords(points, "messages to send", &MeasuredPoint::messages),
       Draw(points, "messages that a node sends", &MeasuredPoint::messages)},
      {"One-sided operations",
       GrowthInWords(points, "one-sided operations", &MeasuredPoint::operations),
       Draw(points, "operations of a node", &MeasuredPoint::operations)},
      {"Bytes", GrowthInWords(points, "bytes to send and to read", &MeasuredPoint::bytes),
       Draw(points, "bytes that a node sends and reads", &MeasuredPoint::bytes)}};
  std::erase_if(section.figures, [](const Figure& figure) { return figure.empty(); });
  section.verified =
      "The result of each point was the same as on the fewest nodes; SmallBank verifies its data.";
  return section;
}

}  // namespace

std::string ScalePage(const std::vector<MeasuredPoint>& points, const std::string& command,
                      const std::string& graph) {
  experiment::Page page;
  page.title = "SlimGraph: simulated nodes";
  page.summary = {
      "All times are simulated: nothing ran on so many nodes. A model of a network says how long "
      "messages and operations take, and figures measured on one node say how long computations "
      "take.",
      "All nodes compute. Traffic is counted in the run alone, without loading."};
  page.facts = {{"command", command}, {"graph", graph}};
  for (const WorkInWords& words : kWorks) {
    Points of_work;
    std::set<NodeId> nodes;
    for (const MeasuredPoint& point : points) {
      if (point.work != words.work) continue;
      of_work.push_back(point);
      nodes.insert(point.nodes);
    }
    if (nodes.size() < 2) continue;
    std::ranges::stable_sort(of_work, {}, &MeasuredPoint::nodes);
    page.sections.push_back(SectionOf(words, of_work));
    page.sections.back().commands = {command};
  }
  return experiment::ToHtml(page);
}

}  // namespace slimgraph::test
