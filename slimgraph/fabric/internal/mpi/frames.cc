#include "slimgraph/fabric/internal/mpi/frames.h"

#include <algorithm>

#include "slimgraph/base/clock.h"

namespace slimgraph {

namespace {
// Shorter than the time for which a service thread stays awake after it has done something.
constexpr std::uint64_t kSurelyAwakeNs = 10'000;
}  // namespace

MpiFrames::MpiFrames(MpiWorld& world, WakeSocket& wake, NodeId self, NodeId nodes)
    : world_(world),
      wake_(wake),
      self_(self),
      arriving_(nodes),
      heard_ns_(nodes),
      woken_ns_(nodes) {}

void MpiFrames::Send(NodeId node, Frame frame) {
  if (node == self_) {
    arriving_[self_].push_back({0, std::move(frame)});
    ++num_arriving_;
    return;
  }
  const MpiWorld::Transfer transfer = world_.Send(node, MpiWorld::kFrames, frame.bytes());
  sending_.push_back({node, transfer, std::move(frame)});
  Wake(node);
}

void MpiFrames::Wake(NodeId node) {
  const std::uint64_t now = NowNs();
  if (now - std::max(heard_ns_[node], woken_ns_[node]) < kSurelyAwakeNs) return;
  woken_ns_[node] = now;
  wake_.Wake(node);
}

std::optional<MpiFrames::Arrived> MpiFrames::Receive() {
  if (auto arrival = world_.ReceiveFrame()) {
    heard_ns_[arrival->from] = NowNs();
    arriving_[arrival->from].push_back(
        {arrival->transfer, Frame(std::move(arrival->memory), arrival->bytes)});
    ++num_arriving_;
  }
  if (num_arriving_ == 0) return std::nullopt;
  for (std::size_t i = 0; i < arriving_.size(); ++i) {
    turn_ = (turn_ + 1) % static_cast<NodeId>(arriving_.size());
    const NodeId node = turn_;
    auto& arriving = arriving_[node];
    if (arriving.empty()) continue;
    if (node != self_ && !world_.Test(arriving.front().transfer)) continue;
    Arrived arrived{node, std::move(arriving.front().frame)};
    arriving.pop_front();
    --num_arriving_;
    return arrived;
  }
  return std::nullopt;
}

bool MpiFrames::Progress() {
  const auto gone =
      std::erase_if(sending_, [this](Sending& sending) { return world_.Test(sending.transfer); });
  return gone > 0;
}

void MpiFrames::Forget(NodeId node) {
  num_arriving_ -= arriving_[node].size();
  for (Arriving& arriving : arriving_[node]) {
    forgotten_.push_back({node, arriving.transfer, std::move(arriving.frame)});
  }
  arriving_[node].clear();
  for (auto sending = sending_.begin(); sending != sending_.end();) {
    const auto next = std::next(sending);
    if (sending->node == node) forgotten_.splice(forgotten_.end(), sending_, sending);
    sending = next;
  }
}

}  // namespace slimgraph
