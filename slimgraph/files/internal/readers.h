// One function per format, from bytes to a RawGraph. Each is strict: input that it does not
// understand is an error that names the position. It allocates at most a few times what it has
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/files/internal/byte_source.h"
#include "slimgraph/files/internal/raw_graph.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph::internal {

struct ReadOptions {
  bool weighted = false;                      // the input must have weights; they are kept
  bool drop_weights = false;                  // drop the weights of the input
  bool weights_if_any = false;                // instead: keep weights that the input has
  std::optional<std::uint64_t> vertex_count;  // Gemini pairs: the vertices are 0 .. count - 1
  std::size_t threads = 0;
  ProgressHook progress;
};

// SNAP: lines "src dst [weight]", separated by blanks or tabs. '#' and '%' begin comment lines. A
// line that names the columns may come before the first edge.
Result<RawGraph> ReadEdgeList(ByteSource& source, const ReadOptions& options);
// Matrix Market coordinate files: pattern, real, integer; general, symmetric; square.
Result<RawGraph> ReadMatrixMarket(ByteSource& source, const ReadOptions& options);
// METIS: line i lists the neighbours of vertex i, counted from 1. The header says whether edges
// have weights.
Result<RawGraph> ReadMetis(ByteSource& source, const ReadOptions& options);
// GAPBS serialized graphs. The file does not say whether it has weights: a .wsg file does.
Result<RawGraph> ReadGapbs(ByteSource& source, bool with_weights, const ReadOptions& options);
// Gemini: u32 src, u32 dst and, if options.weighted or drop_weights is set, a float.
Result<RawGraph> ReadGemini(ByteSource& source, const ReadOptions& options);
// BVGraph of the WebGraph framework. `properties` is the text of its .properties file.
Result<RawGraph> ReadWebGraph(ByteSource& source, const std::string& properties,
                              const std::string& properties_name, const ReadOptions& options);
// A .slim file.
Result<RawGraph> ReadSlim(const SlimFile& file, const ReadOptions& options);

// A vertex file: one id per line.
Result<std::vector<std::uint64_t>> ReadVertices(ByteSource& source);

// Whether the options say to keep the weights; an error if options and input contradict each other.
Result<bool> KeepWeights(bool has_weights, const ReadOptions& options, const std::string& name);

}  // namespace slimgraph::internal
