// `slimgraph info`: what a .slim file holds and, on request, whether all of it is as it should be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph {

// Beside each field its option and help text.
struct InfoOptions {
  std::string path;    // FILE: the .slim file
  bool check = false;  // --check: verify every checksum, and that the lists are those of a graph
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
  std::uint64_t first_id = 0;  // the original ids run from here …
  std::uint64_t last_id = 0;   // … to here (both 0 without vertices)
  bool contiguous_ids = false;
  std::uint64_t max_degree = 0;  // of out lists
  std::uint64_t max_degree_id = 0;
  std::uint64_t without_edges = 0;  // vertices whose out list is empty
  bool checked = false;
};

Result<InfoReport> Inspect(const InfoOptions& options);

// That the contents are a graph's: offsets never fall, neighbours exist and ascend, an undirected
// graph is symmetric, in lists are the reverse of out lists, original ids ascend, and the counts
// and flags of the header hold. Checksums are verified on the way.
Status CheckContents(const SlimFile& file);

}  // namespace slimgraph
