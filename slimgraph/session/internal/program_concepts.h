// What a program of a user's own has, as concepts.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "slimgraph/remote/neighbours.h"

namespace slimgraph {

// What is known before a step.
struct StepInfo {
  std::uint64_t steps = 0;   // that were made
  std::uint64_t active = 0;  // vertices, over all nodes
};

// The values of a vertex's neighbours, and the weights of the edges that lead from them.
template <typename Value>
class NeighbourValues {
 public:
  using WeightAt = double (*)(const Neighbours&, std::size_t);
  NeighbourValues(const Neighbours& list, const Value* values, WeightAt weight_at)
      : list_(list), values_(values), weight_at_(weight_at) {}

  std::size_t size() const { return list_.ids.size(); }
  const Value& operator[](std::size_t i) const { return values_[list_.ids[i]]; }
  // The graph must have weights.
  double weight(std::size_t i) const { return weight_at_(list_, i); }

 private:
  const Neighbours& list_;
  const Value* values_;
  WeightAt weight_at_;
};

namespace internal {

template <typename T>
concept IsPlain = std::is_trivially_copyable_v<T> && std::default_initializable<T>;
template <typename P>
concept HasValue = IsPlain<typename P::Value> &&(
    requires(const P& p, std::uint64_t id) {
      { p.Initial(id) } -> std::convertible_to<typename P::Value>;
    } ||
    requires(const P& p, std::uint64_t id, std::uint64_t degree) {
      { p.Initial(id, degree) } -> std::convertible_to<typename P::Value>;
    });
template <typename P>
concept StartsFromDegree = requires(const P& p, std::uint64_t id, std::uint64_t degree) {
  p.Initial(id, degree);
};
template <typename P>
concept HasStarts = requires(const P& p, std::uint64_t id) {
  { p.Starts(id) } -> std::convertible_to<bool>;
};
template <typename P>
concept HasEnds = requires(const P& p, const StepInfo& info) {
  { p.Ends(info) } -> std::convertible_to<bool>;
};

template <typename P>
concept HasWants = requires(const P& p, const typename P::Value& value) {
  { p.Wants(value) } -> std::convertible_to<bool>;
};

template <typename P>
concept SendsTheSame = requires(const P& p, const typename P::Value& value) {
  { p.Send(value) } -> std::convertible_to<typename P::Message>;
};
template <typename P>
concept SendsByWeight = requires(const P& p, const typename P::Value& value, double weight) {
  { p.Send(value, weight) } -> std::convertible_to<typename P::Message>;
};
template <typename P>
concept IsMessageProgram = HasValue<P> && IsPlain<typename P::Message> &&
    (SendsTheSame<P> || SendsByWeight<P>)&&requires(const P& p, typename P::Value& value,
                                                    typename P::Message message) {
  { p.Nothing() } -> std::convertible_to<typename P::Message>;
  { p.Combine(message, message) } -> std::convertible_to<typename P::Message>;
  { p.Update(value, message) } -> std::convertible_to<bool>;
};

template <typename P>
struct ScratchOf {
  struct None {};
  using Type = None;
};
template <typename P>
requires requires { typename P::Scratch; }
struct ScratchOf<P> {
  using Type = typename P::Scratch;
};
template <typename P>
concept GathersWithScratch = requires(const P& p, const typename P::Value& own,
                                      const NeighbourValues<typename P::Value>& in,
                                      typename ScratchOf<P>::Type& scratch) {
  { p.Gather(own, in, scratch) } -> std::convertible_to<typename P::Value>;
};
template <typename P>
concept IsGatherProgram = HasValue<P> && std::equality_comparable<typename P::Value> &&
    (GathersWithScratch<P> || requires(const P& p, const typename P::Value& own,
                                       const NeighbourValues<typename P::Value>& in) {
      { p.Gather(own, in) } -> std::convertible_to<typename P::Value>;
    });

// Reads weights as doubles.
template <typename Weight>
double WeightAs(const Neighbours& list, std::size_t i) {
  return static_cast<double>(list.weight<Weight>(i));
}

// Messages that one instruction can exchange may be pushed by several threads at once.
template <typename Message>
constexpr bool kMayPush = [] {
  if constexpr (sizeof(Message) == 4 || sizeof(Message) == 8) {
    return std::atomic_ref<Message>::is_always_lock_free;
  } else {
    return false;
  }
}();

}  // namespace internal
}  // namespace slimgraph
