#include "slimgraph/stats/traffic.h"

#include "slimgraph/base/check.h"

namespace slimgraph {

std::string_view TrafficKindName(TrafficKind kind) {
  constexpr std::array<std::string_view, kNumTrafficKinds> kNames = {
      "read", "write", "compare_swap", "fetch_add", "message"};
  return kNames[static_cast<std::size_t>(kind)];
}

TrafficCount& TrafficCount::operator+=(const TrafficCount& other) {
  operations += other.operations;
  payload_bytes += other.payload_bytes;
  header_bytes += other.header_bytes;
  round_trips += other.round_trips;
  return *this;
}

template <typename Chosen>
TrafficCount Traffic::Sum(Chosen chosen) const {
  TrafficCount sum;
  for (std::size_t stage = 0; stage < kMaxStages; ++stage) {
    for (std::size_t i = 0; i < counts_[stage].size(); ++i) {
      const auto peer = static_cast<NodeId>(i / kNumTrafficKinds);
      const auto kind = static_cast<TrafficKind>(i % kNumTrafficKinds);
      if (chosen(stage, peer, kind)) sum += counts_[stage][i];
    }
  }
  return sum;
}

TrafficCount Traffic::Total() const {
  return Sum([](auto, auto, auto) { return true; });
}

TrafficCount Traffic::OfKind(TrafficKind wanted) const {
  return Sum([=](auto, auto, auto kind) { return kind == wanted; });
}

TrafficCount Traffic::OfStage(StageId wanted) const {
  return Sum([=](auto stage, auto, auto) { return stage == wanted; });
}

TrafficCount Traffic::OfPeer(NodeId wanted) const {
  return Sum([=](auto, auto peer, auto) { return peer == wanted; });
}

std::vector<std::uint64_t> Traffic::Numbers() const {
  std::vector<std::uint64_t> numbers;
  for (std::size_t stage = 0; stage < kMaxStages; ++stage) {
    for (std::size_t i = 0; i < counts_[stage].size(); ++i) {
      const TrafficCount& count = counts_[stage][i];
      if (count.operations == 0) continue;
      for (const std::uint64_t number :
           {std::uint64_t{stage}, std::uint64_t{i}, count.operations, count.payload_bytes,
            count.header_bytes, count.round_trips}) {
        numbers.push_back(number);
      }
    }
  }
  return numbers;
}

void Traffic::Add(const std::vector<std::uint64_t>& numbers) {
  SLIM_CHECK(numbers.size() % kNumbersPerCount == 0);
  for (std::size_t i = 0; i < numbers.size(); i += kNumbersPerCount) {
    const auto peer = static_cast<NodeId>(numbers[i + 1] / kNumTrafficKinds);
    const auto kind = static_cast<TrafficKind>(numbers[i + 1] % kNumTrafficKinds);
    at(static_cast<StageId>(numbers[i]), peer, kind) +=
        TrafficCount{numbers[i + 2], numbers[i + 3], numbers[i + 4], numbers[i + 5]};
  }
}

void Traffic::Add(const Traffic& other) { Add(other.Numbers()); }

void Traffic::Clear() {
  for (auto& of_stage : counts_) of_stage.clear();
}

}  // namespace slimgraph
