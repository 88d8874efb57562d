// Traffic over the fabric, counted where it is issued, by stage, peer and kind. Each object belongs
// to one endpoint and so to one thread; sums are computed afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/stats/stage.h"

namespace slimgraph {

enum class TrafficKind : std::uint8_t { kRead, kWrite, kCompareSwap, kFetchAdd, kMessage };
constexpr std::size_t kNumTrafficKinds = 5;
std::string_view TrafficKindName(TrafficKind kind);

struct TrafficCount {
  std::uint64_t operations = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t header_bytes = 0;  // requests, replies, operands: everything but payload
  std::uint64_t round_trips = 0;   // counted with the first operation of a part

  std::uint64_t bytes() const { return payload_bytes + header_bytes; }
  TrafficCount& operator+=(const TrafficCount& other);
  friend bool operator==(const TrafficCount&, const TrafficCount&) = default;
};

class Traffic {
 public:
  explicit Traffic(NodeId nodes) : nodes_(nodes) {}

  TrafficCount& at(StageId stage, NodeId peer, TrafficKind kind) {
    return OfAllKinds(stage, peer)[static_cast<std::size_t>(kind)];
  }
  // The counts of all kinds, indexed by kind. The pointer is valid until the next Clear().
  TrafficCount* OfAllKinds(StageId stage, NodeId peer) {
    auto& of_stage = counts_[stage];
    if (of_stage.empty()) [[unlikely]]
      of_stage.resize(nodes_ * kNumTrafficKinds);
    return &of_stage[peer * kNumTrafficKinds];
  }

  TrafficCount Total() const;
  TrafficCount OfKind(TrafficKind kind) const;
  TrafficCount OfStage(StageId stage) const;
  TrafficCount OfPeer(NodeId peer) const;

  // All counts as one list, for exchange between nodes: kNumbersPerCount numbers per count, of
  // which the first is the stage. Add() accepts such a list from any node.
  static constexpr std::size_t kNumbersPerCount = 6;
  std::vector<std::uint64_t> Numbers() const;
  void Add(const std::vector<std::uint64_t>& numbers);
  void Add(const Traffic& other);
  void Clear();

 private:
  template <typename Chosen>
  TrafficCount Sum(Chosen chosen) const;

  NodeId nodes_;
  // [stage][peer][kind]; the inner vector is allocated when the stage is first used.
  std::array<std::vector<TrafficCount>, kMaxStages> counts_;
};

}  // namespace slimgraph
