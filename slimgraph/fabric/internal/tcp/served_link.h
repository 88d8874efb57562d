// The serving end of another node's operations. It receives one request after the other, executes
// it while its bytes arrive, and replies directly from the regions' memory. It starts the next
// request only when the reply has been sent, so that a read does not see later writes.
#pragma once

#include "slimgraph/fabric/internal/executor.h"
#include "slimgraph/fabric/internal/tcp/link.h"
#include "slimgraph/fabric/internal/tcp/opening.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

class TcpServedLink : public TcpLink {
 public:
  TcpServedLink(Poller& poller, UniqueFd fd, const Executor& executor, NodeId peer,
                const std::optional<TcpStreamKeys>& keys);

  NodeId peer() const { return peer_; }

  // Returns after some requests, so that other links get their turn; `unfinished` is then true.
  void OnReady() override;
  bool unfinished() const { return unfinished_; }

  // `memory` is going away: copies the part of it that is still to be sent.
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
  std::size_t prompt_end_ = 0;      // index after the last operation that is executed at its turn
  std::size_t next_ = 0;            // the operation that is executed next
  std::uint64_t next_moved_ = 0;    // how many of its bytes have been received
  std::uint64_t payload_left_ = 0;  // of the request
  Outcome outcome_ = Outcome::kOk;  // of this request; between requests, of the last one
};

}  // namespace slimgraph
