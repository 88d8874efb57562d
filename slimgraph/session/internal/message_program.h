// Runs a message program on D-Gemini's engine.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "slimgraph/session/internal/program_run.h"

namespace slimgraph::internal {

// If a vertex sends the same along all its edges, other nodes get that message; otherwise they get
// its value.
template <IsMessageProgram P>
class ProgramRun<P> : public ProgramBase<P> {
 public:
  using Message = typename P::Message;
  static constexpr bool kSame = SendsTheSame<P>;

  ProgramRun(GraphHandle& handle, const P& program)
      : ProgramBase<P>(handle, program,
                       kMayPush<Message> ? dgemini::Mode::kAuto : dgemini::Mode::kPull) {}

  Status Run() {
    dgemini::Engine& engine = this->engine_;
    auto& values = this->values_;
    if constexpr (kSame) {
      values = engine.template ShareValues<typename P::Value>();
      sent_ = dgemini::VertexArray<Message>(engine.vertices());
    } else {
      values = dgemini::VertexArray<typename P::Value>(engine.vertices());
    }
    received_ = engine.Values(Message(this->program_.Nothing()));
    dgemini::Frontier in(engine.vertices());
    dgemini::Frontier out(engine.vertices());
    SLIM_TRY(this->Begin(in));
    if constexpr (kSame) {
      engine.ForEach([&](VertexId v) { sent_[v] = this->program_.Send(values[v]); });
    }
    for (Step step{*this, &in}; !this->Ends(in); ++this->steps_) {
      if constexpr (kMayPush<Message>) {
        SLIM_TRY(engine.Advance(in, step, out));
      } else {
        SLIM_TRY(engine.AdvanceByPull(in, step, out));
      }
      SLIM_TRY(engine.Filter(out, [&](VertexId v) { return Update(v); }));
      std::swap(in, out);
    }
    return engine.Gather(values);
  }

 private:
  union ValueOrMessage {
    ValueOrMessage() {}  // types whose members have initialisers have none of their own
    typename P::Value value;
    Message message;
  };
  static ValueOrMessage OfMessage(const Message& message) {
    ValueOrMessage one;
    std::construct_at(&one.message, message);
    return one;
  }
  static ValueOrMessage OfValue(const typename P::Value& value) {
    ValueOrMessage one;
    std::construct_at(&one.value, value);
    return one;
  }

  struct Step {
    // What crosses the network: a message to the owner of a vertex when a step pushes; when it
    // pulls, what active vertices send.
    using Value = std::conditional_t<kSame, Message, ValueOrMessage>;
    // A pulled edge costs less than a pushed one, which takes an atomic exchange.
    static constexpr std::uint64_t kPullAbove = 2;

    ProgramRun& run;
    const dgemini::Frontier* in;

    template <typename Activate>
    void Push(VertexId u, const Neighbours& out, Activate activate) {
      for (std::size_t i = 0; i < out.ids.size(); ++i) {
        run.Receive(out.ids[i], run.Along(u, out, i));
        activate(out.ids[i]);
      }
    }
    Value Partial(VertexId v) {
      const Message message = std::exchange(run.received_[v], run.program_.Nothing());
      if constexpr (kSame) {
        return message;
      } else {
        return OfMessage(message);
      }
    }
    bool Slot(VertexId v, Value sent) {
      if constexpr (kSame) {
        run.received_[v] = run.program_.Combine(run.received_[v], sent);
      } else {
        run.received_[v] = run.program_.Combine(run.received_[v], sent.message);
      }
      return true;
    }

    auto Wants(VertexId v) const {
      if constexpr (HasWants<P>) {
        return run.program_.Wants(run.values_[v]);
      } else {
        return std::true_type();
      }
    }
    bool Pull(VertexId v, const Neighbours& list) {
      bool any = false;
      Message message = run.program_.Nothing();
      for (std::size_t i = 0; i < list.ids.size(); ++i) {
        if (!in->Has(list.ids[i])) continue;
        message = run.program_.Combine(message, run.Along(list.ids[i], list, i));
        any = true;
      }
      if (any) run.received_[v] = message;
      return any;
    }
    Value Signal(VertexId u) const {
      if constexpr (kSame) {
        return run.sent_[u];
      } else {
        return OfValue(run.values_[u]);
      }
    }
    void Mirror(VertexId u, Value sent) {
      if constexpr (kSame) {
        run.sent_[u] = sent;
      } else {
        run.values_[u] = sent.value;
      }
    }
  };

  Message Along(VertexId u, const Neighbours& list, std::size_t i) const {
    if constexpr (kSame) {
      return sent_[u];
    } else {
      return this->program_.Send(this->values_[u], this->weight_at_(list, i));
    }
  }

  // Other threads may send to v at the same time.
  void Receive(VertexId v, Message message) {
    const std::atomic_ref<Message> received(received_[v]);
    Message now = received.load(std::memory_order_relaxed);
    while (!received.compare_exchange_weak(now, this->program_.Combine(now, message),
                                           std::memory_order_relaxed)) {
    }
  }

  // Whether v becomes active by what it has received.
  bool Update(VertexId v) {
    auto& value = this->values_[v];
    const Message message = std::exchange(received_[v], this->program_.Nothing());
    if constexpr (HasWants<P>) {
      if (!this->program_.Wants(value)) return false;
    }
    if (!this->program_.Update(value, message)) return false;
    if constexpr (kSame) sent_[v] = this->program_.Send(value);
    return true;
  }

  dgemini::VertexArray<Message> sent_;      // by vertex, if it sends the same along all edges
  dgemini::VertexArray<Message> received_;  // combined; Nothing() between steps
};

}  // namespace slimgraph::internal
