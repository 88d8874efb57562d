// Runs a gather program on D-Gemini's engine: every step pulls.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "slimgraph/session/internal/program_run.h"

namespace slimgraph::internal {

template <typename P>
requires(IsGatherProgram<P> && !IsMessageProgram<P>) class ProgramRun<P> : public ProgramBase<P> {
  static_assert(!HasStarts<P>, "all vertices of a gather program are active at first");

 public:
  using Value = typename P::Value;

  ProgramRun(GraphHandle& handle, const P& program)
      : ProgramBase<P>(handle, program, dgemini::Mode::kPull) {}

  Status Run() {
    dgemini::Engine& engine = this->engine_;
    this->values_ = dgemini::VertexArray<Value>(engine.vertices());
    next_ = engine.template ShareValues<Value>();
    scratch_.resize(engine.threads());
    dgemini::Frontier in(engine.vertices());
    dgemini::Frontier out(engine.vertices());
    SLIM_TRY(this->Begin(in));
    for (Step step{*this, &in}; !this->Ends(in); ++this->steps_) {
      SLIM_TRY(engine.AdvanceByPull(in, step, out));
      engine.Replace(this->values_, next_);
      std::swap(in, out);
    }
    return engine.Gather(this->values_);
  }

 private:
  struct Step {
    using Value = typename P::Value;
    ProgramRun& run;
    const dgemini::Frontier* in;

    std::true_type Wants(VertexId) const { return {}; }
    bool Pull(std::uint32_t thread, VertexId v, const Neighbours& list) {
      const Value& own = run.values_[v];
      Value& next = run.next_[v];
      next = own;
      const auto active = [this](VertexId u) { return in->Has(u); };
      if (!active(v) && std::none_of(list.ids.begin(), list.ids.end(), active)) return false;
      const NeighbourValues<Value> neighbours(list, run.values_.data(), run.weight_at_);
      if constexpr (GathersWithScratch<P>) {
        next = run.program_.Gather(own, neighbours, run.scratch_[thread].memory);
      } else {
        next = run.program_.Gather(own, neighbours);
      }
      return !(next == own);
    }
    Value Signal(VertexId u) const { return run.values_[u]; }
    void Mirror(VertexId u, Value value) { run.values_[u] = value; }
  };
  struct alignas(kCacheLineBytes) OfThread {
    typename ScratchOf<P>::Type memory;
  };

  dgemini::VertexArray<Value> next_;
  std::vector<OfThread> scratch_;
};

}  // namespace slimgraph::internal
