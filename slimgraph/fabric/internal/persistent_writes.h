// The persistent writes of an endpoint. Each is a write, and then a read behind it or a sync by its
// home. Also serves the syncs that other endpoints ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "slimgraph/fabric/endpoint.h"

namespace slimgraph {

class PersistentWrites {
 public:
  explicit PersistentWrites(Endpoint& endpoint) : endpoint_(endpoint) {}

  // Collects the operations. The completion goes to the endpoint.
  void Write(NodeId node, RegionId region, std::uint64_t offset, Bytes from, std::uint64_t tag,
             Batched batched);
  // An operation has ended that was reported to the endpoint, under this tag.
  void EndOperation(std::uint64_t tag, Outcome outcome);
  // Takes the next steps, ends the writes whose home has died, and replies to callers. Called in
  // each turn of the endpoint.
  void Continue();
  static bool Handles(HandlerId handler) { return handler == kRequest || handler == kReply; }
  void Handle(const Message& message);

  // The writes that have been executed and are not known to be durable.
  std::size_t continuing() const { return continuing_; }
  // For descriptions of waits.
  void AddHomes(std::vector<NodeId>& nodes) const;

 private:
  static constexpr HandlerId kRequest = 0xFFFD;
  static constexpr HandlerId kReply = 0xFFFC;
  // What follows when the operations have ended well.
  enum class Next : std::uint8_t { kEnd, kRead, kSync, kReply };
  struct Open {
    std::uint64_t number = 0;  // 0: it is free
    NodeId node = 0;
    RegionId region = 0;
    std::uint64_t last_byte = 0;  // its offset in the region
    std::uint64_t tag = 0;
    StageId stage = kUnnamedStage;
    Next next = Next::kEnd;
    std::uint32_t operations = 0;  // that have not ended
    Outcome outcome = Outcome::kOk;
  };
  // A request for a sync, and the reply to it.
  struct Call {
    std::uint32_t index;
    RegionId region;
    std::uint16_t unused;
    std::uint64_t number;
  };
  // Waits until a file of this node is synced.
  struct Caller {
    EndpointAddress at;
    Call call;
    std::uint64_t sync = 0;
  };

  void CollectedOne(std::uint32_t index);
  void ReadBack(std::uint32_t index);
  void End(std::uint32_t index, Outcome outcome);
  void EndLost();
  void Reply();

  Endpoint& endpoint_;
  std::vector<Open> open_;           // by index; reused
  std::vector<std::uint32_t> free_;  // indices
  std::vector<std::uint32_t> due_;   // indices of those whose next step is to be taken
  std::uint64_t last_number_ = 0;
  std::size_t continuing_ = 0;
  std::vector<Caller> callers_;
  std::byte read_back_{};  // nobody looks at what is read
};

}  // namespace slimgraph
