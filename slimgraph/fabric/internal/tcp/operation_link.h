// A channel's connection to one node for its operations. Parts are sent in order and replies return
// in order. Reads are received directly into their destinations.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/tcp/link.h"
#include "slimgraph/fabric/internal/tcp/opening.h"
#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class TcpOperationLink : public TcpLink {
 public:
  // Results of parts are appended to `ended`.
  TcpOperationLink(Poller& poller, TcpOpened opened, std::vector<Channel::PartResult>& ended);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);
  void OnReady() override;

  // Ends all outstanding parts with kPeerLost.
  void Lose();

 private:
  struct Part {
    std::uint64_t id;
    std::span<const Operation> operations;
  };
  // The reply to the front part, as far as it has been received.
  struct Reply {
    bool has_frame = false;
    wire::ReplyFrame frame;
    std::size_t next = 0;          // the operation whose bytes are received next
    std::uint64_t next_moved = 0;  // how many of its bytes have been received
  };

  void QueueRequest(std::span<const Operation> operations, bool continues);
  StreamState Receive();
  StreamState ReceiveWelcome();
  StreamState ReceiveUpToFrame();
  StreamState ReceiveFrame();
  StreamState ReceivePayload();

  std::uint16_t endpoint_;
  Proof expected_welcome_;
  bool welcomed_ = false;  // the other side has proved that it belongs to the job
  std::vector<Channel::PartResult>& ended_;
  std::deque<Part> parts_;
  const std::optional<TcpStreamKeys> keys_;
  SendQueue out_;
  ReceiveBuffer in_;
  Reply reply_;
};

}  // namespace slimgraph
