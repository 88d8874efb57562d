// Fetches other nodes' lists for one thread, coded as they are stored there. Memory nodes are read
// one-sided, without their processors. Compute nodes are also read, or they are sent requests: then
// they gather the lists and write them into this node's memory (list_exchange.h). Several batches
// may be in flight at once.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "dkudu/mining_graph.h"
#include "slimgraph/fabric/endpoint.h"

namespace slimgraph::dkudu {

// How compute nodes fetch each other's lists.
enum class Fetch { kRequest, kRead };

// Where answers to this thread are written: its part of a region of this node.
struct AnswerRoom {
  RegionId region = 0;
  std::uint64_t offset = 0;
  const std::byte* memory = nullptr;  // null: every home is read one-sided
};

// A request to a compute node, one message; its ranges follow.
struct RangeRequest {
  static constexpr HandlerId kRequestHandler = 0x4C51;
  static constexpr HandlerId kAnsweredHandler = 0x4C52;
  struct Range {
    std::uint64_t begin;  // in the coded lists of the requested node
    std::uint64_t bytes;
  };
  std::uint64_t answer_offset;  // in the requester's region
  std::uint32_t slot;           // repeated in the notification when the answer is written
  std::uint32_t ranges;
};

class ListFetch {
 public:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::uint64_t kMostSlotBytes = 256 << 10;
  // The room for one answer, the same on all nodes; less than kMostSlotBytes if the lists are
  // short.
  static std::uint64_t SlotBytes(const MiningGraph& graph);
  // A gap between two coded lists that costs no more than the header of another operation: reads
  // across such a gap should be merged.
  static constexpr std::uint64_t kMaxGapBytes = kOperationHeaderBytes;
  using Ticket = std::uint64_t;

  ListFetch(Job& job, const MiningGraph& graph, Endpoint& endpoint, const AnswerRoom& room)
      : job_(job),
        graph_(graph),
        endpoint_(endpoint),
        room_(room),
        slot_bytes_(SlotBytes(graph)),
        queues_(graph.nodes()) {}

  // Adds to the batch: into.size() bytes of home's coded lists from `begin` on.
  void Collect(NodeId home, std::uint64_t begin, MutableBytes into);
  // Sends the batch.
  Ticket Start();
  // Waits until the whole batch has arrived.
  Status Finish(Ticket ticket);

  // Call it after an error: from then on, nothing is written into the memory given to Collect().
  void GiveUp();

  // Called when the answer of a slot has been written.
  void OnAnswer(std::uint32_t slot);

 private:
  struct Piece {
    std::uint64_t begin;
    MutableBytes into;
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
  // The part of a batch that has not arrived yet.
  struct Pending {
    std::uint64_t pieces = 0;
    NodeId reads = 0;  // nodes whose signalled read is not complete
  };
  void MarkArrived(Ticket ticket, std::uint64_t pieces, NodeId reads);
  void DropCompletedReads();
  std::string DescribeAwaited() const;
  Status CheckAlive();

  Job& job_;
  const MiningGraph& graph_;
  Endpoint& endpoint_;
  AnswerRoom room_;
  std::uint64_t slot_bytes_;
  Ticket next_ = 1;
  std::vector<std::pair<NodeId, Piece>> reads_;  // collected, not issued yet
  std::vector<std::deque<Piece>> queues_;        // by home: waiting for a free slot
  std::array<Slot, kSlots> slots_;
  std::map<Ticket, Pending> pending_;
  std::vector<Completion> completions_;
  std::vector<std::byte> message_;
};

}  // namespace slimgraph::dkudu
