// `slimgraph gen`: generates a synthetic graph as a .slim file. An edge depends only on the seed
// and on its own number, so the graph is the same for any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/files/convert.h"

namespace slimgraph {

enum class GraphKind { kKron, kUniform, kGrid, kSmallWorld, kWeb, kChain, kStar, kComplete };

// "kron", "uniform", "grid", "small-world", "web", "chain", "star", "complete".
Result<GraphKind> ParseGraphKind(std::string_view name);

struct WeightSpan {
  std::int64_t low;
  std::int64_t high;
};
// Parses a range like "1..255".
Result<WeightSpan> ParseWeightSpan(std::string_view text);

// The comment beside each field names its option and explains it.
struct GenerateOptions {
  // KIND: kron|uniform|grid|small-world|web|chain|star|complete
  GraphKind kind = GraphKind::kKron;
  std::string out;         // -o, --output FILE: the .slim file to write
  unsigned scale = 16;     // -s, --scale S: 2^S vertices
  std::uint64_t seed = 1;  // --seed S: each seed gives a different graph
  // -k, --degree K: edges drawn per vertex (kron, uniform, web); neighbours of each vertex
  // (small-world)
  std::uint64_t degree = 16;
  bool directed = false;  // --directed: make a directed graph; the default is undirected
  // --weights LOW..HIGH: integer weights, uniform in that range
  std::optional<WeightSpan> weights;
  std::optional<std::uint64_t> width;   // --width W: of the grid; the default is 2^ceil(S/2)
  std::optional<std::uint64_t> height;  // --height H: of the grid; the default is 2^floor(S/2)
  double rewire = 0.1;            // --rewire P: the probability that a small-world edge is rewired
  Keep self_loops = Keep::kDrop;  // --self-loops drop|keep
  Keep duplicates = Keep::kDrop;  // --duplicates drop|keep
  bool reverse_lists = true;      // --no-reverse: leave out the incoming edges of a directed graph
  std::size_t threads = 0;        // --threads N: 0 uses every processor
  ProgressHook progress;
  RankedSectionsOf ranked = {};  // --coded: as in ConvertOptions
};

// kron draws edges as Graph500 does (A, B, C = 0.57, 0.19, 0.19) and shuffles the vertex ids;
// vertices without edges stay in the graph. web groups consecutive pages into sites of very
// different sizes. Half of a page's links go to near pages of its site. A third go to the few pages
// that the whole site links to. The others go to front pages of sites; few sites are popular.
Result<ConvertReport> Generate(const GenerateOptions& options);

}  // namespace slimgraph
