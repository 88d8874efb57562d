// One endpoint's operations on one node, on the requesting side. A part is split into batches of
// operations with the same transfer mode. Short operations travel inside a request and its reply.
// Long reads are fetched by MPI_Rget and long writes are sent directly from their source, once the
// target has granted the transfer. Such a batch is sent alone; later ones wait.
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
  // Results of parts are appended to `ended`.
  MpiLane(MpiWorld& world, MpiFrames& frames, const MpiWindows& windows, NodeId node,
          std::uint16_t endpoint, std::vector<Channel::PartResult>& ended);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);
  void OnReply(const Frame& frame);

  // Returns whether any transfer has advanced.
  bool Progress();
  bool transferring() const { return !transfers_.empty(); }
  bool waiting() const { return !sent_.empty(); }
  NodeId node() const { return node_; }

  // Ends all outstanding parts with kPeerLost.
  void Lose();

 private:
  enum class TransferMode { kInline, kSeparateReads, kSeparateWrites };
  struct Batch {
    std::uint64_t part;
    std::span<const Operation> operations;
    std::uint32_t first;  // index in the part
    TransferMode mode;
    bool last;       // the last batch of the part
    bool continues;  // must not be executed if the batch before it has failed
  };
  static TransferMode ModeOf(const Operation& operation);

  bool MaySendNext() const;
  void SendNext();
  void SendRequest(const Batch& batch);
  void TakeInline(const Batch& batch, const wire::ReplyFrame& reply, Bytes payload);
  void StartTransfers(const Batch& batch, std::size_t count);
  void FinishBatch();

  MpiWorld& world_;
  MpiFrames& frames_;
  const MpiWindows& windows_;
  const NodeId node_;
  const std::uint16_t endpoint_;
  std::vector<Channel::PartResult>& ended_;

  std::deque<Batch> waiting_;
  std::deque<Batch> sent_;
  std::vector<MpiWorld::Transfer> transfers_;  // of the front batch
  wire::ReplyFrame reply_;                     // to the front batch
  bool replied_ = false;                       // the front batch ends when its transfers have ended
  bool lost_ = false;
};

}  // namespace slimgraph
