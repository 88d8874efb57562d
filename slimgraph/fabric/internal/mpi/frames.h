// Frames between the service threads of the nodes, sent and received over MPI without blocking.
// Frames from one node are returned in the order in which they arrive. A peer that may be asleep
// also gets a wake-up datagram, because MPI does not wake a sleeping process.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/fabric/internal/mpi/world.h"
#include "slimgraph/fabric/internal/wake_socket.h"

namespace slimgraph {

// Bytes that begin with one of the structs of wire.h.
class Frame {
 public:
  Frame() = default;
  explicit Frame(std::size_t bytes)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)), bytes_(bytes) {}
  Frame(std::unique_ptr<std::byte[]> memory, std::size_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}

  MutableBytes bytes() { return {memory_.get(), bytes_}; }
  Bytes bytes() const { return {memory_.get(), bytes_}; }
  void Shorten(std::size_t bytes) { bytes_ = bytes; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

class MpiFrames {
 public:
  MpiFrames(MpiWorld& world, WakeSocket& wake, NodeId self, NodeId nodes);

  void Send(NodeId node, Frame frame);

  struct Arrived {
    NodeId from;
    Frame frame;
  };
  std::optional<Arrived> Receive();

  // Frees frames that MPI has sent; returns whether there were any.
  bool Progress();

  // Whether a frame is being sent or received, so that both sides must keep calling MPI.
  bool under_way() const { return !sending_.empty() || num_arriving_ > 0; }

  // Wakes `node` unless it was awake a moment ago.
  void Wake(NodeId node);

  void Forget(NodeId node);

 private:
  struct Sending {
    NodeId node;
    MpiWorld::Transfer transfer;
    Frame frame;
  };
  struct Arriving {
    MpiWorld::Transfer transfer;
    Frame frame;
  };

  MpiWorld& world_;
  WakeSocket& wake_;
  NodeId self_;
  std::list<Sending> sending_;
  std::list<Sending> forgotten_;                // to lost nodes: MPI may still read them
  std::vector<std::deque<Arriving>> arriving_;  // by node
  std::size_t num_arriving_ = 0;
  NodeId turn_ = 0;                      // the node whose frame was returned last
  std::vector<std::uint64_t> heard_ns_;  // by node: the time of its last frame
  std::vector<std::uint64_t> woken_ns_;
};

}  // namespace slimgraph
