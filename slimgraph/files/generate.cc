#include "slimgraph/files/generate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/files/internal/random.h"
#include "slimgraph/files/internal/write_slim.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph {
namespace {

using internal::CounterRandom;
using internal::EdgeBlock;
using internal::NarrowEdge;
using internal::RawGraph;

constexpr std::size_t kEdgesPerBlock = 1 << 17;
constexpr unsigned kMaxScale = 31;

using NamedKind = std::pair<std::string_view, GraphKind>;
constexpr std::array kKinds = {
    NamedKind{"kron", GraphKind::kKron},         NamedKind{"uniform", GraphKind::kUniform},
    NamedKind{"grid", GraphKind::kGrid},         NamedKind{"small-world", GraphKind::kSmallWorld},
    NamedKind{"chain", GraphKind::kChain},       NamedKind{"star", GraphKind::kStar},
    NamedKind{"complete", GraphKind::kComplete}, NamedKind{"web", GraphKind::kWeb},
};

// A synthetic graph: its numbers of vertices and edges, and a function that computes its i-th edge.
struct Recipe {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::function<NarrowEdge(std::uint64_t i)> edge;
};

NarrowEdge Edge(std::uint64_t src, std::uint64_t dst) {
  return {static_cast<VertexId>(src), static_cast<VertexId>(dst)};
}

// Graph500: each level draws one of four quadrants, which gives one bit of each of the two ids.
NarrowEdge KronEdge(std::uint64_t seed, std::uint64_t i, unsigned scale) {
  constexpr double kScale32 = 4294967296.0;
  constexpr auto kA = static_cast<std::uint32_t>(0.57 * kScale32);
  constexpr auto kAb = static_cast<std::uint32_t>(0.76 * kScale32);
  constexpr auto kAbc = static_cast<std::uint32_t>(0.95 * kScale32);
  CounterRandom random(seed, i);
  std::uint64_t src = 0;
  std::uint64_t dst = 0;
  std::uint64_t bits = 0;
  for (unsigned level = 0; level < scale; ++level) {
    bits = level % 2 == 0 ? random.Next() : bits >> 32;
    const auto draw = static_cast<std::uint32_t>(bits);
    src = src << 1 | static_cast<std::uint64_t>(draw >= kAb);
    dst = dst << 1 | static_cast<std::uint64_t>(((draw >= kA) & (draw < kAb)) | (draw >= kAbc));
  }
  return Edge(src, dst);
}

Recipe Kron(const GenerateOptions& options) {
  const internal::Shuffle shuffle(options.seed, options.scale);
  const std::uint64_t vertices = std::uint64_t{1} << options.scale;
  return {vertices, vertices * options.degree,
          [=, seed = options.seed, scale = options.scale](auto i) {
            const NarrowEdge edge = KronEdge(seed, i, scale);
            return Edge(shuffle(edge.src), shuffle(edge.dst));
          }};
}

Recipe Uniform(const GenerateOptions& options) {
  const std::uint64_t vertices = std::uint64_t{1} << options.scale;
  return {vertices, vertices * options.degree, [=, seed = options.seed](auto i) {
            CounterRandom random(seed, i);
            const std::uint64_t src = random.Below(vertices);
            return Edge(src, random.Below(vertices));
          }};
}

// First the edges from each vertex to its right neighbour, then those to the neighbour below.
Recipe Grid(std::uint64_t width, std::uint64_t height) {
  const std::uint64_t to_right = (width - 1) * height;
  return {width * height, to_right + width * (height - 1), [=](auto i) {
            if (i >= to_right) return Edge(i - to_right, i - to_right + width);
            const std::uint64_t v = i / (width - 1) * width + i % (width - 1);
            return Edge(v, v + 1);
          }};
}

// Watts and Strogatz: a ring where each vertex has edges to the next degree/2 vertices, and some
// edges are rewired to random vertices.
Recipe SmallWorld(const GenerateOptions& options) {
  const std::uint64_t vertices = std::uint64_t{1} << options.scale;
  const std::uint64_t half = options.degree / 2;
  return {vertices, vertices * half, [=, seed = options.seed, rewire = options.rewire](auto i) {
            const std::uint64_t v = i / half;
            CounterRandom random(seed, i);
            if (random.Unit() < rewire) return Edge(v, random.Below(vertices));
            return Edge(v, (v + 1 + i % half) % vertices);
          }};
}

// The pages first .. first + size - 1.
struct Site {
  std::uint64_t first;
  std::uint64_t size;
};

// Halves the range of pages around `page` until a random draw decides that the range is a site.
Site SiteOf(std::uint64_t seed, std::uint64_t page, unsigned scale) {
  constexpr unsigned kSmallest = 3;
  constexpr unsigned kLargest = 14;
  constexpr std::uint64_t kSiteStream = 0x5349544553495445;
  constexpr double kIsOne = 0.25;
  unsigned bits = std::min(scale, kLargest);
  for (; bits > kSmallest; --bits) {
    CounterRandom random(seed ^ kSiteStream, (page >> bits) << 6 | bits);
    if (random.Unit() < kIsOne) break;
  }
  return {page >> bits << bits, std::uint64_t{1} << bits};
}

NarrowEdge Link(std::uint64_t seed, std::uint64_t i, std::uint64_t page, unsigned scale,
                const internal::Shuffle& shuffle) {
  constexpr double kNear = 0.5;
  constexpr double kAlike = 0.33;
  constexpr std::uint64_t kAlikePages = 16;
  CounterRandom random(seed, i);
  const Site site = SiteOf(seed, page, scale);
  const double kind = random.Unit();
  if (kind < kNear) {
    // Log-uniform: a distance between 1 and 2 is as likely as one between 2 and 4.
    const double far = std::pow(static_cast<double>(site.size), random.Unit());
    const auto distance = static_cast<std::uint64_t>(far);
    const std::uint64_t step = random.Below(2) == 0 ? distance : site.size - distance;
    return Edge(page, site.first + (page - site.first + step) % site.size);
  }
  if (kind < kNear + kAlike) {
    return Edge(page, site.first + random.Below(std::min(kAlikePages, site.size)));
  }
  const std::uint64_t rank = static_cast<std::uint64_t>(
      std::pow(random.Unit(), 4) * static_cast<double>(std::uint64_t{1} << scale));
  return Edge(page, SiteOf(seed, shuffle(static_cast<VertexId>(rank)), scale).first);
}

Recipe Web(const GenerateOptions& options) {
  const internal::Shuffle shuffle(options.seed, options.scale);
  const std::uint64_t vertices = std::uint64_t{1} << options.scale;
  return {vertices, vertices * options.degree,
          [=, seed = options.seed, scale = options.scale, degree = options.degree](auto i) {
            return Link(seed, i, i / degree, scale, shuffle);
          }};
}

// Generates every pair of vertices once.
Recipe Complete(std::uint64_t vertices) {
  return {vertices, vertices * (vertices - 1) / 2, [vertices](auto i) {
            const std::uint64_t last = vertices - 1;
            const std::uint64_t row = i / last;
            const std::uint64_t column = i % last;
            // The unused columns of the upper rows hold the rows of the lower half.
            if (column >= row) return Edge(row, column + 1);
            return Edge(last - row, last - column);
          }};
}

Result<Recipe> MakeRecipe(const GenerateOptions& options) {
  if (options.scale > kMaxScale) {
    return UsageError("scale {} is too large: at most {} is supported", options.scale, kMaxScale);
  }
  const std::uint64_t vertices = std::uint64_t{1} << options.scale;
  if (options.degree > (std::uint64_t{1} << 32)) {
    return UsageError("degree {} is too large: at most 2^32 is supported", options.degree);
  }
  switch (options.kind) {
    case GraphKind::kKron:
      return Kron(options);
    case GraphKind::kUniform:
      return Uniform(options);
    case GraphKind::kGrid: {
      const std::uint64_t width =
          options.width.value_or(std::uint64_t{1} << (options.scale + 1) / 2);
      const std::uint64_t height = options.height.value_or(std::uint64_t{1} << options.scale / 2);
      if (width == 0 || height == 0 || width > kMaxVertices / height) {
        return UsageError("a grid of {} by {} vertices is not possible: expected 1 to {} in all",
                          width, height, kMaxVertices);
      }
      return Grid(width, height);
    }
    case GraphKind::kSmallWorld:
      if (options.degree / 2 >= vertices || !(options.rewire >= 0 && options.rewire <= 1)) {
        return UsageError(
            "a small world needs a degree below twice its {} vertices and a rewiring "
            "probability from 0 to 1",
            vertices);
      }
      return SmallWorld(options);
    case GraphKind::kWeb:
      return Web(options);
    case GraphKind::kChain:
      return Recipe{vertices, vertices - 1, [](auto i) { return Edge(i, i + 1); }};
    case GraphKind::kStar:
      return Recipe{vertices, vertices - 1, [](auto i) { return Edge(0, i + 1); }};
    case GraphKind::kComplete:
      return Complete(vertices);
  }
  return UsageError("there is no such kind of graph");
}

Status FillBlock(const Recipe& recipe, const GenerateOptions& options, std::uint64_t first,
                 EdgeBlock& block) {
  constexpr std::uint64_t kWeightStream = 0x5745494748545321;  // differs from the edges' streams
  const std::size_t count = std::min<std::uint64_t>(kEdgesPerBlock, recipe.edges - first);
  SLIM_ASSIGN(block, EdgeBlock::Allocate(count, false, options.weights.has_value()));
  for (std::size_t i = 0; i < count; ++i) block.narrow_data()[i] = recipe.edge(first + i);
  if (options.weights) {
    const auto [low, high] = *options.weights;
    const std::uint64_t span =
        static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    for (std::size_t i = 0; i < count; ++i) {
      CounterRandom random(options.seed ^ kWeightStream, first + i);
      block.weight_data()[i] = static_cast<std::uint64_t>(low) + random.Below(span);
    }
  }
  block.Finish(count, false);
  return {};
}

}  // namespace

Result<GraphKind> ParseGraphKind(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return UsageError(
      "'{}' is not a kind of graph: expected kron, uniform, grid, small-world, web, "
      "chain, star or complete",
      name);
}

Result<WeightSpan> ParseWeightSpan(std::string_view text) {
  WeightSpan span = {};
  const char* const end = text.data() + text.size();
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) {
    const char* const middle = text.data() + dots;
    const auto low = std::from_chars(text.data(), middle, span.low);
    const auto high = std::from_chars(middle + 2, end, span.high);
    if (low.ec == std::errc() && low.ptr == middle && high.ec == std::errc() && high.ptr == end &&
        span.low <= span.high) {
      return span;
    }
  }
  return UsageError("'{}' is not a range of weights: expected LOW..HIGH as in 1..255", text);
}

Result<ConvertReport> Generate(const GenerateOptions& options) {
  if (!options.out.ends_with(".slim")) {
    return UsageError("'{}': the output is a .slim file and its name should say so", options.out);
  }
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const Recipe recipe, MakeRecipe(options));
  constexpr std::uint64_t kMaxEdges = std::uint64_t{1} << 40;
  if (recipe.edges > kMaxEdges) {
    return UsageError("{} edges are too many: at most 2^40 can be generated", recipe.edges);
  }
  const std::uint64_t edge_bytes = sizeof(NarrowEdge) + (options.weights ? 8 : 0);
  SLIM_TRY(CheckMemory(2 * recipe.edges * edge_bytes, "generating this graph"));
  RawGraph graph;
  graph.weighted = options.weights.has_value();
  graph.declared_count = recipe.vertices;
  graph.blocks.resize((recipe.edges + kEdgesPerBlock - 1) / kEdgesPerBlock);
  SLIM_TRY(ParallelFor(graph.blocks.size(), options.threads, [&](std::size_t i) {
    return FillBlock(recipe, options, i * kEdgesPerBlock, graph.blocks[i]);
  }));
  const double draw_s = SecondsSince(start_ns);
  internal::WriteRules rules;
  rules.name = "the generated graph";
  rules.out = options.out;
  rules.directed = options.directed;
  rules.keep_self_loops = options.self_loops == Keep::kKeep;
  rules.keep_duplicates = options.duplicates == Keep::kKeep;
  rules.reverse_lists = options.reverse_lists;
  rules.threads = options.threads;
  rules.progress = options.progress;
  rules.ranked = options.ranked;
  SLIM_ASSIGN(ConvertReport report, internal::WriteSlim(std::move(graph), rules));
  report.read_s = draw_s;
  return report;
}

}  // namespace slimgraph
