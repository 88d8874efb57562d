// One endpoint's operations on one node, on the asking side. A part is cut into runs of alike
// operations: short ones travel inside a request and its reply; long reads are fetched by MPI_Rget
// and long writes sent straight from their source, once the target has agreed. Such a run goes
// alone: what follows it waits.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/mpi/frames.h"
#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

using MpiWindows = std::map<RegionId, MpiWorld::WindowId>;

class MpiLane {
 public:
  // Parts that end are appended to `ended`.
  MpiLane(MpiWorld& world, MpiFrames& frames, const MpiWindows& windows, NodeId node,
          std::uint16_t endpoint, std::vector<Channel::PartResult>& ended);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);
  void OnReply(const Frame& frame);

  // True if something has moved.
  bool Progress();
  bool transferring() const { return !transfers_.empty(); }
  bool waiting() const { return !sent_.empty(); }
  NodeId node() const { return node_; }

  // All that is under way ends in kPeerLost.
  void Lose();

 private:
  enum class Way { kInline, kSeparateReads, kSeparateWrites };
  struct Run {
    std::uint64_t part;
    std::span<const Operation> operations;
    std::uint32_t first;  // index in the part
    Way way;
    bool last;       // of the part
    bool continues;  // nothing of it happens if what was sent before it has failed
  };
  static Way WayOf(const Operation& operation);

  bool MaySendNext() const;
  void SendNext();
  void SendRequest(const Run& run);
  void TakeInline(const Run& run, const wire::ReplyFrame& reply, Bytes payload);
  void StartTransfers(const Run& run, std::size_t count);
  void EndRun();

  MpiWorld& world_;
  MpiFrames& frames_;
  const MpiWindows& windows_;
  const NodeId node_;
  const std::uint16_t endpoint_;
  std::vector<Channel::PartResult>& ended_;

  std::deque<Run> waiting_;
  std::deque<Run> sent_;
  std::vector<MpiWorld::Transfer> transfers_;  // of the front run
  wire::ReplyFrame reply_;                     // to the front run
  bool replied_ = false;                       // the front run ends with its transfers
  bool lost_ = false;
};

}  // namespace slimgraph
