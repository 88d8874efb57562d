// What CALVIN's threads send each other, and how large the buffers are into which they write.
#pragma once

#include <chrono>
#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/engine.h"
#include "txnlayer/message_bytes.h"

namespace slimgraph::txn::calvin {

constexpr std::uint16_t kBatch = kFirstCompanionRequest;
constexpr std::uint16_t kValue = kFirstCompanionRequest + 1;
constexpr std::uint16_t kEnd = kFirstCompanionRequest + 2;
constexpr std::uint16_t kWrites = kFirstCompanionRequest + 3;  // what kEnd has no room for
constexpr std::uint16_t kWake = kFirstCompanionRequest + 4;    // there is something in your memory

constexpr std::uint64_t kEpochSlots = 16;
constexpr std::uint64_t kTellEvery = 4;  // how many epochs a scheduler is through with
constexpr std::uint64_t kBatchBytes = 8 << 10;
constexpr std::uint64_t kSlotBytes = kBatchBytes + 2 * kWordBytes;  // epoch + 1, bytes, batch
constexpr std::uint64_t Lines(std::uint64_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}
// Number of the transaction, where the tuple lies, the version.
constexpr std::uint64_t kValueBytes = Lines(3 * kWordBytes + kMaxRecordBytes);
// How soon a thread looks again for what others write into its memory, when nobody wakes it.
constexpr std::chrono::nanoseconds kLookAgain{30'000};

// Begins every message. Those from before all has begun anew are not taken in.
struct MessageHeader {
  CallHeader call;
  std::uint32_t beginning;
  std::uint32_t unused;
};

// A transaction in a batch, and what it wants.
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
