// `slimgraph scan`: what it finds in a graph's lists, of a file (scan.cc) or of a pool
// (scan_pool.cc).
#pragma once

#include <xxhash.h>

#include <span>

#include "apps/job/job_runner.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph {

// Counts and a checksum of a set of lists. They are sums, so the order of reading does not matter.
struct Tally {
  std::uint64_t lists = 0;
  std::uint64_t arcs = 0;
  std::uint64_t checksum = 0;

  void Add(VertexId vertex, std::span<const VertexId> list) {
    ++lists;
    arcs += list.size();
    checksum += XXH3_64bits_withSeed(list.data(), list.size_bytes(), vertex);
  }
  void Add(const Tally& other) {
    lists += other.lists;
    arcs += other.arcs;
    checksum += other.checksum;
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

// Adds what was found, and that it is right, to the report and the text.
void ReportScan(JobRun& run, const GraphSource& file, const Tally& total);

// Scans the graph of a pool `repeat` times.
Status ScanPool(JobRun& run, std::uint64_t repeat);

}  // namespace slimgraph
