// The serving end of another node's operations: takes one request after the other, carries it out
// as its bytes arrive, and answers straight from the regions' memory. The next request waits until
// the reply is on its way, so that a read sees nothing of what comes after it.
#pragma once

#include "slimgraph/fabric/internal/executor.h"
#include "slimgraph/fabric/internal/tcp/link.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

class TcpServedLink : public TcpLink {
 public:
  TcpServedLink(Poller& poller, UniqueFd fd, const Executor& executor, NodeId peer);

  NodeId peer() const { return peer_; }

  // Stops after some requests, for the sake of the others; `unfinished` says so.
  void OnReady() override;
  bool unfinished() const { return unfinished_; }

  // `memory` is going away: what is still to be sent of it is copied.
  void Detach(Bytes memory) { reply_.Detach(memory); }

 private:
  enum class Stage { kFrame, kOperations, kExecution, kSkipping, kReply };

  StreamState Step();
  StreamState ReceiveFrame();
  StreamState ReceiveOperations();
  StreamState Execute();
  StreamState ExecuteOne(const wire::OperationFrame& operation);
  StreamState ExecuteWrite(const wire::OperationFrame& operation, std::byte* address);
  StreamState ExecuteAtomic(const wire::OperationFrame& operation, std::byte* address);
  void ExecuteRead(const wire::OperationFrame& operation, std::byte* address);
  StreamState Skip();
  void QueueReply();

  const Executor& executor_;
  const NodeId peer_;
  ReceiveBuffer in_;
  SendQueue reply_;
  bool unfinished_ = false;

  Stage stage_ = Stage::kFrame;
  wire::RequestFrame request_;
  std::vector<wire::OperationFrame> operations_;
  std::size_t prompt_end_ = 0;      // one behind the last operation that is carried out at once
  std::size_t next_ = 0;            // the operation at which execution stands
  std::uint64_t next_moved_ = 0;    // how many of its bytes have come
  std::uint64_t payload_left_ = 0;  // of the request
  Outcome outcome_ = Outcome::kOk;  // of this request, and until the next one of the last
};

}  // namespace slimgraph
