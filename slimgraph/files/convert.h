// `slimgraph convert`: converts any supported file into a .slim graph. Options choose what is
// dropped, and the report counts it. A contradiction between the file and the options is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/files/file_format.h"
#include "slimgraph/files/ranked_sections.h"
#include "slimgraph/files/weights.h"

namespace slimgraph {

enum class Keep { kDrop, kKeep };

// The order in which a file holds its vertices.
enum class VertexOrder {
  kIds,     // by ascending original id
  kDegree,  // by descending degree, then by ascending original id
  kLevels,  // neighbours close together: reverse Cuthill-McKee
};

// The comment beside each field names its option and explains it.
struct ConvertOptions {
  std::string in;   // IN: the graph to read; .gz and .zst files are decompressed while reading
  std::string out;  // OUT: the .slim file to write; an old file is replaced only by a complete one
  // --from FORMAT: the format of IN, if its name does not tell it: snap, mtx, metis, sg, wsg,
  // gemini, webgraph, slim
  std::optional<FileFormat> from;
  // --directed: each line is an edge from its first vertex to its second
  // --undirected: each line is an undirected edge; "u v" and "v u" are the same edge
  std::optional<bool> directed;
  // In a program: make the graph undirected, whatever the file says or does not say.
  bool always_undirected = false;
  bool symmetrize = false;      // --symmetrize: make a directed input graph undirected
  bool weighted = false;        // --weighted: the edges have weights; keep them
  bool drop_weights = false;    // --drop-weights: leave out weights that the input has
  bool weights_if_any = false;  // in a program: keep weights that the input has
  std::string vertices;  // --vertices FILE: one id a line; these vertices exist even without edges
  // --vertex-count N: Gemini pairs only: the vertices are 0 .. N-1, also those without edges
  std::optional<std::uint64_t> vertex_count;
  Keep self_loops = Keep::kDrop;  // --self-loops drop|keep: edges from a vertex to itself
  // --duplicates drop|keep: further edges between the same vertices; drop keeps the edge with the
  // smallest weight
  Keep duplicates = Keep::kDrop;
  bool reverse_lists = true;  // --no-reverse: leave out the incoming edges of a directed graph
  VertexOrder order = VertexOrder::kIds;  // --order ids|degree|rcm: how the file holds its vertices
  std::size_t threads = 0;                // --threads N: 0 uses every processor
  ProgressHook read_progress;             // bytes of the input
  ProgressHook build_progress;            // arcs
  // In a program: asked from time to time, by any thread; if it returns true, Convert ends with an
  // error.
  std::function<bool()> cancelled = {};
  // --coded: also keep the lists as mining commands need them. What makes them is not in this
  // folder: dkudu/ranked_lists.h.
  RankedSectionsOf ranked = {};
};

struct ConvertReport {
  std::string out;
  std::string header;  // the line of the input that named its columns, quoted; "": none was there
  std::uint64_t edges_read = 0;  // edges of the input, before anything was dropped
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = false;
  WeightType weight_type = WeightType::kNone;
  std::uint64_t self_loops = 0;
  bool self_loops_kept = false;
  std::uint64_t duplicates = 0;
  bool duplicates_kept = false;
  std::uint64_t file_bytes = 0;
  std::uint64_t coded_bytes = 0;  // of the coded lists for mining; 0 without them
  std::uint64_t peak_bytes = 0;   // the peak memory of this process
  double read_s = 0;              // time until all edges were in memory
  double build_s = 0;             // time from then until the file was complete
};

Result<ConvertReport> Convert(const ConvertOptions& options);

}  // namespace slimgraph
