#include "slimgraph/fabric/internal/datagrams/reliable_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

namespace {

constexpr std::uint64_t kMessageRingBytes = 256 << 10;
// The window, which is how many pieces may be unacknowledged. It shrinks after a loss, because most
// losses mean that the receiver had no free buffer.
constexpr std::uint32_t kMaxWindow = 64;
constexpr std::uint32_t kMinWindow = 2;
constexpr std::uint32_t kAcknowledgeEvery = 8;
constexpr std::uint64_t kAcknowledgeWithinNs = 1'000'000;
// The retransmission timeout. Losses are rare, and the next piece reveals most of them; but a
// receiver may be busy for a long time.
constexpr std::uint64_t kResendAfterNs = 20'000'000;
constexpr std::uint32_t kMaxDoublings = 4;
constexpr std::uint64_t kNoRoomNs = 200'000;
constexpr std::size_t kFrameBytes = sizeof(wire::MessageFrame);

}  // namespace

ReliableLink::ReliableLink(Shared& shared, EndpointAddress peer)
    : shared_(shared), peer_(peer), datagram_bytes_(shared.datagrams.MostBytes(peer)) {}

bool ReliableLink::Send(const Message& message, std::uint64_t now_ns) {
  SLIM_CHECK(message.body.size() <= kMaxMessageBytes, "{} bytes in one message",
             message.body.size());
  if (lost_) return true;
  if (!ring_) {
    auto made = shared_.datagrams.MakeRing(kMessageRingBytes);
    if (!made) return false;
    ring_ = std::move(*made);
  }
  const wire::MessageFrame frame{.has_due = message.due_ns != 0,
                                 .handler = message.handler,
                                 .from_endpoint = static_cast<std::uint16_t>(shared_.self.endpoint),
                                 .to_endpoint = static_cast<std::uint16_t>(peer_.endpoint),
                                 .acknowledged = message.acknowledged,
                                 .body_bytes = static_cast<std::uint32_t>(message.body.size())};
  const std::size_t bytes =
      sizeof frame + (frame.has_due != 0 ? sizeof message.due_ns : 0) + message.body.size();
  const std::size_t payload = datagram_bytes_ - sizeof(LinkPiece);
  const std::size_t needed = (bytes + payload - 1) / payload;
  FreeAcknowledgedPieces();
  if (pieces_.size() + needed > kMessageRingBytes / datagram_bytes_) return false;
  Begin();
  Append(wire::BytesOf(frame));
  if (frame.has_due != 0) Append(wire::BytesOf(message.due_ns));
  Append(message.body);
  PostPieces(now_ns);
  return true;
}

void ReliableLink::Begin() {
  std::byte* const place = ring_->Take(datagram_bytes_);
  const LinkPiece piece{.number = number_++,
                        .arrived = 0,
                        .node = static_cast<std::uint16_t>(shared_.self.node),
                        .endpoint = static_cast<std::uint16_t>(shared_.self.endpoint)};
  std::memcpy(place, &piece, sizeof piece);
  pieces_.push_back({place, sizeof piece, ring_->position(), 0});
}

void ReliableLink::Append(Bytes bytes) {
  while (!bytes.empty()) {
    if (pieces_.back().bytes == datagram_bytes_) Begin();
    Piece& piece = pieces_.back();
    const std::size_t now = std::min<std::size_t>(bytes.size(), datagram_bytes_ - piece.bytes);
    std::memcpy(piece.place + piece.bytes, bytes.data(), now);
    piece.bytes += static_cast<std::uint32_t>(now);
    bytes = bytes.subspan(now);
  }
}

// Posts as many pieces as the window and the queue have room for. A piece that the device is still
// sending is not changed, so it carries an older acknowledgement.
void ReliableLink::PostPieces(std::uint64_t now_ns) {
  const auto first = static_cast<std::uint32_t>(number_ - pieces_.size());
  const bool none_in_flight = next_ == acknowledged_by_peer_;
  const std::uint32_t before = next_;
  while (next_ != number_ && next_ - acknowledged_by_peer_ < window_) {
    Piece& piece = pieces_[next_ - first];
    const bool acknowledges = piece.datagram <= shared_.datagrams.sent();
    if (acknowledges) {
      std::memcpy(piece.place + offsetof(LinkPiece, arrived), &arrived_, sizeof arrived_);
      std::memcpy(piece.place + offsetof(LinkPiece, heard), &heard_, sizeof heard_);
    }
    const std::uint64_t datagram =
        shared_.datagrams.Send(peer_, {piece.place, piece.bytes}, ring_.get());
    if (datagram == 0) break;
    piece.datagram = datagram;
    if (acknowledges) OnAcknowledgementPosted();
    ++next_;
  }
  if (next_ != before && none_in_flight) resend_at_ns_ = now_ns + (kResendAfterNs << timeouts_);
  Activate();
}

void ReliableLink::PostAcknowledgement(LinkPiece::Kind kind) {
  const LinkPiece acknowledgement{.number = 0,
                                  .arrived = arrived_,
                                  .node = static_cast<std::uint16_t>(shared_.self.node),
                                  .endpoint = static_cast<std::uint16_t>(shared_.self.endpoint),
                                  .kind = kind,
                                  .heard = heard_};
  if (shared_.datagrams.Send(peer_, wire::BytesOf(acknowledgement), nullptr) != 0) {
    OnAcknowledgementPosted();
  }
}

void ReliableLink::OnAcknowledgementPosted() {
  acknowledged_ = arrived_;
  acknowledge_at_ns_ = 0;
}

std::uint64_t ReliableLink::Progress(std::uint64_t now_ns) {
  FreeAcknowledgedPieces();
  if (acknowledge_at_ns_ != 0 && now_ns >= acknowledge_at_ns_) {
    acknowledge_at_ns_ = now_ns + kNoRoomNs;
    PostAcknowledgement(LinkPiece::kAcknowledgement);
  }
  const bool in_flight = acknowledged_by_peer_ != next_;
  if (in_flight && now_ns >= resend_at_ns_) {
    timeouts_ = std::min(timeouts_ + 1, kMaxDoublings);
    ++timeouts_unanswered_;
    window_ = kMinWindow;
    next_ = acknowledged_by_peer_;
  }
  if (next_ != number_) PostPieces(now_ns);
  std::uint64_t due_ns = acknowledge_at_ns_;
  const auto also = [&](std::uint64_t at_ns) {
    due_ns = due_ns == 0 ? at_ns : std::min(due_ns, at_ns);
  };
  if (acknowledged_by_peer_ != next_) also(resend_at_ns_);
  if (next_ != number_ && next_ - acknowledged_by_peer_ < window_) also(now_ns + kNoRoomNs);
  listed_ = due_ns != 0;
  return due_ns;
}

void ReliableLink::AcknowledgeSoon(std::uint64_t now_ns) {
  if (acknowledge_at_ns_ == 0) acknowledge_at_ns_ = now_ns + kAcknowledgeWithinNs;
  Activate();
}

void ReliableLink::Activate() {
  if (!std::exchange(listed_, true)) shared_.active.push_back(this);
}

// Frees acknowledged pieces that the device does not read any more.
void ReliableLink::FreeAcknowledgedPieces() {
  while (!pieces_.empty()) {
    const auto first = static_cast<std::uint32_t>(number_ - pieces_.size());
    const bool there = static_cast<std::int32_t>(acknowledged_by_peer_ - first) > 0;
    if (!there || pieces_.front().datagram > shared_.datagrams.sent()) return;
    ring_->Release(pieces_.front().released);
    pieces_.pop_front();
  }
}

void ReliableLink::Take(Bytes datagram, std::uint64_t now_ns,
                        const std::function<void(const Message&)>& receive) {
  if (lost_) return;
  LinkPiece piece;
  std::memcpy(&piece, datagram.data(), sizeof piece);
  ++heard_;
  if (std::exchange(heard_by_peer_, piece.heard) != piece.heard) timeouts_unanswered_ = 0;
  TakeAcknowledgement(piece, now_ns);
  if (piece.kind != LinkPiece::kPiece) return;
  if (!receive) return AcknowledgeSoon(now_ns);
  const auto ahead = static_cast<std::int32_t>(piece.number - arrived_);
  if (ahead > 0) {  // a gap: ask for a resend once; if that is lost, the sender times out
    if (std::exchange(resend_requested_, arrived_) != arrived_)
      PostAcknowledgement(LinkPiece::kResend);
    return;
  }
  AcknowledgeSoon(now_ns);
  if (ahead < 0) return;  // a duplicate: its acknowledgement must have been lost
  ++arrived_;
  if (arrived_ - acknowledged_ >= kAcknowledgeEvery)
    PostAcknowledgement(LinkPiece::kAcknowledgement);
  TakePiece(datagram.subspan(sizeof piece), receive);
}

void ReliableLink::TakeAcknowledgement(const LinkPiece& piece, std::uint64_t now_ns) {
  const auto come = static_cast<std::int32_t>(piece.arrived - acknowledged_by_peer_);
  if (come > 0 && static_cast<std::int32_t>(number_ - piece.arrived) >= 0) {
    acknowledged_by_peer_ = piece.arrived;
    if (static_cast<std::int32_t>(next_ - acknowledged_by_peer_) < 0) next_ = acknowledged_by_peer_;
    timeouts_ = 0;
    window_ = std::min(window_ + static_cast<std::uint32_t>(come), kMaxWindow);
    resend_at_ns_ = now_ns + kResendAfterNs;
    Activate();
  }
  if (piece.kind == LinkPiece::kResend && piece.arrived == acknowledged_by_peer_) {
    window_ = std::max(window_ / 2, kMinWindow);
    next_ = acknowledged_by_peer_;
    Activate();
  }
}

void ReliableLink::TakePiece(Bytes bytes, const std::function<void(const Message&)>& receive) {
  if (!incomplete_.empty()) {
    incomplete_.insert(incomplete_.end(), bytes.begin(), bytes.end());
    bytes = incomplete_;
  }
  wire::MessageFrame frame;
  if (bytes.size() < kFrameBytes) return;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  const std::size_t front = kFrameBytes + (frame.has_due != 0 ? sizeof(Message::due_ns) : 0);
  if (bytes.size() < front + frame.body_bytes) {
    if (incomplete_.empty()) incomplete_.assign(bytes.begin(), bytes.end());
    return;
  }
  Message message{.from = peer_,
                  .handler = frame.handler,
                  .acknowledged = frame.acknowledged,
                  .body = bytes.subspan(front, frame.body_bytes)};
  if (frame.has_due != 0) {
    std::memcpy(&message.due_ns, bytes.data() + kFrameBytes, sizeof message.due_ns);
  }
  receive(message);
  incomplete_.clear();
}

void ReliableLink::Lose() {
  lost_ = true;
  next_ = acknowledged_by_peer_ = number_;
  acknowledge_at_ns_ = 0;
  timeouts_unanswered_ = 0;
}

}  // namespace slimgraph
