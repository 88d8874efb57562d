// `slimgraph bench fabric`: the cost of access to another node's memory, by operation and size,
// compared with what the machine achieves without SlimGraph. A comparison alternates between both
// in one run and reports the median of ratios, since times on a shared machine mean little.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

struct FabricBenchOptions {
  std::uint64_t region_bytes = 64 << 20;  // on node 1, the target
  std::uint64_t max_bytes = 16 << 20;     // the largest operation; at most region_bytes
  double seconds_per_row = 0.1;
  double parked_s = 2;  // how long the parked node's use of the processor is watched
};

struct FabricBenchRow {
  std::string operation;
  std::uint64_t bytes = 0;
  double latency_us = 0;        // median of single operations
  double operations_per_s = 0;  // in doorbells of many operations; 0 for messages
  double bytes_per_s() const { return operations_per_s * static_cast<double>(bytes); }
};

// A measured ratio and the bar that it must meet.
struct FabricBar {
  std::string claim;
  double value = 0;
  double bound = 0;
  bool at_most = true;
  bool met() const { return at_most ? value <= bound : value >= bound; }
};

struct FabricBenchReport {
  std::string transport;
  std::string nature;  // what does the work at the target
  std::vector<FabricBenchRow> rows;
  // Posts to the adapter for one doorbell of kDoorbellReads reads; nullopt without an adapter.
  std::optional<std::uint64_t> posts_per_doorbell;
  std::vector<FabricBar> bars;
};

constexpr std::size_t kDoorbellReads = 64;
constexpr NodeId kTarget = 1;  // the node whose memory is accessed

double Median(std::vector<double> values);

// Collective, on at least two nodes: node 0 measures, node 1 is the target, the others only serve.
// Returns the report on node 0 and an empty one elsewhere. Uses the handlers 200 to 202.
Result<FabricBenchReport> RunFabricBench(Job& job, Fabric& fabric,
                                         const FabricBenchOptions& options);

std::string FormatFabricBench(const FabricBenchReport& report);

}  // namespace slimgraph
