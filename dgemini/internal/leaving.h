// How a program is left by its compute nodes and continued by others, when a job changes their
// number. Between two steps, a program calls Leave with its state: arrays, frontiers and numbers.
// If Leave returns true, the state has been handed over, and the program returns. The program of
// the nodes that follow calls Resume with the same state before its first step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

#include "dgemini/engine.h"
#include "slimgraph/cluster/handover.h"

namespace slimgraph::dgemini {

// An array of which a node needs the values of its share alone.
template <typename T>
struct OfShare {
  VertexArray<T>& values;
};
template <typename T>
OfShare(VertexArray<T>&) -> OfShare<T>;

// An array that prepare() completes when the program is left.
template <typename T, typename Prepare>
struct Prepared {
  VertexArray<T>& values;
  Prepare prepare;
};
template <typename T, typename Prepare>
Prepared(VertexArray<T>&, Prepare) -> Prepared<T, Prepare>;

// Goes through the memory, and writes or reads one part of the state after the other.
class HandoverCursor {
 public:
  HandoverCursor(Engine& engine, std::byte* memory) : engine_(engine), at_(memory) {}

  template <typename T>
  Status Write(const VertexArray<T>& values) {
    T* const kept = Next<T>(engine_.vertices());
    engine_.ForEach([&](VertexId v) { kept[v] = values[v]; });
    return {};
  }
  template <typename T>
  Status Write(const OfShare<T>& array) {
    return Write(array.values);
  }
  template <typename T, typename Prepare>
  Status Write(const Prepared<T, Prepare>& array) {
    SLIM_TRY(array.prepare());
    return Write(array.values);
  }
  // A byte for each vertex, so that nodes never write to the same place.
  Status Write(Frontier& frontier) {
    auto* const kept = Next<std::uint8_t>(engine_.vertices());
    engine_.List(frontier);
    engine_.ForEach([&](VertexId v) { kept[v] = 0; });
    frontier.list().ForEach([&](VertexId v) { kept[v] = 1; });
    return {};
  }
  // All nodes have the same number.
  template <typename T>
  requires std::is_trivially_copyable_v<T> Status Write(const T& number) {
    T* const kept = Next<T>(1);
    if (engine_.first()) *kept = number;
    return {};
  }

  template <typename T>
  Status Read(VertexArray<T>& values) {
    const T* const kept = Next<T>(engine_.vertices());
    engine_.ForAll([&](VertexId v) { values[v] = kept[v]; });
    return {};
  }
  template <typename T>
  Status Read(OfShare<T>& array) {
    const T* const kept = Next<T>(engine_.vertices());
    engine_.ForEach([&](VertexId v) { array.values[v] = kept[v]; });
    return {};
  }
  Status Read(Frontier& frontier) {
    const auto* const kept = Next<std::uint8_t>(engine_.vertices());
    return engine_.Choose(frontier, [&](VertexId v) { return kept[v] != 0; });
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T> Status Read(T& number) {
    number = *Next<T>(1);
    return {};
  }

  // How many bytes a part of the state takes.
  template <typename T>
  static std::uint64_t Bytes(const VertexArray<T>& values) {
    return Rounded(values.size() * sizeof(T));
  }
  template <typename T>
  static std::uint64_t Bytes(const OfShare<T>& array) {
    return Bytes(array.values);
  }
  template <typename T, typename Prepare>
  static std::uint64_t Bytes(const Prepared<T, Prepare>& array) {
    return Bytes(array.values);
  }
  static std::uint64_t Bytes(const Frontier& frontier) { return Rounded(frontier.words() * 64); }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  static std::uint64_t Bytes(const T&) { return Rounded(sizeof(T)); }

 private:
  static std::uint64_t Rounded(std::uint64_t bytes) {
    return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  }
  template <typename T>
  T* Next(std::size_t count) {
    T* const part = reinterpret_cast<T*>(at_);
    at_ += Rounded(count * sizeof(T));
    return part;
  }

  Engine& engine_;
  std::byte* at_;
};

namespace internal {

inline Status AgreeOnName(Engine& engine, Handover::Name& name) {
  return engine.Reduce(std::span(name), std::bit_or<std::uint64_t>());
}

inline Status AwaitAll(Engine& engine) {
  std::uint64_t here = 1;
  return engine.Reduce(std::span(&here, 1), std::plus<>());
}

}  // namespace internal

// Whether the compute nodes leave the program now; then its state has been handed over. The job may
// also keep the state in case that a node dies. Collective over compute nodes.
template <typename... State>
Result<bool> Leave(Engine& engine, State&&... state) {
  Handover* const handover = engine.handover();
  if (handover == nullptr) return false;
  handover->NoteStep();
  // Before its first step, there is nothing to hand over.
  if (handover->step == 0) {
    ++handover->step;
    return false;
  }
  StepCounts counts = engine.counts();
  const std::uint64_t head = HandoverCursor::Bytes(handover->step) + HandoverCursor::Bytes(counts);
  const std::uint64_t bytes = (head + ... + HandoverCursor::Bytes(state));
  SLIM_ASSIGN(Handover::Name name, handover->Decide(engine.compute(), bytes));
  SLIM_TRY(internal::AgreeOnName(engine, name));
  if (name != Handover::Name{}) {
    SLIM_ASSIGN(std::byte* const memory, handover->Open(name));
    HandoverCursor cursor(engine, memory);
    SLIM_TRY(cursor.Write(handover->step));
    SLIM_TRY(cursor.Write(counts));
    Status written;
    ((written = written ? cursor.Write(state) : written), ...);
    SLIM_TRY(written);
    SLIM_TRY(internal::AwaitAll(engine));
    if (engine.first()) handover->Complete();
    if (Handover::Leaves(name)) return true;
  }
  ++handover->step;
  return false;
}

// Whether other compute nodes have left the program; then its state is as they have left it.
// Collective over compute nodes.
template <typename... State>
Result<bool> Resume(Engine& engine, State&&... state) {
  Handover* const handover = engine.handover();
  if (handover == nullptr) return false;
  Handover::Name name = handover->Waiting();
  SLIM_TRY(internal::AgreeOnName(engine, name));
  handover->step = 0;
  if (name == Handover::Name{}) return false;
  SLIM_ASSIGN(std::byte* const memory, handover->Open(name));
  HandoverCursor cursor(engine, memory);
  StepCounts counts;
  SLIM_TRY(cursor.Read(handover->step));
  SLIM_TRY(cursor.Read(counts));
  Status read;
  ((read = read ? cursor.Read(state) : read), ...);
  SLIM_TRY(read);
  SLIM_TRY(internal::AwaitAll(engine));
  handover->Close();
  engine.SetCounts(counts);
  return true;
}

}  // namespace slimgraph::dgemini
