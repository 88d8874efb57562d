// The two directions of a non-blocking socket: a queue of bytes to send, and a buffer of received
// bytes.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "slimgraph/base/crypto.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

constexpr std::size_t kReceiveBytes = 64 << 10;  // received at once
constexpr std::uint64_t kCopyBytes = 1 << 10;    // shorter pieces are gathered by copying

// kLost: the other side has ended the connection. kCutOff: it has not answered for long, so what
// was sent may be lost although both sides live.
enum class StreamState { kDone, kBlocked, kLost, kCutOff };
constexpr bool IsOver(StreamState state) {
  return state == StreamState::kLost || state == StreamState::kCutOff;
}

// Bytes to send, in order. They are copied into the queue, or referenced in place until they are
// sent.
class SendQueue {
 public:
  void Copy(Bytes bytes);
  void CopyToFront(Bytes bytes);  // before anything has been sent
  // References `bytes`, which must stay valid until they are sent or detached. Bytes that change
  // meanwhile are sent old or new.
  void Refer(Bytes bytes);

  // Encrypts all bytes from the first one on.
  void Encrypt(const CryptoKey& key) { sealer_.emplace(key); }

  // Returns kDone when the queue is empty, kBlocked when the socket takes no more now.
  StreamState Flush(int fd);

  // Copies all references into `memory`, which is going away.
  void Detach(Bytes memory);

  bool empty() const { return pieces_.empty() && sealed_.empty(); }
  std::uint64_t bytes() const { return bytes_; }  // that are not encrypted yet
  void Clear();

 private:
  struct Piece {
    const std::byte* external;  // null: in copies_
    std::uint64_t begin;        // position in copies_, counted from the first byte ever copied
    std::uint64_t bytes;
  };
  const std::byte* Data(const Piece& piece) const;
  StreamState FlushSealed(int fd);
  void SealRecord();
  void Consume(std::uint64_t bytes);
  void DropSentCopies();

  std::optional<StreamSealer> sealer_;
  std::vector<std::byte> record_;  // to be encrypted
  std::vector<std::byte> sealed_;  // encrypted, and sent up to sealed_sent_
  std::size_t sealed_sent_ = 0;
  std::deque<Piece> pieces_;
  std::vector<std::byte> copies_;
  std::uint64_t dropped_ = 0;  // how many bytes were erased from the front of copies_
  std::uint64_t bytes_ = 0;
  bool in_order_ = true;  // the copies lie in the order in which they are sent
};

// Received bytes, read from the socket in steps as large as the buffer has room for.
class ReceiveBuffer {
 public:
  explicit ReceiveBuffer(std::size_t capacity) : buffer_(capacity) {}

  Bytes available() const { return Bytes(buffer_).subspan(begin_, end_ - begin_); }
  void Consume(std::size_t bytes) { begin_ += bytes; }

  // Decrypts all bytes from now on. Requires that none have been received ahead.
  void Decrypt(const CryptoKey& key) { opener_.emplace(key); }

  // The socket was reported ready, so the next call reads from it again.
  void Refresh() { drained_ = false; }

  // Receives until `bytes` are available: kDone, or kBlocked if the rest has not arrived. Receives
  // up to `ahead` further bytes.
  StreamState Need(int fd, std::size_t bytes, std::size_t ahead);

  // Like Need(), but bytes that follow go to `beyond`, which is shortened by them. Requires that no
  // bytes have been received ahead.
  StreamState NeedAndMove(int fd, std::size_t bytes, MutableBytes& beyond);

  // Moves the next bytes of the stream to `destination`, and removes the filled part from it. Large
  // destinations are filled directly from the socket.
  StreamState Move(int fd, MutableBytes& destination);

 private:
  StreamState Receive(int fd, MutableBytes into, MutableBytes beyond, std::size_t& received);
  StreamState ReceiveRaw(int fd, MutableBytes into, MutableBytes beyond, std::size_t& received);
  StreamState OpenRecord(int fd);
  MutableBytes RoomFor(std::size_t bytes);

  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool drained_ = false;  // the last call did not fill its room, so the next one would find nothing

  std::optional<StreamOpener> opener_;
  std::vector<std::byte> sealed_;  // encrypted, and decrypted up to sealed_begin_
  std::size_t sealed_begin_ = 0;
  std::size_t sealed_end_ = 0;
  std::vector<std::byte> opened_;  // of a record
  std::size_t opened_begin_ = 0;
};

}  // namespace slimgraph
