// `slimgraph bench fabric`: what reaching another node's memory costs, by operation and size, and
// how that compares with what the machine can do without us. Every comparison is made in one run,
// in turn, and told as the median of ratios, since times on a shared machine mean little.
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
  double latency_us = 0;        // median, one at a time
  double operations_per_s = 0;  // in doorbells of many, 0 for messages
  double bytes_per_s() const { return operations_per_s * static_cast<double>(bytes); }
};

// A measured ratio and the bar that it has to keep.
struct FabricBar {
  std::string claim;
  double value = 0;
  double bound = 0;
  bool at_most = true;
  bool met() const { return at_most ? value <= bound : value >= bound; }
};

struct FabricBenchReport {
  std::string transport;
  std::string nature;  // who does the work on the target's side
  std::vector<FabricBenchRow> rows;
  // How often the adapter was rung for one doorbell of kDoorbellReads reads, where there is one.
  std::optional<std::uint64_t> posts_per_doorbell;
  std::vector<FabricBar> bars;
};

constexpr std::size_t kDoorbellReads = 64;
constexpr NodeId kTarget = 1;  // the node that is asked

double Median(std::vector<double> values);

// Collective, on at least two nodes: node 0 asks, node 1 answers, the others look on. The report is
// node 0's; the others' is empty. Takes the handlers 200 to 202.
Result<FabricBenchReport> RunFabricBench(Job& job, Fabric& fabric,
                                         const FabricBenchOptions& options);

std::string FormatFabricBench(const FabricBenchReport& report);

}  // namespace slimgraph
