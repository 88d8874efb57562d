#include "slimgraph/fabric/internal/verbs_message_link.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

namespace {
constexpr std::uint32_t kDepth = 64;
constexpr std::size_t kPayloadBytes = kVerbsPieceBytes - sizeof(VerbsPiece);
Bytes BytesOf(const auto& value) { return std::as_bytes(std::span(&value, 1)); }
}  // namespace

VerbsMessageLink::VerbsMessageLink(Shared& shared, const VerbsContact& contact,
                                   const TcpHello& hello)
    : VerbsLink(shared, contact, hello, 0, kDepth),
      node_(hello.node),
      endpoint_(hello.endpoint),
      to_endpoint_(hello.to_endpoint) {}

bool VerbsMessageLink::Send(const Message& message) {
  SLIM_CHECK(message.body.size() <= kMaxMessageBytes, "{} bytes in one message",
             message.body.size());
  if (lost()) return true;
  if (!ring_) {
    auto made = VerbsRing::Make(shared().device, kDepth * kVerbsPieceBytes);
    if (!made) return false;
    ring_ = std::move(*made);
  }
  const wire::MessageFrame frame{.has_due = message.due_ns != 0,
                                 .handler = message.handler,
                                 .from_endpoint = endpoint_,
                                 .to_endpoint = to_endpoint_,
                                 .acknowledged = message.acknowledged,
                                 .body_bytes = static_cast<std::uint32_t>(message.body.size())};
  const std::size_t bytes =
      sizeof frame + (frame.has_due != 0 ? sizeof message.due_ns : 0) + message.body.size();
  const std::size_t needed = (bytes + kPayloadBytes - 1) / kPayloadBytes;
  if (pieces_.size() + needed > kDepth) return false;
  Begin();
  Append(BytesOf(frame));
  if (frame.has_due != 0) Append(BytesOf(message.due_ns));
  Append(message.body);
  OnRoom();
  return true;
}

VerbsMessageLink::Piece& VerbsMessageLink::Begin() {
  std::byte* const place = ring_->Take(kVerbsPieceBytes);
  const VerbsPiece piece{
      .number = number_++, .node = static_cast<std::uint16_t>(node_), .endpoint = endpoint_};
  std::memcpy(place, &piece, sizeof piece);
  return pieces_.emplace_back(Piece{place, sizeof piece, ring_->position()});
}

void VerbsMessageLink::Append(Bytes bytes) {
  while (!bytes.empty()) {
    Piece& piece = pieces_.back().bytes < kVerbsPieceBytes ? pieces_.back() : Begin();
    const std::size_t now = std::min(bytes.size(), kVerbsPieceBytes - piece.bytes);
    std::memcpy(piece.place + piece.bytes, bytes.data(), now);
    piece.bytes += static_cast<std::uint32_t>(now);
    bytes = bytes.subspan(now);
  }
}

void VerbsMessageLink::OnRoom() {
  if (next_ == pieces_.size()) return;
  if (!ready()) {
    Connect();
    return;
  }
  shared().chain.Clear();
  for (; next_ < pieces_.size() && room() > shared().chain.size(); ++next_) {
    const Piece& piece = pieces_[next_];
    ibv_send_wr& request = shared().chain.Add(piece.place, piece.bytes, ring_->key());
    request.opcode = IBV_WR_SEND;
    if (piece.bytes <= inline_bytes()) request.send_flags |= IBV_SEND_INLINE;
  }
  PostChain();
}

void VerbsMessageLink::OnDone(std::size_t count) {
  for (; count > 0; --count, --next_) {
    ring_->Release(pieces_.front().released);
    pieces_.pop_front();
  }
}

// The receiver is not known to be dead: once more.
void VerbsMessageLink::OnBroken(Outcome) {
  next_ = 0;
  OnRoom();
}

void VerbsMessageLink::OnHopeless(Outcome) {
  next_ = 0;
  pieces_.clear();
  if (ring_) ring_->Release(ring_->position());
}

}  // namespace slimgraph
