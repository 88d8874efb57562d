// The types that an edge weight can have. A conversion picks the smallest type that holds every
// weight exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

namespace slimgraph {

enum class WeightType : std::uint32_t {
  kNone = 0,
  kInt32 = 1,
  kInt64 = 2,
  kFloat32 = 3,
  kFloat64 = 4
};

constexpr std::size_t WeightBytes(WeightType type) {
  switch (type) {
    case WeightType::kNone:
      return 0;
    case WeightType::kInt32:
    case WeightType::kFloat32:
      return 4;
    case WeightType::kInt64:
    case WeightType::kFloat64:
      return 8;
  }
  return 0;
}

// Calls use(zero of the weight's C++ type). Does nothing for kNone.
template <typename Use>
void WithWeightType(WeightType type, Use use) {
  if (type == WeightType::kInt32) use(std::int32_t{0});
  if (type == WeightType::kInt64) use(std::int64_t{0});
  if (type == WeightType::kFloat32) use(0.0F);
  if (type == WeightType::kFloat64) use(0.0);
}

// The smallest weight, infinity if there is none; and the largest one, 0 if none is larger.
struct WeightRange {
  double least = INFINITY;
  double most = 0;
};
inline WeightRange RangeOf(WeightType type, std::span<const std::byte> weights) {
  WeightRange range;
  if (weights.empty()) return range;
  WithWeightType(type, [&]<typename Weight>(Weight) {
    Weight least = std::numeric_limits<Weight>::max();
    Weight most = 0;
    for (std::size_t at = 0; at < weights.size(); at += sizeof(Weight)) {
      Weight weight;
      std::memcpy(&weight, weights.data() + at, sizeof weight);
      least = std::min(least, weight);
      most = std::max(most, weight);
    }
    range = {static_cast<double>(least), static_cast<double>(most)};
  });
  return range;
}

constexpr std::string_view WeightName(WeightType type) {
  switch (type) {
    case WeightType::kNone:
      return "none";
    case WeightType::kInt32:
      return "int32";
    case WeightType::kInt64:
      return "int64";
    case WeightType::kFloat32:
      return "float32";
    case WeightType::kFloat64:
      return "float64";
  }
  return "unknown";
}

}  // namespace slimgraph
