// What every job reports besides its result: times, traffic, processor time and memory of all
// nodes.
#pragma once

#include <string>

#include "apps/job/job_runner.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph {

// Collective: fills in the report on node 0, and writes the trace there if `trace` is not empty.
Status FinishReport(JobRun& run, const std::string& trace);

// Adds the graph that the job works on, under /graph.
void SetGraph(Report& report, const GraphSource& file);

// "12.3 MiB in 45 operations (40 reads, 5 messages)"
std::string DescribeTraffic(const Traffic& traffic);

}  // namespace slimgraph
