// `slimgraph info`: describes a .slim file and, on request, verifies its whole contents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {

// The comment beside each field names its option and explains it.
struct InfoOptions {
  std::string path;    // FILE: the .slim file
  bool check = false;  // --check: verify every checksum, and that the lists form a valid graph
  ProgressHook progress;
};

struct InfoReport {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t arcs = 0;
  bool directed = false;
  bool reverse_lists = false;
  bool may_have_self_loops = false;
  bool may_have_duplicates = false;
  WeightType weight_type = WeightType::kNone;
  std::uint64_t first_id = 0;  // the smallest original id; 0 without vertices
  std::uint64_t last_id = 0;   // the largest original id; 0 without vertices
  bool without_gaps() const { return last_id - first_id + 1 == vertices; }  // among the ids
  bool ids_ascend = true;           // in the order of the vertices in the file
  std::uint64_t max_degree = 0;     // the length of the longest out list
  std::uint64_t max_degree_id = 0;  // the original id of its vertex
  std::uint64_t without_edges = 0;  // vertices whose out list is empty
  std::uint64_t coded_bytes = 0;    // of the coded lists for mining; 0 without them
  bool checked = false;
};

Result<InfoReport> Inspect(const InfoOptions& options);

// Checks that the contents form a valid graph: offsets never decrease, neighbours are vertices and
// ascend, an undirected graph is symmetric, in lists are the reverse of out lists, original ids
// are different and ascend in a file of version 1, and the header's counts and flags are right.
// Each read verifies checksums, too.
Status CheckContents(const SlimFile& file);

}  // namespace slimgraph
