#include "slimgraph/fabric/internal/tcp/operation_link.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"

namespace slimgraph {

namespace {

constexpr std::uint64_t kLongReplyBytes = 16 << 10;  // longer replies are not received ahead

std::uint64_t WireBytes(const Operation& operation) {
  return wire::ReturnedBytes(operation.kind, operation.length);
}

}  // namespace

TcpOperationLink::TcpOperationLink(Poller& poller, TcpOpened opened,
                                   std::vector<Channel::PartResult>& ended)
    : TcpLink(poller, std::move(opened.fd)),
      endpoint_(opened.claims.endpoint),
      expected_welcome_(opened.welcome),
      ended_(ended),
      keys_(opened.keys),
      in_(kReceiveBytes) {
  if (keys_) out_.Encrypt(keys_->of_opener);
}

void TcpOperationLink::Post(std::uint64_t id, std::span<const Operation> operations,
                            bool continues) {
  if (lost()) {
    ended_.push_back({id, Outcome::kPeerLost, 0});
    return;
  }
  parts_.push_back({id, operations});
  QueueRequest(operations, continues);
  if (IsOver(Flush(out_))) Lose();
}

void TcpOperationLink::QueueRequest(std::span<const Operation> operations, bool continues) {
  wire::RequestFrame frame{.flags = continues ? wire::kContinues : std::uint8_t{0},
                           .endpoint = endpoint_,
                           .operations = static_cast<std::uint32_t>(operations.size())};
  for (const Operation& operation : operations) {
    frame.payload_bytes += wire::SentBytes(operation.kind, operation.length);
  }
  out_.Copy(wire::BytesOf(frame));
  for (const Operation& operation : operations) {
    SLIM_CHECK(operation.length <= wire::kMaxOperationBytes, "{} bytes in one operation",
               operation.length);
    out_.Copy(wire::BytesOf(wire::FrameOf(operation)));
  }
  for (const Operation& operation : operations) {
    switch (operation.kind) {
      case OperationKind::kRead:
        break;
      case OperationKind::kWrite: {
        const Bytes bytes(operation.local, operation.length);
        if (bytes.size() <= kCopyBytes) {
          out_.Copy(bytes);
        } else {
          out_.Refer(bytes);
        }
        break;
      }
      case OperationKind::kFetchAdd:
        out_.Copy(wire::BytesOf(operation.operand));
        break;
      case OperationKind::kCompareSwap:
        out_.Copy(wire::BytesOf(operation.operand));
        out_.Copy(wire::BytesOf(operation.expected));
        break;
    }
  }
}

void TcpOperationLink::OnReady() {
  if (lost()) return;
  in_.Refresh();
  if (IsOver(Flush(out_)) || IsOver(Receive())) Lose();
}

StreamState TcpOperationLink::ReceiveWelcome() {
  if (welcomed_) return StreamState::kDone;
  const StreamState state = in_.Need(fd(), expected_welcome_.size(), 0);
  if (state != StreamState::kDone) return state;
  Proof welcome;
  std::memcpy(welcome.data(), in_.available().data(), welcome.size());
  in_.Consume(welcome.size());
  welcomed_ = SameProof(welcome, expected_welcome_);
  if (keys_) in_.Decrypt(keys_->of_acceptor);
  return welcomed_ ? StreamState::kDone : StreamState::kLost;
}

StreamState TcpOperationLink::Receive() {
  if (const auto state = ReceiveWelcome(); state != StreamState::kDone) return state;
  // Without outstanding parts, only the end of the connection can be received.
  if (parts_.empty()) {
    const StreamState state = in_.Need(fd(), 1, 0);
    return state == StreamState::kDone ? StreamState::kLost : state;
  }
  while (!parts_.empty()) {
    StreamState state = ReceiveFrame();
    if (state == StreamState::kDone) state = ReceivePayload();
    if (state != StreamState::kDone) return state;
    ended_.push_back({parts_.front().id, reply_.frame.outcome, reply_.frame.failed_index});
    parts_.pop_front();
    reply_ = Reply();
  }
  return StreamState::kBlocked;
}

// Several short replies are received at once. A long read is received directly into its
// destination, even before its reply frame has been checked: if no other part is outstanding, no
// other reply can follow.
StreamState TcpOperationLink::ReceiveUpToFrame() {
  constexpr std::size_t kFrameBytes = sizeof(wire::ReplyFrame);
  const Operation& first = parts_.front().operations.front();
  if (WireBytes(first) < kLongReplyBytes) return in_.Need(fd(), kFrameBytes, kReceiveBytes);
  if (parts_.size() > 1 || in_.available().size() >= kFrameBytes) {
    return in_.Need(fd(), kFrameBytes, 0);
  }
  MutableBytes rest(first.local, first.length);
  const StreamState state = in_.NeedAndMove(fd(), kFrameBytes, rest);
  reply_.next_moved = first.length - rest.size();
  return state;
}

StreamState TcpOperationLink::ReceiveFrame() {
  if (reply_.has_frame) return StreamState::kDone;
  const StreamState state = ReceiveUpToFrame();
  if (state != StreamState::kDone) return state;
  std::memcpy(&reply_.frame, in_.available().data(), sizeof reply_.frame);
  in_.Consume(sizeof reply_.frame);
  reply_.has_frame = true;
  const bool sound = reply_.frame.kind == wire::FrameKind::kReply &&
                     (reply_.frame.outcome == Outcome::kOk ||
                      reply_.frame.failed_index < parts_.front().operations.size());
  return sound ? StreamState::kDone : StreamState::kLost;
}

StreamState TcpOperationLink::ReceivePayload() {
  const auto operations = parts_.front().operations;
  const std::size_t carried_out =
      reply_.frame.outcome == Outcome::kOk ? operations.size() : reply_.frame.failed_index;
  for (; reply_.next < carried_out; ++reply_.next, reply_.next_moved = 0) {
    const Operation& operation = operations[reply_.next];
    const std::uint64_t bytes = WireBytes(operation);
    // The caller does not want this atomic's old value.
    if (operation.local == nullptr && bytes > 0) {
      const StreamState state = in_.Need(fd(), bytes, kReceiveBytes);
      if (state != StreamState::kDone) return state;
      in_.Consume(bytes);
      continue;
    }
    MutableBytes rest(operation.local + reply_.next_moved, bytes - reply_.next_moved);
    const StreamState state = in_.Move(fd(), rest);
    reply_.next_moved = bytes - rest.size();
    if (state != StreamState::kDone) return state;
  }
  return StreamState::kDone;
}

void TcpOperationLink::Lose() {
  Disconnect();
  out_.Clear();
  for (const Part& part : parts_) ended_.push_back({part.id, Outcome::kPeerLost, 0});
  parts_.clear();
}

}  // namespace slimgraph
