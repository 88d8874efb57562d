// How endpoints of the shared-memory transport send each other messages: a ring for each pair of
// endpoints, with one writer and one reader; a bit for each sender that has written; and a doorbell
// that is rung only if the receiver sleeps. A writer that dies while it writes a message corrupts
// nothing.
#pragma once

#include <cstdint>

#include "slimgraph/base/atomic.h"
#include "slimgraph/base/futex.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

// A record consists of this header and the body, padded to 8 bytes.
struct ShmRecord {
  std::uint32_t bytes;  // of the body; kSkip: the rest of the ring is empty
  std::uint32_t acknowledged;
  std::uint64_t due_ns;
  HandlerId handler;

  static constexpr std::uint32_t kSkip = 0xFFFFFFFF;
};
static_assert(sizeof(ShmRecord) == 24);

// Positions are never reset; the ring index is position % kBytes. Pages that are never written use
// no physical memory.
template <std::size_t kBytes>
struct BasicShmRing {
  alignas(kCacheLineBytes) Atomic<std::uint64_t> written;
  alignas(kCacheLineBytes) Atomic<std::uint64_t> read;
  alignas(kCacheLineBytes) std::byte bytes[kBytes];

  // By the writer. False: there is no room.
  bool Write(const Message& message) {
    std::uint64_t end = written.load(std::memory_order_relaxed);
    const std::uint64_t free = kBytes - (end - read.load(std::memory_order_acquire));
    const std::size_t needed = sizeof(ShmRecord) + (message.body.size() + 7) / 8 * 8;
    const std::size_t to_end = kBytes - end % kBytes;
    // A record is not split: if it does not fit before the end of the ring, it is written at the
    // beginning. Sizes are multiples of 8, so `to_end` always has room for the word that marks a
    // skip.
    const std::size_t skipped = needed <= to_end ? 0 : to_end;
    if (free < needed + skipped) return false;
    if (skipped > 0) {
      StorePlain(bytes + end % kBytes, &ShmRecord::kSkip, sizeof(std::uint32_t));
      end += skipped;
    }
    std::byte* const at = bytes + end % kBytes;
    const ShmRecord record{static_cast<std::uint32_t>(message.body.size()), message.acknowledged,
                           message.due_ns, message.handler};
    StorePlain(at, &record, sizeof record);
    if (!message.body.empty()) {
      StorePlain(at + sizeof record, message.body.data(), message.body.size());
    }
    written.store(end + needed, std::memory_order_release);
    return true;
  }

  // By the reader: calls receive(message) for each message. The body lies in the ring, and is
  // overwritten after the call.
  template <typename Receive>
  void Drain(EndpointAddress from, const Receive& receive) {
    const std::uint64_t end = written.load(std::memory_order_acquire);
    std::uint64_t begin = read.load(std::memory_order_relaxed);
    while (begin < end) {
      const std::size_t at = begin % kBytes;
      std::uint32_t body_bytes = 0;
      LoadPlain(&body_bytes, bytes + at, sizeof body_bytes);
      if (body_bytes == ShmRecord::kSkip) {
        begin += kBytes - at;
        continue;
      }
      ShmRecord record;
      LoadPlain(&record, bytes + at, sizeof record);
      Message message;
      message.from = from;
      message.handler = record.handler;
      message.acknowledged = record.acknowledged;
      message.due_ns = record.due_ns;
      message.body = {bytes + at + sizeof record, record.bytes};
      receive(message);
      begin += sizeof record + (record.bytes + 7) / 8 * 8;
      read.store(begin, std::memory_order_release);
    }
    read.store(begin, std::memory_order_release);
  }
};

constexpr std::size_t kShmRingBytes = 128 << 10;
static_assert(2 * (kMaxMessageBytes + sizeof(ShmRecord)) <= kShmRingBytes);
using ShmRing = BasicShmRing<kShmRingBytes>;

struct ShmDoorbell {
  alignas(kCacheLineBytes) Atomic<std::uint32_t> rung;
  Atomic<std::uint32_t> asleep;

  void Ring() {
    rung.fetch_add(1);
    FutexWakeAll(rung);
  }
  // By a sender, after it has marked itself as ready. Either it sees `asleep`, or the receiver sees
  // the mark: both write before they read, and all four are sequentially consistent.
  void RingIfAsleep() {
    if (asleep.load() != 0) Ring();
  }
  // By the receiver, which has found nothing since `rung` was `seen`. If the doorbell has been rung
  // since, there is work.
  template <typename HasWork>
  void Sleep(std::uint32_t seen, std::uint64_t limit_ns, const HasWork& has_work) {
    asleep.store(1);
    if (!has_work()) FutexWait(rung, seen, limit_ns);
    asleep.store(0);
  }
};

// A bit for each sender that has written into its ring and has not been drained since.
class ShmReadyBits {
 public:
  ShmReadyBits(Atomic<std::uint64_t>* words, std::uint32_t count) : words_(words), count_(count) {}
  static std::uint32_t WordsFor(std::uint32_t senders) { return (senders + 63) / 64; }

  void Mark(std::uint32_t sender) const {
    words_[sender / 64].fetch_or(std::uint64_t{1} << (sender % 64));
  }
  bool any() const {
    for (std::uint32_t word = 0; word < count_; ++word) {
      if (words_[word].load() != 0) return true;
    }
    return false;
  }
  // Clears the bits, and calls drain(sender) for each that was set.
  template <typename Drain>
  void Take(const Drain& drain) const {
    for (std::uint32_t word = 0; word < count_; ++word) {
      if (words_[word].load(std::memory_order_relaxed) == 0) continue;
      for (std::uint64_t bits = words_[word].exchange(0); bits != 0; bits &= bits - 1) {
        drain(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
      }
    }
  }

 private:
  Atomic<std::uint64_t>* words_;
  std::uint32_t count_;
};

// A sender's message to an endpoint. False: the ring has no room.
template <std::size_t kBytes>
bool SendByRing(BasicShmRing<kBytes>& ring, const ShmReadyBits& ready, ShmDoorbell& doorbell,
                std::uint32_t sender, const Message& message) {
  if (!ring.Write(message)) return false;
  ready.Mark(sender);
  doorbell.RingIfAsleep();
  return true;
}

}  // namespace slimgraph
