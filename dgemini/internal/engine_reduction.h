// The steps of the engine in which memory nodes may reduce.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph::dgemini {

template <Reduces Step>
Result<bool> Engine::ReducesPull(const Frontier& in, const Step& step) {
  if (!reduce_) return false;
  const bool by_bytes = work_.cache().side == MemorySide::kAuto;
  if (!by_bytes && work_.cache().memory_cpu_percent == 0) return true;
  StepBytes bytes;
  if (by_bytes) {
    bytes = EstimateStep<Step>(work_, in, work_.in());
    for (const Workload::Block& block : work_.remote_blocks()) {
      for (VertexId v = block.first; v < block.end; ++v) {
        if (step.Wants(v)) bytes.AddList<typename Step::Reduction>(work_, v, work_.in());
      }
    }
  }
  return PicksReduction(bytes, !by_bytes);
}

template <Reduces Step>
Result<bool> Engine::ReducesCollect(Frontier& from, const VertexLists& at) {
  if (!reduce_) return false;
  Mark(from);
  StepBytes bytes = EstimateStep<Step>(work_, from, Direction::kOut);
  at.ForEach([&](VertexId v) {
    if (work_.segment_of(v).is_own()) return;
    bytes.AddList<typename Step::Reduction>(work_, v, Direction::kOut);
  });
  return PicksReduction(bytes, false);
}

template <Reduces Step>
Status Engine::CollectByReduction(Frontier& from, const VertexLists& at, Step& step) {
  ++counts_.reduced_collects;
  VertexLists own;
  Frontier wanted(vertices());
  at.ForEach([&](VertexId v) {
    if (work_.segment_of(v).is_own()) {
      own.part(0).push_back(v);
    } else {
      wanted.Add(v);
    }
  });
  return reduce_->Run(
      from, step, Direction::kOut, [&](VertexId v) { return wanted.Has(v); },
      [&] {
        return sparse_.Run(
            Direction::kOut, own, /*arcs=*/0,
            [&](std::uint32_t t, VertexId v, const Neighbours& list) {
              CallPull(step, t, v, list);
            },
            [](VertexId) {}, [](std::uint32_t) { return std::span<const VertexId>(); });
      },
      [&](std::uint32_t, VertexId v, const typename Step::Reduction::Result& result) {
        step.Finish(v, result);
      });
}

template <typename Walk, typename Join>
Status Engine::JoinComponents(Walk walk, Join join) {
  ++counts_.collects;
  SLIM_ASSIGN(const bool reduces, ReducesJoin());
  const auto walk_lists = [&](DenseLoop::Which which) {
    return dense_.Run(
        Direction::kOut, [](VertexId) { return std::true_type(); },
        [&](std::uint32_t, VertexId u, const Neighbours& list) {
          walk(u, list);
          return false;
        },
        [](std::uint32_t, std::size_t, std::uint64_t) {}, which);
  };
  if (!reduces) return walk_lists(DenseLoop::Which::kAll);
  ++counts_.reduced_collects;
  return reduce_->JoinComponents([&] { return walk_lists(DenseLoop::Which::kOwn); }, join);
}

}  // namespace slimgraph::dgemini
