#include "slimgraph/session/store_transaction.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "slimgraph/session/internal/store_operations.h"

namespace slimgraph {
namespace {

using internal::StoreOperations;
using txn::Answer;
using txn::GraphTransaction;

std::string NoVertex(std::uint64_t vertex) {
  return fmt::format("vertex {} does not exist", vertex);
}

Direction DirectionOn(EdgeSide side) {
  return side == EdgeSide::kOutgoing ? Direction::kOut : Direction::kIn;
}

// Whether the type can hold the weight exactly, or, for a floating-point type, rounded.
template <typename Weight>
bool Fits(double weight) {
  if constexpr (std::numeric_limits<Weight>::is_integer) {
    // The upper limit of int64 is no double; the next double above it is.
    return weight == std::floor(weight) &&
           weight >= static_cast<double>(std::numeric_limits<Weight>::min()) &&
           weight < -static_cast<double>(std::numeric_limits<Weight>::min());
  } else {
    return std::isfinite(weight) &&
           std::abs(weight) <= static_cast<double>(std::numeric_limits<Weight>::max());
  }
}

}  // namespace

namespace internal {

Result<bool> StoreOperations::Do(
    const std::function<txn::Answer(txn::GraphTransaction&)>& operation) {
  if (const std::string why = WhyOver(); !why.empty()) {
    return EnvironmentError("the transaction was aborted: {}", why);
  }
  const Answer answer = lane_.Do(operation);
  if (answer != Answer::kAborted) return answer == Answer::kYes;
  return EnvironmentError("the transaction was aborted: {}", lane_.abort()->cause);
}

Status StoreOperations::Require(
    const std::string& missing,
    const std::function<txn::Answer(txn::GraphTransaction&)>& operation) {
  SLIM_ASSIGN(const bool found, Do(operation));
  if (!found) return InputError("{}", missing);
  return {};
}

Status StoreOperations::CheckId(std::uint64_t vertex) const {
  const std::uint64_t most = txn::MaxVertexName(shape_.directed);
  if (vertex <= most) return {};
  return UsageError("vertex {} is out of range: the ids of this store are at most {}", vertex,
                    most);
}

Status StoreOperations::CheckVertexProperties(std::span<const std::byte> properties) const {
  if (properties.empty() || properties.size() == shape_.vertex_bytes) return {};
  return UsageError("{} bytes of properties for a vertex: this store gives each vertex {}",
                    properties.size(), shape_.vertex_bytes);
}

Result<std::vector<std::byte>> StoreOperations::Encode(const EdgeData& data) const {
  if (!data.properties.empty() && data.properties.size() != shape_.extra_bytes()) {
    return UsageError("{} bytes of properties for an edge: this store gives each edge {}",
                      data.properties.size(), shape_.extra_bytes());
  }
  std::vector<std::byte> bytes(shape_.edge_bytes);
  bool fits = true;
  WithWeightType(shape_.weights, [&](auto weight) {
    fits = Fits<decltype(weight)>(data.weight);
    if (!fits) return;
    weight = static_cast<decltype(weight)>(data.weight);
    std::memcpy(bytes.data(), &weight, sizeof weight);
  });
  if (!fits) {
    return UsageError("weight {} does not fit: the weights of this store are {}", data.weight,
                      WeightName(shape_.weights));
  }
  std::copy(data.properties.begin(), data.properties.end(), bytes.begin() + shape_.weight_bytes());
  return bytes;
}

EdgeData StoreOperations::Decode(const std::byte* properties) const {
  EdgeData data;
  data.properties.resize(shape_.extra_bytes());
  if (properties != nullptr) {
    std::memcpy(data.properties.data(), properties + shape_.weight_bytes(), shape_.extra_bytes());
  }
  WithWeightType(shape_.weights, [&](auto weight) {
    if (properties != nullptr) std::memcpy(&weight, properties, sizeof weight);
    data.weight = static_cast<double>(weight);
  });
  return data;
}

}  // namespace internal

bool ReadTransaction::Over() const { return !operations_.WhyOver().empty(); }

Result<bool> ReadTransaction::HasVertex(std::uint64_t vertex) {
  SLIM_TRY(operations_.CheckId(vertex));
  return operations_.Do([&](GraphTransaction& graph) { return graph.GetVertex(vertex, {}); });
}

Result<bool> ReadTransaction::HasEdge(std::uint64_t from, std::uint64_t to) {
  SLIM_TRY(operations_.CheckId(std::max(from, to)));
  txn::StoredEdge edge;
  return operations_.Do([&](GraphTransaction& graph) { return graph.GetEdge(from, to, edge, {}); });
}

Result<std::vector<std::byte>> ReadTransaction::VertexProperties(std::uint64_t vertex) {
  SLIM_TRY(operations_.CheckId(vertex));
  std::vector<std::byte> properties(operations_.shape().vertex_bytes);
  SLIM_TRY(operations_.Require(NoVertex(vertex), [&](GraphTransaction& graph) {
    return graph.GetVertex(vertex, properties);
  }));
  return properties;
}

Result<EdgeData> ReadTransaction::Edge(std::uint64_t from, std::uint64_t to) {
  SLIM_TRY(operations_.CheckId(std::max(from, to)));
  txn::StoredEdge edge;
  std::vector<std::byte> properties(operations_.shape().edge_bytes);
  SLIM_TRY(operations_.Require(
      fmt::format("the edge from {} to {} does not exist", from, to),
      [&](GraphTransaction& graph) { return graph.GetEdge(from, to, edge, properties); }));
  return operations_.Decode(properties.data());
}

Result<std::uint64_t> ReadTransaction::Degree(std::uint64_t vertex, EdgeSide side) {
  SLIM_TRY(operations_.CheckId(vertex));
  std::uint64_t degree = 0;
  SLIM_TRY(operations_.Require(NoVertex(vertex), [&](GraphTransaction& graph) {
    return graph.Degree(vertex, degree, DirectionOn(side));
  }));
  return degree;
}

Result<std::vector<std::uint64_t>> ReadTransaction::Neighbours(std::uint64_t vertex,
                                                               EdgeSide side) {
  SLIM_TRY(operations_.CheckId(vertex));
  std::vector<std::uint64_t> found;
  txn::NeighbourQuery query;
  query.direction = DirectionOn(side);
  SLIM_TRY(operations_.Require(NoVertex(vertex), [&](GraphTransaction& graph) {
    txn::NeighbourList list;
    const Answer answer = graph.Neighbours(vertex, query, list);
    if (answer != Answer::kYes) return answer;
    found.reserve(list.size());
    list.ForEach(
        [&](const txn::StoredEdge& edge, const std::byte*) { found.push_back(edge.neighbour); });
    return answer;
  }));
  return found;
}

Result<std::vector<StoredNeighbour>> ReadTransaction::NeighboursWithData(
    std::uint64_t vertex, const NeighbourChoice& choice) {
  SLIM_TRY(operations_.CheckId(vertex));
  std::vector<StoredNeighbour> found;
  const txn::NeighbourQuery query{.newest_first = choice.newest_first,
                                  .limit = choice.most,
                                  .from = choice.from,
                                  .to = choice.to,
                                  .properties = true,
                                  .direction = DirectionOn(choice.side)};
  SLIM_TRY(operations_.Require(NoVertex(vertex), [&](GraphTransaction& graph) {
    txn::NeighbourList list;
    const Answer answer = graph.Neighbours(vertex, query, list);
    if (answer != Answer::kYes) return answer;
    found.reserve(list.size());
    list.ForEach([&](const txn::StoredEdge& edge, const std::byte* properties) {
      found.push_back({edge.neighbour, operations_.Decode(properties), edge.time});
    });
    return answer;
  }));
  return found;
}

Result<std::vector<std::uint64_t>> ReadTransaction::FindVertices(const std::string& name,
                                                                 long double first,
                                                                 long double last) {
  std::vector<std::uint64_t> found;
  const std::string missing = fmt::format("the store has no index {}", name);
  SLIM_TRY(operations_.Require(missing, [&](GraphTransaction& graph) {
    const auto* const index = graph.indexes().Find(name);
    return index == nullptr ? Answer::kNo : graph.FindVertices(*index, {first, last}, found);
  }));
  return found;
}

Result<bool> WriteTransaction::AddVertex(std::uint64_t vertex,
                                         std::span<const std::byte> properties) {
  SLIM_TRY(operations_.CheckId(vertex));
  SLIM_TRY(operations_.CheckVertexProperties(properties));
  SLIM_ASSIGN(const bool exists, HasVertex(vertex));
  if (exists) return false;
  SLIM_TRY(
      operations_.Do([&](GraphTransaction& graph) { return graph.AddVertex(vertex, properties); }));
  return true;
}

Status WriteTransaction::SetVertex(std::uint64_t vertex, std::span<const std::byte> properties) {
  SLIM_TRY(operations_.CheckId(vertex));
  SLIM_TRY(operations_.CheckVertexProperties(properties));
  return operations_.Require(NoVertex(vertex), [&](GraphTransaction& graph) {
    return graph.SetVertex(vertex, properties);
  });
}

Result<bool> WriteTransaction::RemoveVertex(std::uint64_t vertex) {
  SLIM_TRY(operations_.CheckId(vertex));
  return operations_.Do([&](GraphTransaction& graph) { return graph.DeleteVertex(vertex); });
}

Status WriteTransaction::AddEdge(std::uint64_t from, std::uint64_t to, const EdgeData& data) {
  SLIM_TRY(operations_.CheckId(std::max(from, to)));
  SLIM_ASSIGN(const auto properties, operations_.Encode(data));
  SLIM_ASSIGN(const bool added, operations_.Do([&](GraphTransaction& graph) {
    return graph.AddEdge(from, to, properties);
  }));
  if (added) return {};
  SLIM_ASSIGN(const bool has_from, HasVertex(from));
  return InputError("{}", NoVertex(has_from ? to : from));
}

Result<bool> WriteTransaction::RemoveEdge(std::uint64_t from, std::uint64_t to) {
  SLIM_TRY(operations_.CheckId(std::max(from, to)));
  return operations_.Do([&](GraphTransaction& graph) { return graph.DeleteEdge(from, to); });
}

}  // namespace slimgraph
