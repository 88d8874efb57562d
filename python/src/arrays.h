// NumPy arrays over memory that C++ objects own. An array keeps its owner alive.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "slimgraph/files/edge_arrays.h"
#include "slimgraph/session/vertex_values.h"

namespace slimgraph::python {

using IdsIn = nanobind::ndarray<const std::uint64_t, nanobind::ndim<1>, nanobind::c_contig,
                                nanobind::device::cpu>;
using WeightsIn =
    nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename T>
using ArrayOut = nanobind::ndarray<nanobind::numpy, const T>;

template <typename T>
nanobind::capsule OwnerOf(T object) {
  auto* const owned = new T(std::move(object));
  return nanobind::capsule(owned, [](void* p) noexcept { delete static_cast<T*>(p); });
}

template <typename T>
ArrayOut<T> ArrayOf(VertexValues<T> values) {
  const auto span = values.values();
  return ArrayOut<T>(span.data(), {span.size()}, OwnerOf(std::move(values)));
}

template <typename T>
ArrayOut<T> ArrayOf(std::shared_ptr<const std::vector<T>> values) {
  const T* const data = values->data();
  const std::size_t size = values->size();
  return ArrayOut<T>(data, {size}, OwnerOf(std::move(values)));
}

template <typename T>
ArrayOut<T> ArrayOf(std::vector<T> values) {
  return ArrayOf(std::make_shared<const std::vector<T>>(std::move(values)));
}

inline std::span<const std::uint64_t> SpanOf(const IdsIn& ids) { return {ids.data(), ids.size()}; }

// Over the memory of the arrays.
inline EdgeArrays EdgeArraysOf(const IdsIn& src, const IdsIn& dst,
                               const std::optional<WeightsIn>& weights, bool directed,
                               const std::optional<IdsIn>& vertices) {
  EdgeArrays edges;
  edges.src = SpanOf(src);
  edges.dst = SpanOf(dst);
  edges.directed = directed;
  if (weights) edges.weights = {weights->data(), weights->size()};
  if (vertices) edges.vertices = SpanOf(*vertices);
  return edges;
}

}  // namespace slimgraph::python
