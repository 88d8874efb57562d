#include "slimgraph/fabric/internal/verbs/correspondence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

namespace {

constexpr std::uint64_t kMessageRingBytes = 256 << 10;
// How many pieces may be under way: fewer after a loss, for most are of a receiver that had no
// buffer.
constexpr std::uint32_t kMostUnderWay = 64;
constexpr std::uint32_t kLeastUnderWay = 2;
constexpr std::uint32_t kTellEvery = 8;
constexpr std::uint64_t kTellWithinNs = 1'000'000;
// Loss is rare, and found by the next piece in most cases; but a receiver may be busy for long.
constexpr std::uint64_t kMissedAfterNs = 20'000'000;
constexpr std::uint32_t kMostDoublings = 4;
constexpr std::uint64_t kNoRoomNs = 200'000;
constexpr std::size_t kFrameBytes = sizeof(wire::MessageFrame);

}  // namespace

VerbsCorrespondence::VerbsCorrespondence(Shared& shared, EndpointAddress peer,
                                         const VerbsMailAddress& address)
    : shared_(shared), peer_(peer), address_(address) {}

bool VerbsCorrespondence::Send(const Message& message) {
  SLIM_CHECK(message.body.size() <= kMaxMessageBytes, "{} bytes in one message",
             message.body.size());
  if (lost_) return true;
  if (!ring_) {
    auto made = VerbsRing::Make(shared_.device, kMessageRingBytes);
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
  const std::size_t payload = address_.datagram_bytes - sizeof(VerbsPiece);
  const std::size_t needed = (bytes + payload - 1) / payload;
  Retire();
  if (pieces_.size() + needed > kMessageRingBytes / address_.datagram_bytes) return false;
  Begin();
  Append(wire::BytesOf(frame));
  if (frame.has_due != 0) Append(wire::BytesOf(message.due_ns));
  Append(message.body);
  PostPieces(NowNs());
  return true;
}

void VerbsCorrespondence::Begin() {
  std::byte* const place = ring_->Take(address_.datagram_bytes);
  const VerbsPiece piece{.number = number_++,
                         .arrived = 0,
                         .node = static_cast<std::uint16_t>(shared_.self.node),
                         .endpoint = static_cast<std::uint16_t>(shared_.self.endpoint)};
  std::memcpy(place, &piece, sizeof piece);
  pieces_.push_back({place, sizeof piece, ring_->position(), 0});
}

void VerbsCorrespondence::Append(Bytes bytes) {
  while (!bytes.empty()) {
    if (pieces_.back().bytes == address_.datagram_bytes) Begin();
    Piece& piece = pieces_.back();
    const std::size_t now =
        std::min<std::size_t>(bytes.size(), address_.datagram_bytes - piece.bytes);
    std::memcpy(piece.place + piece.bytes, bytes.data(), now);
    piece.bytes += static_cast<std::uint32_t>(now);
    bytes = bytes.subspan(now);
  }
}

// As many as the window and the queue have room for. A piece that is still on its way out stays as
// it is: what it tells of arrivals is then older.
void VerbsCorrespondence::PostPieces(std::uint64_t now_ns) {
  const auto first = static_cast<std::uint32_t>(number_ - pieces_.size());
  const bool none_under_way = next_ == arrived_of_mine_;
  const std::uint32_t before = next_;
  while (next_ != number_ && next_ - arrived_of_mine_ < window_) {
    Piece& piece = pieces_[next_ - first];
    const bool tells = piece.datagram <= shared_.datagrams.sent();
    if (tells) std::memcpy(piece.place + offsetof(VerbsPiece, arrived), &arrived_, sizeof arrived_);
    if (!Post({piece.place, piece.bytes}, ring_->key(), piece.datagram)) break;
    if (tells) Told();
    ++next_;
  }
  if (next_ != before && none_under_way) missed_ns_ = now_ns + (kMissedAfterNs << misses_);
  Activate();
}

// False when there is no room now, or no route. A fault may lose it here.
bool VerbsCorrespondence::Post(Bytes bytes, std::uint32_t key, std::uint64_t& datagram) {
  if (shared_.faults->Loses()) return true;
  if (!route_) route_ = shared_.datagrams.RouteTo(address_);
  if (!route_) return false;
  const std::uint64_t number = shared_.datagrams.Send(route_.get(), address_, bytes, key);
  if (number == 0) return false;
  datagram = number;
  return true;
}

void VerbsCorrespondence::PostWord(VerbsPiece::Kind kind) {
  const VerbsPiece word{.number = 0,
                        .arrived = arrived_,
                        .node = static_cast<std::uint16_t>(shared_.self.node),
                        .endpoint = static_cast<std::uint16_t>(shared_.self.endpoint),
                        .kind = kind};
  std::uint64_t datagram = 0;
  if (Post(wire::BytesOf(word), 0, datagram)) Told();
}

void VerbsCorrespondence::Told() {
  told_ = arrived_;
  tell_ns_ = 0;
}

std::uint64_t VerbsCorrespondence::Progress(std::uint64_t now_ns) {
  Retire();
  if (tell_ns_ != 0 && now_ns >= tell_ns_) {
    tell_ns_ = now_ns + kNoRoomNs;
    PostWord(VerbsPiece::kWord);
  }
  const bool under_way = arrived_of_mine_ != next_;
  if (under_way && now_ns >= missed_ns_) {
    misses_ = std::min(misses_ + 1, kMostDoublings);
    window_ = kLeastUnderWay;
    next_ = arrived_of_mine_;
  }
  if (next_ != number_) PostPieces(now_ns);
  std::uint64_t due_ns = tell_ns_;
  const auto also = [&](std::uint64_t at_ns) {
    due_ns = due_ns == 0 ? at_ns : std::min(due_ns, at_ns);
  };
  if (arrived_of_mine_ != next_) also(missed_ns_);
  if (next_ != number_ && next_ - arrived_of_mine_ < window_) also(now_ns + kNoRoomNs);
  listed_ = due_ns != 0;
  return due_ns;
}

void VerbsCorrespondence::Activate() {
  if (!std::exchange(listed_, true)) shared_.active.push_back(this);
}

// Gives back the room of pieces that have come, once the device looks at them no more.
void VerbsCorrespondence::Retire() {
  while (!pieces_.empty()) {
    const auto first = static_cast<std::uint32_t>(number_ - pieces_.size());
    const bool there = static_cast<std::int32_t>(arrived_of_mine_ - first) > 0;
    if (!there || pieces_.front().datagram > shared_.datagrams.sent()) return;
    ring_->Release(pieces_.front().released);
    pieces_.pop_front();
  }
}

void VerbsCorrespondence::Take(Bytes datagram, const std::function<void(const Message&)>& receive) {
  if (lost_) return;
  VerbsPiece piece;
  std::memcpy(&piece, datagram.data(), sizeof piece);
  TakeWord(piece);
  if (piece.kind != VerbsPiece::kPart) return;
  const auto ahead = static_cast<std::int32_t>(piece.number - arrived_);
  if (ahead > 0) {  // what is missing is asked for once; the sender's patience has an end, too
    if (std::exchange(asked_, arrived_) != arrived_) PostWord(VerbsPiece::kAgain);
    return;
  }
  if (tell_ns_ == 0) tell_ns_ = NowNs() + kTellWithinNs;
  Activate();
  if (ahead < 0) return;  // twice: the word of it must have been lost
  ++arrived_;
  if (arrived_ - told_ >= kTellEvery) PostWord(VerbsPiece::kWord);
  TakePart(datagram.subspan(sizeof piece), receive);
}

void VerbsCorrespondence::TakeWord(const VerbsPiece& piece) {
  const auto come = static_cast<std::int32_t>(piece.arrived - arrived_of_mine_);
  if (come > 0 && static_cast<std::int32_t>(number_ - piece.arrived) >= 0) {
    arrived_of_mine_ = piece.arrived;
    if (static_cast<std::int32_t>(next_ - arrived_of_mine_) < 0) next_ = arrived_of_mine_;
    misses_ = 0;
    window_ = std::min(window_ + static_cast<std::uint32_t>(come), kMostUnderWay);
    missed_ns_ = NowNs() + kMissedAfterNs;
    Activate();
  }
  if (piece.kind == VerbsPiece::kAgain && piece.arrived == arrived_of_mine_) {
    window_ = std::max(window_ / 2, kLeastUnderWay);
    next_ = arrived_of_mine_;
    Activate();
  }
}

void VerbsCorrespondence::TakePart(Bytes bytes,
                                   const std::function<void(const Message&)>& receive) {
  if (!begun_.empty()) {
    begun_.insert(begun_.end(), bytes.begin(), bytes.end());
    bytes = begun_;
  }
  wire::MessageFrame frame;
  if (bytes.size() < kFrameBytes) return;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  const std::size_t front = kFrameBytes + (frame.has_due != 0 ? sizeof(Message::due_ns) : 0);
  if (bytes.size() < front + frame.body_bytes) {
    if (begun_.empty()) begun_.assign(bytes.begin(), bytes.end());
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
  begun_.clear();
}

void VerbsCorrespondence::Lose() {
  lost_ = true;
  next_ = arrived_of_mine_ = number_;
  tell_ns_ = 0;
}

}  // namespace slimgraph
