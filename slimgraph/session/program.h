// Vertex programs of your own. A program is a struct that says what a vertex's value is, and how
// values cross edges. The engine does the rest: which vertices are active, in which direction edges
// are walked, what memory nodes hold, what crosses the network.
//
// There are two forms. In both, a step reads the values of the step before. The result does not
// depend on threads or nodes, unless Combine rounds: the order in which messages are combined
// differs from run to run.
//
// A message program: active vertices send along their outgoing edges; a vertex takes what has been
// sent to it.
//
//   struct Hops {                                          // breadth-first search
//     using Value = std::uint32_t;
//     using Message = std::uint32_t;
//     std::uint64_t source;
//     Value Initial(std::uint64_t id) const { return id == source ? 0 : ~0U; }
//     bool Starts(std::uint64_t id) const { return id == source; }
//     Message Nothing() const { return ~0U; }
//     Message Send(Value hops) const { return hops + 1; }
//     Message Combine(Message a, Message b) const { return std::min(a, b); }
//     bool Update(Value& hops, Message message) const {     // whether the vertex becomes active
//       return message < hops ? (hops = message, true) : false;
//     }
//   };
//   auto result = slimgraph::Run(graph, Hops{1});
//
// A gather program: a vertex computes its next value from all values of its neighbours (in a
// directed graph, of the sources of its incoming edges). A vertex is active if its value has
// changed. Vertices without an active neighbour that are not active themselves keep their value,
// so Gather must depend on nothing but its arguments.
//
//   struct Smallest {                                      // connected components
//     using Value = std::uint64_t;
//     Value Initial(std::uint64_t id) const { return id; }
//     Value Gather(Value own, const NeighbourValues<Value>& in) const {
//       for (std::size_t i = 0; i < in.size(); ++i) own = std::min(own, in[i]);
//       return own;
//     }
//   };
//
// Optional members:
//   Value Initial(std::uint64_t id, std::uint64_t degree)   instead; degree: of outgoing edges
//   bool Starts(std::uint64_t id) const       messages: which vertices are active at first; or all
//   bool Ends(const StepInfo& info) const     asked before each step, also the first
//   bool Wants(const Value& value) const      messages: false if the vertex takes no more
//   Message Send(Value, double weight) const  instead of Send(Value)
//   using Scratch = T; Value Gather(own, in, T& scratch)    memory of the calling thread
// A program ends when no vertex is active, or when Ends returns true. Functions are called by many
// threads, so they must not change the program, and they must not throw. Value and Message are
// trivially copyable and default constructible; a gather program's Value has ==.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "slimgraph/session/graph.h"
#include "slimgraph/session/internal/gather_program.h"
#include "slimgraph/session/internal/message_program.h"
#include "slimgraph/session/vertex_values.h"

namespace slimgraph {

template <typename Program>
concept MessageProgram = internal::IsMessageProgram<Program>;
template <typename Program>
concept GatherProgram = internal::IsGatherProgram<Program>;

template <typename Value>
struct ProgramResult {
  VertexValues<Value> values;  // on node 0
  std::uint64_t steps = 0;
};

// Runs a program on a graph. Collective over the compute nodes, which must pass equal programs.
template <typename Program>
requires MessageProgram<Program> || GatherProgram<Program>
    Result<ProgramResult<typename Program::Value>> Run(Graph& graph, const Program& program) {
  using Value = typename Program::Value;
  internal::GraphHandle& handle = graph.handle();
  SLIM_TRY(internal::PrepareProgram<Program>(handle));
  internal::ProgramRun<Program> run(handle, program);
  SLIM_TRY(handle.Checked(run.Run()));
  ProgramResult<Value> result{.values = {}, .steps = run.steps()};
  if (handle.nodes->self() == 0) {
    result.values = VertexValues<Value>(handle.ids, std::move(run.values()));
  }
  return result;
}

}  // namespace slimgraph
