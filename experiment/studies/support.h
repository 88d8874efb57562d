// What studies are made of: command lines of jobs, and figures over them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/study.h"

namespace slimgraph::experiment {

// A job that runs on a graph.
struct GraphJob {
  const char* name;                                             // as "4-cliques"
  std::function<std::vector<std::string>(const Graph&)> words;  // the command and its own options
};

// The five vertex programs, three kinds of mining.
const std::vector<GraphJob>& VertexJobs();
const std::vector<GraphJob>& MiningJobs();
std::vector<GraphJob> AllJobs();

// "(4,2)"
std::string Pair(NodeId nodes, NodeId compute);

// Where a job runs. The most nodes of any point of the study decide on the share of a processor.
struct Place {
  NodeId nodes;
  NodeId compute;
  NodeId most_nodes;
};

// `words` as a job there, under what the settings emulate.
Point JobPoint(const Settings& settings, std::vector<std::string> words, const Place& place);
Point GraphPoint(const Settings& settings, const Graph& graph, std::vector<std::string> words,
                 const Place& place);
// The share in percent; 0 where none is needed or possible.
std::uint32_t CpuShare(const Settings& settings, NodeId most_nodes);
// The same in a sentence, for a page.
std::string Emulation(const Settings& settings, NodeId most_nodes);

Point Labelled(Point point, std::string label);

// A turn for each of AllJobs() on each graph: its points, of which the times shall be tight.
using PointsOf = std::function<std::vector<Point>(const Graph&, std::size_t job)>;
std::vector<Turn> TurnsOfAllJobs(const Settings& settings, const PointsOf& points);

// A bar for each point that was measured. points[category][series].
using PointGrid = std::vector<std::vector<Point>>;
Plot Bars(const std::vector<std::string>& categories, const std::vector<std::string>& series,
          const std::function<std::optional<Spread>(std::size_t category, std::size_t series)>& of);

// The middle of what was measured of a series, over its categories; nothing of nothing.
std::optional<Spread> OverMarks(const Plot& plot, std::size_t series);
std::string Number(double value);

}  // namespace slimgraph::experiment
