#include "slimgraph/fabric/internal/tcp/message_link.h"

#include <poll.h>

#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

namespace {

constexpr std::uint64_t kMaxQueuedBytes = 256 << 10;
constexpr std::size_t kMaxFrameBytes =
    sizeof(wire::MessageFrame) + wire::kDueBytes + kMaxMessageBytes;

}  // namespace

TcpOutgoingMessages::TcpOutgoingMessages(Poller& poller, TcpOpened opened, NodeId to,
                                         UnreachableNode& unreachable)
    : TcpLink(poller, std::move(opened.fd)),
      from_endpoint_(opened.claims.endpoint),
      to_endpoint_(opened.claims.to_endpoint),
      to_(to),
      unreachable_(unreachable) {
  if (opened.keys) out_.Encrypt(opened.keys->of_opener);
  if (lost()) unreachable_.Note(to_);
}

// Delivers what was sent, unless the other side has stopped reading.
TcpOutgoingMessages::~TcpOutgoingMessages() {
  const std::uint64_t start_ns = NowNs();
  while (!lost() && !out_.empty() && NowNs() - start_ns < wire::kCloseLimitNs) {
    AwaitWritable(fd(), std::chrono::milliseconds(10));
    FlushOrDisconnect();
  }
}

bool TcpOutgoingMessages::Send(const Message& message) {
  SLIM_CHECK(message.body.size() <= kMaxMessageBytes, "{} bytes in one message",
             message.body.size());
  if (lost()) return true;
  if (out_.bytes() + message.body.size() > kMaxQueuedBytes) {
    FlushOrDisconnect();
    if (out_.bytes() + message.body.size() > kMaxQueuedBytes) return false;
  }
  const wire::MessageFrame frame{.has_due = message.due_ns != 0,
                                 .handler = message.handler,
                                 .from_endpoint = from_endpoint_,
                                 .to_endpoint = to_endpoint_,
                                 .acknowledged = message.acknowledged,
                                 .body_bytes = static_cast<std::uint32_t>(message.body.size())};
  out_.Copy(wire::BytesOf(frame));
  if (frame.has_due != 0) out_.Copy(wire::BytesOf(message.due_ns));
  out_.Copy(message.body);
  FlushOrDisconnect();
  return true;
}

void TcpOutgoingMessages::End(StreamState state) {
  if (state == StreamState::kCutOff) unreachable_.Note(to_);
  Disconnect();
  out_.Clear();
}

void TcpOutgoingMessages::FlushOrDisconnect() {
  if (const StreamState state = Flush(out_); IsOver(state)) End(state);
}

// The other side sends nothing on this connection, so it is readable only at its end.
void TcpOutgoingMessages::OnReady() {
  std::byte unexpected;
  MutableBytes end(&unexpected, 1);
  ReceiveBuffer in(1);
  const StreamState state = in.Move(fd(), end);
  if (state == StreamState::kBlocked) return FlushOrDisconnect();
  End(state);
}

TcpIncomingMessages::TcpIncomingMessages(Poller& poller, UniqueFd fd, EndpointAddress from,
                                         const std::optional<TcpStreamKeys>& keys,
                                         const Receiver* const& receiver,
                                         UnreachableNode& unreachable)
    : TcpLink(poller, std::move(fd)),
      from_(from),
      receiver_(receiver),
      in_(2 * kMaxFrameBytes),
      unreachable_(unreachable) {
  if (keys) in_.Decrypt(keys->of_opener);
}

void TcpIncomingMessages::OnReady() {
  in_.Refresh();
  StreamState state = StreamState::kDone;
  while (state == StreamState::kDone) state = ReceiveOne();
  if (!IsOver(state)) return;
  if (state == StreamState::kCutOff) unreachable_.Note(from_.node);
  Disconnect();
}

StreamState TcpIncomingMessages::ReceiveOne() {
  wire::MessageFrame frame;
  if (const auto state = in_.Need(fd(), sizeof frame, kMaxFrameBytes);
      state != StreamState::kDone) {
    return state;
  }
  std::memcpy(&frame, in_.available().data(), sizeof frame);
  if (frame.kind != wire::FrameKind::kMessage || frame.body_bytes > kMaxMessageBytes) {
    return StreamState::kLost;
  }
  const std::size_t front = sizeof frame + (frame.has_due != 0 ? wire::kDueBytes : 0);
  const std::size_t bytes = front + frame.body_bytes;
  if (const auto state = in_.Need(fd(), bytes, kMaxFrameBytes); state != StreamState::kDone) {
    return state;
  }
  Message message{.from = from_,
                  .handler = frame.handler,
                  .acknowledged = frame.acknowledged,
                  .body = in_.available().subspan(front, frame.body_bytes)};
  if (frame.has_due != 0) {
    std::memcpy(&message.due_ns, in_.available().data() + sizeof frame, wire::kDueBytes);
  }
  (*receiver_)(message);
  in_.Consume(bytes);
  return StreamState::kDone;
}

}  // namespace slimgraph
