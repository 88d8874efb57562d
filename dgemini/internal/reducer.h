// What a memory node runs for a reduction: it keeps the values of other nodes' active vertices, and
// combines them over lists. Compute nodes name a reduction by a number that depends only on its
// type, and all nodes of a job run the same program.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dgemini/frontier.h"
#include "dgemini/internal/mirror.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/reduced_block.h"
#include "slimgraph/base/interleave.h"
#include "slimgraph/remote/served_lists.h"

namespace slimgraph::dgemini {

// Consecutive lists first .. end-1 of a part on this node, at most kReducedBlockVertices.
struct ListBlock {
  const ServedLists& lists;
  const ListCode& code;
  std::size_t weight_bytes;
  VertexId part_first;  // the part's first vertex
  VertexId first;       // as vertices
  VertexId end;
};

class Reducer {
 public:
  // Decoded lists; each thread has one.
  struct Scratch {
    struct List {
      VertexId v;
      EdgeOffset first_arc;
      std::size_t length;
    };
    std::vector<VertexId> ids;
    std::vector<List> lists;
  };
  virtual ~Reducer() = default;
  // Takes the vertices and the values of a message of Mirror.
  virtual void TakeMessage(Bytes message, Frontier& in) = 0;
  // Appends the results of the block's wanted lists to `bytes`.
  virtual void Reduce(const ListBlock& block, const Frontier& in, const Frontier& wanted,
                      Scratch& scratch, std::vector<std::byte>& bytes) const = 0;
};

template <typename R>
class ReducerOf final : public Reducer {
 public:
  using Value = typename R::Value;
  using Partial = typename R::Partial;
  using Result = typename R::Result;

  explicit ReducerOf(VertexId vertices) : values_(std::is_empty_v<Value> ? 0 : vertices) {}

  void Mirror(VertexId u, const Value& value) {
    if constexpr (!std::is_empty_v<Value>) values_[u] = value;
  }
  void TakeMessage(Bytes message, Frontier& in) override {
    if constexpr (HasShortForm<R>) {
      WithShort with{*this};
      dgemini::Mirror::TakeMessage(message, in, with);
    } else {
      dgemini::Mirror::TakeMessage(message, in, *this);
    }
  }
  void Reduce(const ListBlock& block, const Frontier& in, const Frontier& wanted, Scratch& scratch,
              std::vector<std::byte>& bytes) const override;

 private:
  struct WithShort {
    using Value = typename R::Value;
    using Short = typename R::Short;
    ReducerOf& reducer;
    void Mirror(VertexId u, const Value& value) { reducer.Mirror(u, value); }
  };
  static constexpr std::size_t kBatchArcs = 16 << 10;

  // Returns whether the list has a result.
  bool ReduceList(const Frontier& in, const Neighbours& list, Partial& result) const;
  Value ValueOf(VertexId u) const {
    if constexpr (std::is_empty_v<Value>)
      return {};
    else
      return values_[u];
  }

  VertexArray<Value> values_;
};

template <typename R>
bool ReducerOf<R>::ReduceList(const Frontier& in, const Neighbours& list, Partial& result) const {
  bool counts = false;
  const auto add = [&](std::size_t i, VertexId u) {
    if (R::kOfActive && !in.Has(u)) return;
    const Partial one = R::Along(ValueOf(u), list, i);
    result = counts ? R::Combine(result, one) : one;
    counts = true;
  };
  if constexpr (R::kOneSuffices) {
    for (std::size_t i = 0; i < list.ids.size() && !counts; ++i) add(i, list.ids[i]);
  } else {
    ForEachPrefetched(values_, list, [&](std::size_t i, VertexId u, const Value&) { add(i, u); });
  }
  return counts;
}

template <typename R>
void ReducerOf<R>::Reduce(const ListBlock& block, const Frontier& in, const Frontier& wanted,
                          Scratch& scratch, std::vector<std::byte>& bytes) const {
  ReducedBlock<R> results(block.first / 64);
  std::size_t decoded = 0;
  const auto reduce_decoded = [&] {
    std::size_t at = 0;
    for (const Scratch::List& one : scratch.lists) {
      const std::byte* const weights =
          block.weight_bytes == 0 ? nullptr
                                  : block.lists.weights.data() + one.first_arc * block.weight_bytes;
      const Neighbours list{
          {scratch.ids.data() + at, one.length}, weights, decoded - at - one.length};
      at += one.length;
      Partial result{};
      if (ReduceList(in, list, result)) results.Add(one.v, Result(result));
    }
    SimulateWork(decoded + 2 * scratch.lists.size());
    scratch.lists.clear();
    decoded = 0;
  };
  VisitServedLists(
      block.lists, block.code, block.first - block.part_first, block.end - block.part_first,
      [&](VertexId i, std::uint64_t first_byte, EdgeOffset first_arc, std::size_t length) {
        const VertexId v = block.part_first + i;
        if (length == 0 || (!R::kOfAll && !wanted.Has(v))) return;
        if (scratch.ids.size() < decoded + length) scratch.ids.resize(decoded + length);
        SLIM_CHECK(block.code.Decode(block.lists.lists.data() + first_byte,
                                     std::span(scratch.ids).subspan(decoded, length)));
        scratch.lists.push_back({v, first_arc, length});
        decoded += length;
        if (decoded >= kBatchArcs) reduce_decoded();
      });
  reduce_decoded();
  results.AppendTo(bytes);
}

// ---- reductions by number

using MakeReducer = std::unique_ptr<Reducer> (*)(VertexId vertices);
constexpr unsigned kReductionBits = 24;

// A process calls it for each reduction that it contains, before main() begins. Returns `number`.
std::uint32_t RegisterReduction(std::uint32_t number, MakeReducer make);
std::unique_ptr<Reducer> MakeReducerOf(std::uint32_t number, VertexId vertices);

// The hash of the type's name (FNV-1a).
template <typename R>
constexpr std::uint32_t ReductionNumber() {
  std::uint32_t hash = 2166136261U;
  for (const char c : std::string_view(__PRETTY_FUNCTION__)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash >> (32 - kReductionBits);
}

template <typename R>
struct Registered {
  static const std::uint32_t number;
};
template <typename R>
const std::uint32_t Registered<R>::number =
    RegisterReduction(ReductionNumber<R>(), [](VertexId vertices) -> std::unique_ptr<Reducer> {
      return std::make_unique<ReducerOf<R>>(vertices);
    });

}  // namespace slimgraph::dgemini
