// The two directions of a nonblocking socket: what is still to be sent, and what has arrived and is
// not used yet.
#pragma once

#include <deque>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

constexpr std::size_t kReceiveBytes = 64 << 10;  // at once
constexpr std::uint64_t kCopyBytes = 1 << 10;    // what is shorter is gathered by copying

enum class StreamState { kDone, kBlocked, kLost };

// Bytes on their way out, in order: copied here, or left where they are until they are sent.
class SendQueue {
 public:
  void Copy(Bytes bytes);
  void CopyToFront(Bytes bytes);  // before the first is sent
  // They stay valid until sent or detached. What of them changes meanwhile goes out old or new.
  void Refer(Bytes bytes);

  // kDone when the queue is empty, kBlocked when the socket takes no more now.
  StreamState Flush(int fd);

  // Copies what refers into `memory`, which is going away.
  void Detach(Bytes memory);

  bool empty() const { return pieces_.empty(); }
  std::uint64_t bytes() const { return bytes_; }
  void Clear();

 private:
  struct Piece {
    const std::byte* external;  // null: in copies_
    std::uint64_t begin;        // in copies_, counted from the first byte that was ever copied
    std::uint64_t bytes;
  };
  const std::byte* Data(const Piece& piece) const;
  void Consume(std::uint64_t bytes);
  void DropSentCopies();

  std::deque<Piece> pieces_;
  std::vector<std::byte> copies_;
  std::uint64_t dropped_ = 0;  // how much was erased at the front of copies_
  std::uint64_t bytes_ = 0;
  bool in_order_ = true;  // the copies lie in the order in which they go out
};

// Bytes that have arrived, read in as large steps as the buffer has room for.
class ReceiveBuffer {
 public:
  explicit ReceiveBuffer(std::size_t capacity) : buffer_(capacity) {}

  Bytes available() const { return Bytes(buffer_).subspan(begin_, end_ - begin_); }
  void Consume(std::size_t bytes) { begin_ += bytes; }

  // The socket has been found ready: it is asked again, after it had nothing more.
  void Refresh() { drained_ = false; }

  // Receives until `bytes` are available: kDone, or kBlocked when the rest is still to come.
  // Receives ahead up to `ahead` bytes beyond.
  StreamState Need(int fd, std::size_t bytes, std::size_t ahead);

  // The same, but what comes beyond goes to `beyond`, which is shortened by it. Nothing is
  // available that was received ahead.
  StreamState NeedAndMove(int fd, std::size_t bytes, MutableBytes& beyond);

  // Moves the next bytes of the stream to `destination` and shortens it by what there was; large
  // ones go there straight from the socket.
  StreamState Move(int fd, MutableBytes& destination);

 private:
  StreamState Receive(int fd, MutableBytes into, MutableBytes beyond, std::size_t& received);
  MutableBytes RoomFor(std::size_t bytes);

  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool drained_ = false;  // the last call got less than there was room for: a next one is in vain
};

}  // namespace slimgraph
