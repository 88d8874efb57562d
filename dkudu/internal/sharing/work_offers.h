// Work that one engine has begun and any other can finish. An engine with nothing left to do
// announces that it is idle. Busy engines then put parts of their work into slots of their node's
// memory, and idle engines take the parts from there. No engine leaves before all are done, because
// the last may still offer parts.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "dkudu/internal/sharing/job_regions.h"

namespace slimgraph::dkudu {

class WorkOffers {
 public:
  static constexpr std::size_t kSlots = 4;  // per node
  static constexpr std::uint64_t kMostPartBytes = 1 << 20;

  // The memory that the offers take on a compute node, including parts that its engines have taken.
  static std::uint64_t BytesTaken(std::uint32_t threads, std::uint64_t part_bytes) {
    return sizeof(Head) + (kSlots + threads) * part_bytes;
  }

  // Collective. A part has at most `part_bytes` bytes, a multiple of 8. Nothing is ever offered if
  // `steal` is false or there is only one engine.
  static Result<std::unique_ptr<WorkOffers>> Make(Cluster& cluster, JobRegions& regions, bool steal,
                                                  std::uint64_t part_bytes);

  // Whether any engine of the job waits for a part. Cheap enough to be called often.
  bool has_idle_engine() const;
  // Whether an engine waits for a part and this node has a free slot.
  bool wants_offers() const;

  // Offers a part; only an engine that is not done may call it. Returns false if no slot is free,
  // the part is too large, or a node was lost: the caller must then do the work itself.
  bool Offer(Endpoint& endpoint, std::uint64_t label, Bytes part);

  // Called by an engine that has finished its own work and the part that it took last. Waits for
  // another part and returns its label, or nothing when the whole job is done.
  Result<std::optional<std::uint64_t>> Take(Endpoint& endpoint, std::vector<std::uint64_t>& part);

  // An engine of this node has failed: the node's other engines stop waiting.
  void GiveUp() { given_up_ = true; }

  // Whether the job is cancelled: engines then end early, with an error.
  bool cancelled() const { return job_.cancelled(); }
  std::uint64_t stolen() const { return stolen_; }  // parts taken from other nodes

 private:
  // A slot's state. Changed only by compare-and-swap.
  enum State : std::uint64_t { kFree, kFilling, kReady, kTaken };
  // At the start of each compute node's region; the slots' parts follow.
  struct Head {
    std::uint64_t idle;  // engines of the job that wait for a part
    // Counts at node 0: engines and parts that are done, minus the parts that were offered.
    std::uint64_t done;
    std::array<std::uint64_t, kSlots> states;
    // Accessed, like the slot's part, only by the engine that has set the state to kFilling or
    // kTaken.
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

  WorkOffers(Cluster& cluster, bool steal, std::uint64_t part_bytes);
  bool SwapState(Endpoint& endpoint, NodeId node, std::size_t slot, State from, State to) const;
  // Adds `more` to the number of waiting engines, at all nodes.
  Status AddIdle(Endpoint& endpoint, std::uint64_t more);
  Result<std::optional<std::uint64_t>> WaitForPart(Endpoint& endpoint,
                                                   std::vector<std::uint64_t>& part);
  // Takes a part that is ready on any node, according to the states in `heads`.
  Result<std::optional<std::uint64_t>> TakeReady(Endpoint& endpoint, const std::vector<Head>& heads,
                                                 std::vector<std::uint64_t>& part);
  Result<bool> TakeFrom(Endpoint& endpoint, NodeId node, std::size_t slot, Head::Label& label,
                        std::vector<std::uint64_t>& part);

  const Job& job_;
  NodeId self_;
  NodeId compute_;
  std::uint64_t engines_;  // of the job
  bool steal_;
  std::uint64_t part_bytes_;
  JobRegions::Lease region_;
  Head* own_ = nullptr;  // null on memory nodes
  std::atomic<bool> given_up_{false};
  std::atomic<std::uint64_t> stolen_{0};
};

}  // namespace slimgraph::dkudu
