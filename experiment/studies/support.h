// Shared by the studies: command lines of jobs, and figures over their points.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/study.h"

namespace slimgraph::experiment {

// A job that runs on a graph.
struct GraphJob {
  const char* name;                                             // such as "4-cliques"
  std::function<std::vector<std::string>(const Graph&)> words;  // the command and its own options
};

// The five vertex programs, and three mining jobs.
const std::vector<GraphJob>& VertexJobs();
const std::vector<GraphJob>& MiningJobs();
std::vector<GraphJob> AllJobs();

// "(4,2)"
std::string Pair(NodeId nodes, NodeId compute);

// The nodes of a job. `most_nodes`, the largest `nodes` in the study, determines the CPU share.
struct JobShape {
  NodeId nodes;
  NodeId compute;
  NodeId most_nodes;
};

// The point that runs `words` on these nodes, with the emulation of the settings.
Point JobPoint(const Settings& settings, std::vector<std::string> words, const JobShape& shape);
Point GraphPoint(const Settings& settings, const Graph& graph, std::vector<std::string> words,
                 const JobShape& shape);
// The processor share of a node in percent; 0 if no limit is needed or possible.
std::uint32_t CpuShare(const Settings& settings, NodeId most_nodes);
// A sentence for the page that describes the emulation.
std::string Emulation(const Settings& settings, NodeId most_nodes);

Point Labelled(Point point, std::string label);

// A group for each job of AllJobs() on each graph; its points are compared by time.
using PointsOf = std::function<std::vector<Point>(const Graph&, std::size_t job)>;
std::vector<PointGroup> GroupsOfAllJobs(const Settings& settings, const PointsOf& points);

// A bar plot of the points that were measured; of(category, series) gives the value.
using PointGrid = std::vector<std::vector<Point>>;
Plot Bars(const std::vector<std::string>& categories, const std::vector<std::string>& series,
          const std::function<std::optional<Spread>(std::size_t category, std::size_t series)>& of);

// The median over a series' categories, with their minimum and maximum; nothing if there is none.
std::optional<Spread> OverMarks(const Plot& plot, std::size_t series);
std::string Number(double value);

}  // namespace slimgraph::experiment
