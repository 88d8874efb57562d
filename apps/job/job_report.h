// What every job reports besides its result: times, traffic, processor time and memory of all
// nodes.
#pragma once

#include <span>
#include <string>

#include "apps/job/job_runner.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph {

// Collective: fills in the report on node 0, and writes the trace there if `trace` is not empty.
Status FinishReport(JobRun& run, const std::string& trace);

// Collective, if run.phases is set: adds the phase that ends to node 0's. FinishReport() does so
// for the last one.
Status FinishPhase(JobRun& run);

// Adds the graph that the job works on, under /graph.
void SetGraph(Report& report, const GraphSource& file);

// "12.3 MiB in 45 operations (40 reads, 5 messages)"
std::string DescribeTraffic(std::span<const Traffic> phases);

}  // namespace slimgraph
