#include "slimgraph/fabric/internal/tcp/stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/check.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/unordered_reads.h"

namespace slimgraph {

namespace {

constexpr std::size_t kPiecesPerCall = 256;
constexpr std::size_t kDropCopiesBytes = 256 << 10;
constexpr std::size_t kSealedBytes = 128 << 10;  // so many encrypted bytes are sent at once
constexpr std::size_t kStraightBytes = 8 << 10;  // from this size on, a second call is faster than
                                                 // a copy

// Referenced bytes may change after the receiver has reported their arrival. That order leads
// through the other process, so ThreadSanitizer cannot see it.
ssize_t Send(int fd, std::span<iovec> parts) {
  const UnorderedReads reads;
  return SendParts(fd, parts);
}

bool Blocked() { return errno == EAGAIN || errno == EWOULDBLOCK; }

// After a call that has failed.
StreamState WhyFailed() {
  if (Blocked()) return StreamState::kBlocked;
  const bool unreachable = errno == ETIMEDOUT || errno == EHOSTUNREACH || errno == ENETUNREACH;
  return unreachable ? StreamState::kCutOff : StreamState::kLost;
}

}  // namespace

void SendQueue::Copy(Bytes bytes) {
  if (bytes.empty()) return;
  const std::uint64_t begin = dropped_ + copies_.size();
  copies_.insert(copies_.end(), bytes.begin(), bytes.end());
  if (!pieces_.empty() && pieces_.back().external == nullptr &&
      pieces_.back().begin + pieces_.back().bytes == begin) {
    pieces_.back().bytes += bytes.size();
  } else {
    pieces_.push_back({nullptr, begin, bytes.size()});
  }
  bytes_ += bytes.size();
}

void SendQueue::CopyToFront(Bytes bytes) {
  pieces_.push_front({nullptr, dropped_ + copies_.size(), bytes.size()});
  copies_.insert(copies_.end(), bytes.begin(), bytes.end());
  bytes_ += bytes.size();
  in_order_ = false;
}

void SendQueue::Refer(Bytes bytes) {
  if (bytes.empty()) return;
  pieces_.push_back({bytes.data(), 0, bytes.size()});
  bytes_ += bytes.size();
}

const std::byte* SendQueue::Data(const Piece& piece) const {
  return piece.external != nullptr ? piece.external : copies_.data() + (piece.begin - dropped_);
}

// The bytes of a record are gathered by copying.
void SendQueue::SealRecord() {
  record_.resize(std::min<std::uint64_t>(kMostRecordBytes, bytes_));
  const UnorderedReads reads;
  std::size_t at = 0;
  for (const Piece& piece : pieces_) {
    const std::size_t step = std::min<std::uint64_t>(piece.bytes, record_.size() - at);
    if (step == 0) break;
    std::memcpy(record_.data() + at, Data(piece), step);
    at += step;
  }
  Consume(record_.size());
  sealer_->Seal(record_, sealed_);
}

StreamState SendQueue::FlushSealed(int fd) {
  while (true) {
    while (sealed_sent_ < sealed_.size()) {
      iovec rest{sealed_.data() + sealed_sent_, sealed_.size() - sealed_sent_};
      const ssize_t sent = SendParts(fd, std::span(&rest, 1));
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return WhyFailed();
      sealed_sent_ += static_cast<std::size_t>(sent);
    }
    sealed_.clear();
    sealed_sent_ = 0;
    if (pieces_.empty()) return StreamState::kDone;
    while (!pieces_.empty() && sealed_.size() < kSealedBytes) SealRecord();
  }
}

StreamState SendQueue::Flush(int fd) {
  if (sealer_) return FlushSealed(fd);
  std::array<iovec, kPiecesPerCall> vectors;
  while (!pieces_.empty()) {
    const std::size_t count = std::min(pieces_.size(), vectors.size());
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<std::byte*>(Data(pieces_[i])), pieces_[i].bytes};
    }
    const ssize_t sent = Send(fd, std::span(vectors).first(count));
    if (sent >= 0) {
      Consume(static_cast<std::uint64_t>(sent));
    } else if (errno != EINTR) {
      return WhyFailed();
    }
  }
  return StreamState::kDone;
}

void SendQueue::Consume(std::uint64_t bytes) {
  bytes_ -= bytes;
  while (bytes > 0) {
    Piece& piece = pieces_.front();
    const std::uint64_t step = std::min(bytes, piece.bytes);
    if (piece.external != nullptr) piece.external += step;
    piece.begin += step;
    piece.bytes -= step;
    bytes -= step;
    if (piece.bytes == 0) pieces_.pop_front();
  }
  DropSentCopies();
}

void SendQueue::DropSentCopies() {
  if (pieces_.empty()) {
    dropped_ += copies_.size();
    copies_.clear();
    if (copies_.capacity() > 4 * kDropCopiesBytes) copies_.shrink_to_fit();
    in_order_ = true;
    return;
  }
  if (!in_order_) return;
  // A copy follows almost every reference, so looking at two pieces suffices.
  const Piece& first = pieces_[pieces_.front().external != nullptr && pieces_.size() > 1 ? 1 : 0];
  if (first.external != nullptr) return;
  const std::uint64_t sent = first.begin - dropped_;
  if (sent < kDropCopiesBytes || sent < copies_.size() / 2) return;
  copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(sent));
  dropped_ += sent;
}

void SendQueue::Detach(Bytes memory) {
  for (Piece& piece : pieces_) {
    if (piece.external < memory.data() || piece.external >= memory.data() + memory.size()) continue;
    const std::uint64_t begin = dropped_ + copies_.size();
    copies_.insert(copies_.end(), piece.external, piece.external + piece.bytes);
    piece = {nullptr, begin, piece.bytes};
    in_order_ = false;
  }
}

void SendQueue::Clear() {
  sealed_.clear();
  sealed_sent_ = 0;
  pieces_.clear();
  copies_.clear();
  bytes_ = 0;
  in_order_ = true;
}

// Returns kDone if something was received.
StreamState ReceiveBuffer::Receive(int fd, MutableBytes into, MutableBytes beyond,
                                   std::size_t& received) {
  if (!opener_) return ReceiveRaw(fd, into, beyond, received);
  while (opened_begin_ == opened_.size()) {
    const StreamState state = OpenRecord(fd);
    if (state != StreamState::kDone) return state;
  }
  received = 0;
  for (const MutableBytes part : {into, beyond}) {
    const std::size_t step = std::min(part.size(), opened_.size() - opened_begin_);
    if (step == 0) break;
    std::memcpy(part.data(), opened_.data() + opened_begin_, step);
    opened_begin_ += step;
    received += step;
  }
  return StreamState::kDone;
}

// Decrypts the next record, which may be empty.
StreamState ReceiveBuffer::OpenRecord(int fd) {
  sealed_.resize(2 * kReceiveBytes);
  while (true) {
    const Bytes arrived = Bytes(sealed_).subspan(sealed_begin_, sealed_end_ - sealed_begin_);
    const auto bytes = opener_->BytesOfNext(arrived);
    if (!bytes) return StreamState::kLost;
    if (arrived.size() >= *bytes && *bytes > StreamOpener::kLengthBytes) {
      opened_begin_ = 0;
      sealed_begin_ += *bytes;
      return opener_->Open(arrived.first(*bytes), opened_) ? StreamState::kDone
                                                           : StreamState::kLost;
    }
    if (sealed_begin_ > 0) {
      std::memmove(sealed_.data(), arrived.data(), arrived.size());
      sealed_begin_ = 0;
      sealed_end_ = arrived.size();
    }
    std::size_t received = 0;
    const StreamState state =
        ReceiveRaw(fd, MutableBytes(sealed_).subspan(sealed_end_), {}, received);
    if (state != StreamState::kDone) return state;
    sealed_end_ += received;
  }
}

StreamState ReceiveBuffer::ReceiveRaw(int fd, MutableBytes into, MutableBytes beyond,
                                      std::size_t& received) {
  if (drained_) return StreamState::kBlocked;
  std::array<iovec, 2> vectors{{{into.data(), into.size()}, {beyond.data(), beyond.size()}}};
  const auto parts = std::span(vectors).first(beyond.empty() ? 1 : 2);
  for (;;) {
    const ssize_t bytes = ReceiveParts(fd, parts);
    if (bytes > 0) {
      received = static_cast<std::size_t>(bytes);
      drained_ = received < into.size() + beyond.size();
      return StreamState::kDone;
    }
    if (bytes == 0) return StreamState::kLost;
    if (errno == EINTR) continue;
    const StreamState why = WhyFailed();
    drained_ = why == StreamState::kBlocked;
    return why;
  }
}

// The free part of the buffer that must be filled to make `bytes` available.
MutableBytes ReceiveBuffer::RoomFor(std::size_t bytes) {
  SLIM_CHECK(bytes <= buffer_.size(), "{} bytes do not fit {}", bytes, buffer_.size());
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ + bytes > buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return MutableBytes(buffer_).subspan(end_, begin_ + bytes - end_);
}

StreamState ReceiveBuffer::Need(int fd, std::size_t bytes, std::size_t ahead) {
  while (end_ - begin_ < bytes) {
    std::size_t received = 0;
    const StreamState state =
        Receive(fd, RoomFor(std::min(bytes + ahead, buffer_.size())), {}, received);
    if (state != StreamState::kDone) return state;
    end_ += received;
  }
  return StreamState::kDone;
}

StreamState ReceiveBuffer::NeedAndMove(int fd, std::size_t bytes, MutableBytes& beyond) {
  while (end_ - begin_ < bytes) {
    std::size_t received = 0;
    const MutableBytes room = RoomFor(bytes);
    const StreamState state = Receive(fd, room, beyond, received);
    if (state != StreamState::kDone) return state;
    end_ += std::min(received, room.size());
    if (received > room.size()) beyond = beyond.subspan(received - room.size());
  }
  return StreamState::kDone;
}

StreamState ReceiveBuffer::Move(int fd, MutableBytes& destination) {
  while (!destination.empty()) {
    std::size_t step = 0;
    if (begin_ < end_) {
      step = std::min(end_ - begin_, destination.size());
      std::memcpy(destination.data(), buffer_.data() + begin_, step);
      begin_ += step;
    } else if (destination.size() >= kStraightBytes) {
      const StreamState state = Receive(fd, destination, {}, step);
      if (state != StreamState::kDone) return state;
    } else {
      const StreamState state = Need(fd, 1, buffer_.size());
      if (state != StreamState::kDone) return state;
    }
    destination = destination.subspan(step);
  }
  return StreamState::kDone;
}

}  // namespace slimgraph
