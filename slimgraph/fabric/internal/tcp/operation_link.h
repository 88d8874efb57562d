// A channel's connection to one node for its operations: parts go out in order and their replies
// come back in order, reads straight into their destinations.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/tcp/link.h"
#include "slimgraph/fabric/internal/tcp/socket.h"
#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class TcpOperationLink : public TcpLink {
 public:
  // Parts that end are appended to `ended`.
  TcpOperationLink(Poller& poller, UniqueFd fd, const TcpHello& hello,
                   std::vector<Channel::PartResult>& ended);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);
  void OnReady() override;

  // All that is under way ends in kPeerLost.
  void Lose();

 private:
  struct Part {
    std::uint64_t id;
    std::span<const Operation> operations;
  };
  // The reply to the front part, as far as it has come.
  struct Reply {
    bool has_frame = false;
    wire::ReplyFrame frame;
    std::size_t next = 0;          // the operation whose bytes come next
    std::uint64_t next_moved = 0;  // how many of them have come
  };

  void QueueRequest(std::span<const Operation> operations, bool continues);
  StreamState Receive();
  StreamState ReceiveUpToFrame();
  StreamState ReceiveFrame();
  StreamState ReceivePayload();

  std::uint16_t endpoint_;
  std::vector<Channel::PartResult>& ended_;
  std::deque<Part> parts_;
  SendQueue out_;
  ReceiveBuffer in_;
  Reply reply_;
};

}  // namespace slimgraph
