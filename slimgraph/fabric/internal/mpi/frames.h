// Frames between the service threads of the nodes: sent and received over MPI without waiting, and
// handed out in order of arrival from each node. A peer that may be asleep gets a datagram, since
// nothing in MPI wakes a sleeping process.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/fabric/internal/mpi/world.h"
#include "slimgraph/fabric/internal/wake_socket.h"

namespace slimgraph {

// Bytes that start with one of the structs of wire.h.
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

  // Lets go of frames that have been sent. True if there were any.
  bool Progress();

  // Whether a frame is on its way in or out, for which both sides have to call MPI.
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
  std::list<Sending> forgotten_;                // to lost nodes: MPI may still look at them
  std::vector<std::deque<Arriving>> arriving_;  // by node
  std::size_t num_arriving_ = 0;
  NodeId turn_ = 0;                      // the node whose frame was handed out last
  std::vector<std::uint64_t> heard_ns_;  // by node: when something came from there
  std::vector<std::uint64_t> woken_ns_;
};

}  // namespace slimgraph
