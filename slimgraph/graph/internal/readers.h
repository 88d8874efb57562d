// One function per format, from bytes to a RawGraph. Each is strict: what it does not understand is
// an error that names the place, and it allocates no more than a few times what it has read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/graph/internal/byte_source.h"
#include "slimgraph/graph/internal/raw_graph.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph::internal {

struct ReadOptions {
  bool weighted = false;                      // the input must have weights, and they are kept
  bool drop_weights = false;                  // weights that the input has are left out
  std::optional<std::uint64_t> vertex_count;  // Gemini pairs: the vertices are 0 .. count - 1
  std::size_t threads = 0;
  ProgressHook progress;
};

// SNAP: "src dst [weight]" a line, blanks or tabs between, '#' and '%' begin comments.
Result<RawGraph> ReadEdgeList(ByteSource& source, const ReadOptions& options);
// Matrix Market coordinate files: pattern, real, integer; general, symmetric; square.
Result<RawGraph> ReadMatrixMarket(ByteSource& source, const ReadOptions& options);
// METIS: line i lists the neighbours of vertex i, from 1; with edge weights if the header says so.
Result<RawGraph> ReadMetis(ByteSource& source, const ReadOptions& options);
// GAPBS serialized graphs; .wsg if `with_weights`, which the file itself does not tell.
Result<RawGraph> ReadGapbs(ByteSource& source, bool with_weights, const ReadOptions& options);
// Gemini: u32 src, u32 dst and, with options.weighted or drop_weights, a float.
Result<RawGraph> ReadGemini(ByteSource& source, const ReadOptions& options);
// BVGraph of the WebGraph framework, with the text of its .properties file.
Result<RawGraph> ReadWebGraph(ByteSource& source, const std::string& properties,
                              const std::string& properties_name, const ReadOptions& options);
// Our own.
Result<RawGraph> ReadSlim(const SlimFile& file, const ReadOptions& options);

// One id a line.
Result<std::vector<std::uint64_t>> ReadVertices(ByteSource& source);

// Whether to keep the weights that the input has or has not, or why the options do not fit.
Result<bool> KeepWeights(bool has_weights, const ReadOptions& options, const std::string& name);

}  // namespace slimgraph::internal
