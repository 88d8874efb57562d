// The concepts of a vertex program's step, which defines how a value crosses an edge. The engine
// decides for each step whether values are pushed or pulled.
//
//   push: the engine walks the lists of active vertices. The step changes its node's copies of
//         their neighbours' values. Then the engine sends the changes of other nodes' vertices to
//         their owners.
//   pull: the engine sends the values of active vertices to the nodes whose lists contain them.
//         Then every vertex with Wants(v) walks its own list.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "slimgraph/base/types.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph::dgemini {

// The value of a step that sends no values, only which vertices are active.
struct Nothing {};

// Push calls this for each vertex that becomes active. Further arguments are passed to Defers.
struct ActivateCall {
  void operator()(VertexId v, auto... before) const;
};

// Any thread calls Push. If Push activates a vertex of another node, Partial returns the value that
// is sent to its owner. There Slot merges it, and returns whether the vertex becomes active.
template <typename Step>
concept Pushes = requires(Step& step, VertexId v, const Neighbours& out,
                          typename Step::Value value) {
  step.Push(v, out, ActivateCall());
  { step.Partial(v) } -> std::convertible_to<typename Step::Value>;
  { step.Slot(v, value) } -> std::convertible_to<bool>;
};

// Signal returns the value of an active vertex. On the nodes that need the value, Mirror stores it.
template <typename Step>
concept Mirrors = requires(Step& step, VertexId v, typename Step::Value value) {
  { step.Signal(v) } -> std::convertible_to<typename Step::Value>;
  step.Mirror(v, value);
};

// Calls Pull, which may take the number of the thread that calls it, for scratch memory.
template <typename Step>
decltype(auto) CallPull(Step& step, std::uint32_t thread, VertexId v, const Neighbours& list) {
  if constexpr (requires { step.Pull(thread, v, list); }) {
    return step.Pull(thread, v, list);
  } else {
    return step.Pull(v, list);
  }
}

// Pull returns whether the vertex becomes active. Wants returns whether the vertex walks its list;
// it returns std::true_type if every vertex does.
template <typename Step>
concept Pulls = Mirrors<Step> && requires(Step& step, VertexId v, const Neighbours& in) {
  { step.Wants(v) } -> std::convertible_to<bool>;
  { CallPull(step, 0, v, in) } -> std::convertible_to<bool>;
};

// For Engine::Advance. The engine pulls when the frontier's edges and vertices are more than
// 1 / kPullAbove of the edges that a pull would walk.
template <typename Step>
concept VertexStep = Pushes<Step> && Pulls<Step> && requires {
  { Step::kPullAbove } -> std::convertible_to<std::uint64_t>;
};

// For Engine::Collect: Pull walks the list of one of the given vertices.
template <typename Step>
concept CollectStep = Mirrors<Step> && requires(Step& step, VertexId v, const Neighbours& out) {
  CallPull(step, 0, v, out);
};

// For Engine::Agree: Signal returns the current value. Agreed returns a word of a bitmap: the
// vertices whose values are final on their owners and on all nodes whose lists contain them.
// Initial returns the value that these nodes know of any other vertex at the start. Slot merges a
// value; the order of merges must not matter.
template <typename Step>
concept AgreeStep = requires(Step& step, VertexId v, typename Step::Value value, std::size_t word) {
  { step.Agreed(word) } -> std::same_as<std::uint64_t>;
  { step.Initial(v) } -> std::convertible_to<typename Step::Value>;
  { step.Signal(v) } -> std::equality_comparable_with<typename Step::Value>;
  step.Slot(v, value);
};

// For memory nodes that reduce: `Reduction` is what Pull computes along a list, as a pure function
// of an edge and an associative combination (internal/reductions.h). Finish takes its result, and
// does the rest of Pull.
template <typename Step>
concept Reduces = std::is_same_v<typename Step::Reduction::Value, typename Step::Value> &&
    requires(Step& step, VertexId v, const typename Step::Reduction::Result& result) {
  step.Finish(v, result);
};

// ---- optional members of a step

// `left`: the arcs of vertices that may still want to pull; at first, all arcs. The engine
// subtracts the arcs of each frontier.
template <typename Step>
concept CountsArcsLeft = requires(Step& step) {
  { step.left } -> std::convertible_to<std::uint64_t>;
};

// `Short`: a smaller type, in which values are sent if it can represent all values exactly.
template <typename Step>
concept HasShortForm = requires {
  requires sizeof(typename Step::Short) < sizeof(typename Step::Value);
};

// `kActivatesOnce`: Push and Slot never activate a vertex twice.
template <typename Step>
concept ActivatesOnce = requires {
  requires Step::kActivatesOnce;
};

// `kPushesAgain`: a vertex that Push activates may be pushed in the same step, and more than once,
// because the result does not depend on the order of pushes. Push must change values with Lower,
// and read the value of the pushed vertex with LoadSeqCst.
template <typename Step>
concept PushesAgain = requires {
  requires Step::kPushesAgain;
};

// `Defers`: returns whether the step defers a vertex of the share that would become active; Refill
// activates it later. `before` are the further arguments that Push has passed to `activate`.
template <typename Step, typename... Before>
concept Defers = requires(Step& step, std::uint32_t thread, VertexId v, Before... before) {
  { step.Defers(thread, v, before...) } -> std::convertible_to<bool>;
};

}  // namespace slimgraph::dgemini
