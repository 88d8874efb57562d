// Patterns, their counts and their matches.
#include "slimgraph/session/patterns.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>

#include "python/src/arrays.h"
#include "python/src/module.h"
#include "python/src/nodes.h"

namespace slimgraph::python {
namespace {

namespace nb = nanobind;

std::vector<Pattern::Edge> EdgesOf(const Pattern& pattern) {
  std::vector<Pattern::Edge> edges;
  for (unsigned a = 0; a < pattern.size(); ++a) {
    for (unsigned b = a + 1; b < pattern.size(); ++b) {
      if (pattern.adjacent(a, b)) edges.emplace_back(pattern.id(a), pattern.id(b));
    }
  }
  return edges;
}

MatchOptions OptionsOf(bool induced, std::uint64_t chunk_bytes, std::uint64_t cache_bytes) {
  return {.induced = induced, .chunk_bytes = chunk_bytes, .cache_bytes = cache_bytes};
}

std::uint64_t CountOf(Loaded& graph, const Pattern& pattern, bool induced,
                      std::uint64_t chunk_bytes, std::uint64_t cache_bytes) {
  const MatchOptions options = OptionsOf(induced, chunk_bytes, cache_bytes);
  return graph.Call([&](Graph& loaded) { return Count(loaded, pattern, options); });
}

// Up to `limit` matches, a row of the array for each.
ArrayOut<std::uint64_t> Matches(Loaded& graph, const Pattern& pattern, std::uint64_t limit,
                                bool induced, std::uint64_t chunk_bytes,
                                std::uint64_t cache_bytes) {
  const MatchOptions options = OptionsOf(induced, chunk_bytes, cache_bytes);
  std::vector<std::vector<std::uint64_t>> found(graph.nodes().options().threads);
  std::atomic<std::uint64_t> taken{0};
  const MatchVisit visit = [&](std::uint32_t thread, std::span<const std::uint64_t> vertices) {
    if (taken.fetch_add(1, std::memory_order_relaxed) >= limit) return false;
    found[thread].insert(found[thread].end(), vertices.begin(), vertices.end());
    return true;
  };
  graph.Call([&](Graph& loaded) { return ForEachMatch(loaded, pattern, visit, options); });
  std::vector<std::uint64_t> rows;
  for (const auto& of_thread : found) rows.insert(rows.end(), of_thread.begin(), of_thread.end());
  const std::uint64_t* const data = rows.data();
  const std::size_t count = rows.size() / pattern.size();
  return ArrayOut<std::uint64_t>(data, {count, std::size_t{pattern.size()}},
                                 OwnerOf(std::move(rows)));
}

// One member of each element, as an array with a stride.
template <typename Row, typename T>
ArrayOut<T> ColumnOf(std::span<const Row> rows, T Row::*member, const nb::capsule& owner) {
  static_assert(sizeof(Row) % sizeof(T) == 0);
  const T* const first = rows.empty() ? nullptr : &(rows.data()->*member);
  return ArrayOut<T>(first, {rows.size()}, owner,
                     {static_cast<std::int64_t>(sizeof(Row) / sizeof(T))});
}

nb::tuple LocalArrays(Loaded& graph, std::uint64_t chunk_bytes, std::uint64_t cache_bytes) {
  const MatchOptions options = OptionsOf(false, chunk_bytes, cache_bytes);
  auto counts = graph.Call([&](Graph& loaded) { return LocalCounts(loaded, options); });
  const std::span<const LocalCount> span = counts.values();
  const nb::capsule owner = OwnerOf(std::move(counts));
  return nb::make_tuple(ColumnOf(span, &LocalCount::degree, owner),
                        ColumnOf(span, &LocalCount::triangles, owner),
                        ColumnOf(span, &LocalCount::clustering, owner));
}

nb::tuple TrussArrays(Loaded& graph, std::uint64_t chunk_bytes, std::uint64_t cache_bytes) {
  const MatchOptions options = OptionsOf(false, chunk_bytes, cache_bytes);
  auto edges = graph.Call([&](Graph& loaded) { return Trussness(loaded, options); });
  const std::span<const EdgeTrussness> span = edges;  // moving the vector keeps its memory
  const nb::capsule owner = OwnerOf(std::move(edges));
  return nb::make_tuple(ColumnOf(span, &EdgeTrussness::a, owner),
                        ColumnOf(span, &EdgeTrussness::b, owner),
                        ColumnOf(span, &EdgeTrussness::trussness, owner));
}

}  // namespace

void BindPatterns(nb::module_& module) {
  nb::class_<Pattern>(module, "Pattern")
      .def_static("find", [](const std::string& name) { return Checked(Pattern::Find(name)); })
      .def_static("make",
                  [](const std::vector<Pattern::Edge>& edges, const std::string& name) {
                    return Checked(Pattern::Make(edges, name));
                  })
      .def_prop_ro("name", &Pattern::name)
      .def_prop_ro("size", &Pattern::size)
      .def_prop_ro("edges", &EdgesOf);
  module.def("pattern_names", &dkudu::PatternNames);
  module.def("count", &CountOf, nb::arg("graph"), nb::arg("pattern"), nb::arg("induced"),
             nb::arg("chunk_bytes"), nb::arg("cache_bytes"));
  module.def("matches", &Matches, nb::arg("graph"), nb::arg("pattern"), nb::arg("limit"),
             nb::arg("induced"), nb::arg("chunk_bytes"), nb::arg("cache_bytes"));
  module.def("local_counts", &LocalArrays, nb::arg("graph"), nb::arg("chunk_bytes"),
             nb::arg("cache_bytes"));
  module.def("trussness", &TrussArrays, nb::arg("graph"), nb::arg("chunk_bytes"),
             nb::arg("cache_bytes"));
}

}  // namespace slimgraph::python
