// `slimgraph convert`: any supported file becomes a .slim graph, strictly. What is dropped is
// chosen by an option and counted; what the file and the options contradict is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/graph/file_format.h"
#include "slimgraph/graph/weights.h"

namespace slimgraph {

enum class Keep { kDrop, kKeep };

// Beside each field its option and help text.
struct ConvertOptions {
  std::string in;   // IN: the graph to read; .gz and .zst are decompressed on the way
  std::string out;  // OUT: the .slim file to write; replaces an old one only when it is complete
  // --from FORMAT: the format of IN, if its name does not tell: snap, mtx, metis, sg, wsg, gemini,
  // slim
  std::optional<FileFormat> from;
  // --directed: each line is an edge from its first vertex to its second
  // --undirected: each line is an edge between two vertices; both directions are one edge
  std::optional<bool> directed;
  bool symmetrize =
      false;              // --symmetrize: drop the directions of a graph that is directed by itself
  bool weighted = false;  // --weighted: the edges have weights, and the graph shall have them
  bool drop_weights = false;  // --drop-weights: leave out weights that the input has
  std::string vertices;  // --vertices FILE: one id a line; these vertices exist even without edges
  // --vertex-count N: Gemini pairs only: the vertices are 0 .. N-1, with edges or without
  std::optional<std::uint64_t> vertex_count;
  Keep self_loops = Keep::kDrop;  // --self-loops drop|keep: edges from a vertex to itself
  // --duplicates drop|keep: further edges between the same vertices; of those that differ in weight
  // the lightest stays
  Keep duplicates = Keep::kDrop;
  bool reverse_lists = true;    // --no-reverse: leave out the incoming edges of a directed graph
  std::size_t threads = 0;      // --threads N: 0 takes every processor
  ProgressHook read_progress;   // bytes of the input
  ProgressHook build_progress;  // arcs
};

struct ConvertReport {
  std::string out;
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
  std::uint64_t peak_bytes = 0;  // the most memory this process ever held
  double read_s = 0;             // until the edges were in memory
  double build_s = 0;            // from there until the file was complete
};

Result<ConvertReport> Convert(const ConvertOptions& options);

}  // namespace slimgraph
