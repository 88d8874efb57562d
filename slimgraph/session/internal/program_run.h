// What both forms of programs have in common: the lists that they need, and how they begin.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "dgemini/engine.h"
#include "slimgraph/files/weights.h"
#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/program_concepts.h"

namespace slimgraph::internal {

template <typename P>
class ProgramRun;

// The engine of one run, and a program's optional members.
template <typename P>
class ProgramBase {
 public:
  using Value = typename P::Value;

  ProgramBase(GraphHandle& handle, const P& program, dgemini::Mode mode)
      : program_(program),
        ids_(*handle.ids),
        engine_(handle.lists().cluster(), handle.lists().work(), handle.lists().exchange(), mode),
        weight_at_(WeightReader(handle.weight_type)) {}

  std::uint64_t steps() const { return steps_; }
  dgemini::VertexArray<Value>& values() { return values_; }

 protected:
  // Sets the initial values, and the frontier.
  Status Begin(dgemini::Frontier& frontier) {
    if constexpr (StartsFromDegree<P>) {
      SLIM_ASSIGN(const auto degrees, engine_.Degrees());
      engine_.ForEach([&](VertexId v) { values_[v] = program_.Initial(ids_[v], degrees[v]); });
    } else {
      engine_.ForEach([&](VertexId v) { values_[v] = program_.Initial(ids_[v]); });
    }
    if constexpr (HasStarts<P>) {
      return engine_.Choose(frontier, [&](VertexId v) { return program_.Starts(ids_[v]); });
    }
    engine_.ActivateAll(frontier);
    return {};
  }

  bool Ends(const dgemini::Frontier& frontier) const {
    if constexpr (HasEnds<P>) {
      if (program_.Ends({.steps = steps_, .active = frontier.active().vertices})) return true;
    }
    return frontier.empty();
  }

  static typename NeighbourValues<Value>::WeightAt WeightReader(WeightType type) {
    typename NeighbourValues<Value>::WeightAt reader = nullptr;
    WithWeightType(type, [&](auto weight) { reader = &WeightAs<decltype(weight)>; });
    return reader;
  }

  const P& program_;
  const OriginalIds& ids_;
  dgemini::Engine engine_;
  typename NeighbourValues<Value>::WeightAt weight_at_;
  dgemini::VertexArray<Value> values_;
  std::uint64_t steps_ = 0;
};

// The frontiers, as bytes per vertex.
constexpr double kFrontierBytes = 0.25;

template <typename P>
VertexRequest RequestFor(bool weights) {
  VertexRequest request;
  request.weights = weights;
  request.pull_in = true;
  if constexpr (IsMessageProgram<P>) {
    constexpr double kAll = SendsTheSame<P>
                                ? 2 * sizeof(typename P::Message)
                                : sizeof(typename P::Message) + sizeof(typename P::Value);
    request.vertex_bytes = kAll + kFrontierBytes;
    request.share_bytes = SendsTheSame<P> ? sizeof(typename P::Value) : 0;
  } else {
    request.vertex_bytes = sizeof(typename P::Value) + kFrontierBytes;
    request.share_bytes = sizeof(typename P::Value);
  }
  return request;
}

// Collective over the compute nodes: loads what the program needs.
template <typename P>
Status PrepareProgram(GraphHandle& handle) {
  const bool weighted = handle.weight_type != WeightType::kNone;
  if constexpr (IsMessageProgram<P>) {
    if (!SendsTheSame<P> && !weighted) {
      return InputError("Run: the program sends by weight, but the graph has no weights");
    }
    return handle.Load("Run", RequestFor<P>(!SendsTheSame<P>));
  } else {
    return handle.Load("Run", RequestFor<P>(weighted));
  }
}

}  // namespace slimgraph::internal
