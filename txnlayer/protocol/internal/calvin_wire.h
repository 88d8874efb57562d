// The messages between CALVIN's threads, and the sizes of the buffers for one-sided writes.
#pragma once

#include <chrono>
#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/engine.h"
#include "txnlayer/internal/execution/message_bytes.h"

namespace slimgraph::txn::calvin {

// The batch of an epoch, or its last part.
constexpr std::uint16_t kBatch = kFirstCompanionRequest;
constexpr std::uint16_t kValue = kFirstCompanionRequest + 1;
constexpr std::uint16_t kEnd = kFirstCompanionRequest + 2;
// The writes for which kEnd has no room.
constexpr std::uint16_t kWrites = kFirstCompanionRequest + 3;
// Something was written into the receiver's memory.
constexpr std::uint16_t kWake = kFirstCompanionRequest + 4;
// A part of a batch, before the last.
constexpr std::uint16_t kBatchPart = kFirstCompanionRequest + 5;

constexpr std::uint64_t kEpochSlots = 16;
// After this many epochs a scheduler reports the consumed ones.
constexpr std::uint64_t kReportEvery = 4;
// The most bytes of a batch. A transaction that has more is a batch by itself, and always comes in
// messages, of so many bytes each.
constexpr std::uint64_t kBatchBytes = 12 << 10;
constexpr std::uint64_t kSlotBytes = kBatchBytes + 2 * kWordBytes;  // epoch + 1, bytes, batch
constexpr std::uint64_t RoundUpToCacheLine(std::uint64_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}
// How many values of a transaction have a buffer. The others come in messages.
constexpr std::size_t kValueSlots = 256;
// The transaction's number, the tuple's offset, and the version.
constexpr std::uint64_t kValueBytes = RoundUpToCacheLine(3 * kWordBytes + kMaxRecordBytes);
// The polling interval of a thread for writes into its memory, when nobody wakes it.
constexpr std::chrono::nanoseconds kPollInterval{30'000};

// The first bytes of every message. Messages from before the last Reset() are ignored.
struct MessageHeader {
  CallHeader call;
  std::uint32_t reset_round;
  std::uint32_t unused;
};

// A transaction in a batch, followed by its accesses.
struct BatchItem {
  std::uint32_t coroutine;
  std::uint32_t accesses;
  std::uint64_t number;
};
struct BatchAccess {
  Key key;
  TableId table;
  bool write;
  std::uint8_t unused[5];
};
struct BatchHeader {
  std::uint64_t epoch;
};
struct ValueHeader {
  std::uint32_t coroutine;
  std::uint32_t item;
  std::uint64_t number;
  std::uint64_t offset;
};
struct EndHeader {
  std::uint32_t coroutine;
  std::uint32_t writes;
  std::uint64_t number;
};
struct EndWrite {
  std::uint64_t offset;
  Rank rank;
  TableId table;
  std::uint8_t unused[2];
};

}  // namespace slimgraph::txn::calvin
