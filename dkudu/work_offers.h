// Work that one engine has begun and any other can finish. An engine with nothing left to do asks
// for it; engines that hear of that put parts of what they have into slots of their node's memory,
// from where they are taken. No engine leaves before all are done, for the last may still offer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "dkudu/mining_job.h"

namespace slimgraph {

class WorkOffers {
 public:
  static constexpr std::size_t kSlots = 4;  // of each node
  static constexpr std::uint64_t kMostPartBytes = 1 << 20;

  // Collective. Parts are of `part_bytes` at most, a multiple of 8.
  static Result<std::unique_ptr<WorkOffers>> Make(MiningJob& job, std::uint64_t part_bytes);

  // Whether an engine anywhere has nothing to do. Cheap enough to be asked often.
  bool hungry() const;
  // And whether this node has a slot free.
  bool wanted() const;

  // From an engine that is not done itself. False where there is no slot, the part is too large, or
  // a node was lost: the engine has to do it itself.
  bool Offer(Endpoint& endpoint, std::uint64_t label, Bytes part);

  // From an engine that is done with what it had, the part that it took last included: another part
  // and its label, as soon as there is one; nothing when the whole job is done.
  Result<std::optional<std::uint64_t>> Take(Endpoint& endpoint, std::vector<std::uint64_t>& part);

  // An engine of this node has failed: its others wait no longer.
  void GiveUp() { given_up_ = true; }

  std::uint64_t stolen() const { return stolen_; }  // parts of other nodes

 private:
  // Changed by compare-and-swap alone.
  enum State : std::uint64_t { kFree, kFilling, kReady, kTaken };
  // At the start of each compute node's region; the parts follow.
  struct Head {
    std::uint64_t hungry;  // 1 from when the first engine has asked
    // At node 0: engines and parts that are done, less the parts that were offered.
    std::uint64_t done;
    std::array<std::uint64_t, kSlots> states;
    // Looked at by whoever has brought the slot's state to kFilling or kTaken, as the part is.
    struct Label {
      std::uint64_t label;
      std::uint64_t bytes;
    };
    std::array<Label, kSlots> labels;
  };
  static std::uint64_t StateAt(std::size_t slot) {
    return offsetof(Head, states) + slot * sizeof(std::uint64_t);
  }
  static std::uint64_t LabelAt(std::size_t slot) {
    return offsetof(Head, labels) + slot * sizeof(Head::Label);
  }
  std::uint64_t PartAt(std::size_t slot) const { return sizeof(Head) + slot * part_bytes_; }

  WorkOffers(const MiningJob& job, std::uint64_t part_bytes);
  bool Swap(Endpoint& endpoint, NodeId node, std::size_t slot, State from, State to) const;
  Status Ask(Endpoint& endpoint);
  Result<std::optional<std::uint64_t>> Find(Endpoint& endpoint, std::vector<std::uint64_t>& part);
  Result<bool> TakeFrom(Endpoint& endpoint, NodeId node, std::size_t slot, Head::Label& label,
                        std::vector<std::uint64_t>& part);

  const Job& job_;
  NodeId self_;
  NodeId compute_;
  std::uint64_t engines_;  // of the job
  bool steal_;
  std::uint64_t part_bytes_;
  RegionId region_ = 0;
  Head* own_ = nullptr;  // null on memory nodes
  std::atomic<bool> asked_{false};
  std::atomic<bool> given_up_{false};
  std::atomic<std::uint64_t> stolen_{0};
};

}  // namespace slimgraph
