// One thread's fetching of other nodes' lists. Memory nodes are read one-sided and know nothing of
// it. Compute nodes are read as well, or asked: they gather what is wanted and write it back into
// memory of this node (list_exchange.h). Several batches may be on their way at once.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "dkudu/graph/mining_graph.h"
#include "slimgraph/fabric/endpoint.h"

namespace slimgraph {

// How compute nodes get each other's lists.
enum class Fetch { kRequest, kRead };

// Where answers are written: this thread's part of a region of the node.
struct AnswerRoom {
  RegionId region = 0;
  std::uint64_t offset = 0;
  const std::byte* memory = nullptr;  // null: everything is read
};

// What is asked of a compute node in one message, followed by its ranges.
struct RangeRequest {
  static constexpr HandlerId kRequestHandler = 0x4C51;
  static constexpr HandlerId kAnsweredHandler = 0x4C52;
  struct Range {
    std::uint64_t begin;  // in entries
    std::uint64_t entries;
  };
  std::uint64_t answer_offset;  // in the requester's region
  std::uint32_t slot;           // told when the answer is there
  std::uint32_t ranges;
};

class ListFetch {
 public:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::uint64_t kSlotBytes = 256 << 10;
  static constexpr std::uint64_t kRoomBytes = kSlots * kSlotBytes;
  // A gap between two lists, in entries, that costs no more than the header of another operation:
  // it should be asked for as well.
  static constexpr std::uint64_t kMaxGap = kOperationHeaderBytes / sizeof(VertexId);
  using Ticket = std::uint64_t;

  ListFetch(Job& job, const MiningGraph& graph, Endpoint& endpoint, const AnswerRoom& room)
      : job_(job), graph_(graph), endpoint_(endpoint), room_(room), queues_(graph.nodes()) {}

  // Collects: into.size() entries of home's region from `begin` on.
  void Ask(NodeId home, std::uint64_t begin, std::span<VertexId> into);
  // What has been collected goes out.
  Ticket Start();
  // Waits until all of it is there.
  Status Finish(Ticket ticket);

  // After an error: nothing is written any more into memory that was to take lists.
  void GiveUp();

  // The answer of a slot has been written.
  void Answered(std::uint32_t slot);

 private:
  struct Piece {
    std::uint64_t begin;
    std::span<VertexId> into;
    Ticket ticket;
  };
  struct Slot {
    NodeId home = 0;
    std::vector<Piece> pieces;  // empty: free
  };
  bool reads(NodeId home) const {
    return room_.memory == nullptr || (kDelegates && home >= graph_.compute());
  }
  void StartReads();
  void SendRequests();
  void SendRequest(NodeId home, std::uint32_t slot);
  // What of a batch is not there yet.
  struct Pending {
    std::uint64_t pieces = 0;
    NodeId reads = 0;  // nodes of which it is read
  };
  void Arrived(Ticket ticket, std::uint64_t pieces, NodeId reads);
  void ForgetReads();
  Status CheckAlive();

  Job& job_;
  const MiningGraph& graph_;
  Endpoint& endpoint_;
  AnswerRoom room_;
  Ticket next_ = 1;
  std::vector<std::pair<NodeId, Piece>> reads_;  // collected
  std::vector<std::deque<Piece>> queues_;        // by home: to be asked for when there is room
  std::array<Slot, kSlots> slots_;
  std::map<Ticket, Pending> pending_;
  std::vector<Completion> completions_;
  std::vector<std::byte> message_;
};

}  // namespace slimgraph
