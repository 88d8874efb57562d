// The wire format of the message-based transports: a request with operations, its reply, and
// two-sided messages. All nodes have the same byte order, and these structs have no padding.
//
//   request   RequestFrame, OperationFrame × operations, then what each operation sends, in order
//   reply     ReplyFrame, then what each operation before the first failed one returns, in order
//   message   MessageFrame, the arrival time if `has_due`, body
//
// The traffic counters count these sizes (operation.h). They do not count the arrival time, which
// only the network model needs, nor a transport's internal messages (set-up, wake-ups, grants).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph::wire {

enum class FrameKind : std::uint8_t { kRequest = 1, kReply, kMessage, kGrant, kRelease, kCredit };

struct RequestFrame {
  FrameKind kind = FrameKind::kRequest;
  std::uint8_t flags = 0;
  std::uint16_t endpoint = 0;  // the requesting endpoint, which gets the reply
  std::uint32_t operations = 0;
  std::uint64_t payload_bytes = 0;  // after the operation frames
};

struct ReplyFrame {
  FrameKind kind = FrameKind::kReply;
  Outcome outcome = Outcome::kOk;
  std::uint16_t endpoint = 0;
  std::uint32_t failed_index = 0;
  std::uint64_t payload_bytes = 0;
};

struct MessageFrame {
  FrameKind kind = FrameKind::kMessage;
  std::uint8_t has_due = 0;
  HandlerId handler = 0;
  std::uint16_t from_endpoint = 0;
  std::uint16_t to_endpoint = 0;
  std::uint32_t acknowledged = 0;
  std::uint32_t body_bytes = 0;
};

struct OperationFrame {
  OperationKind kind = OperationKind::kRead;
  std::uint8_t reserved = 0;
  RegionId region = 0;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
};

// Flags of a RequestFrame. kContinues: nothing is executed if the previous request of the same
// endpoint has failed. kSeparate: the bytes are neither in the request nor in the reply (mpi).
constexpr std::uint8_t kContinues = 1;
constexpr std::uint8_t kSeparate = 2;

// How long a closing channel waits until what it has sent is delivered.
constexpr std::uint64_t kCloseLimitNs = 1'000'000'000;

constexpr std::size_t kDueBytes = sizeof(Message::due_ns);

Bytes BytesOf(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

constexpr std::uint64_t kMaxOperationBytes = 0xffff'ffff;
constexpr std::uint32_t kMaxEndpoints = 0xffff;

static_assert(sizeof(RequestFrame) == kMessageHeaderBytes);
static_assert(sizeof(ReplyFrame) == kMessageHeaderBytes);
static_assert(sizeof(MessageFrame) == kMessageHeaderBytes);
static_assert(sizeof(OperationFrame) == kOperationHeaderBytes);

constexpr OperationFrame FrameOf(const Operation& operation) {
  return {.kind = operation.kind,
          .region = operation.region,
          .bytes = static_cast<std::uint32_t>(operation.length),
          .offset = operation.offset};
}

constexpr std::uint64_t SentBytes(OperationKind kind, std::uint64_t bytes) {
  switch (kind) {
    case OperationKind::kRead:
      return 0;
    case OperationKind::kWrite:
      return bytes;
    case OperationKind::kFetchAdd:
      return kAtomicOperandBytes;
    case OperationKind::kCompareSwap:
      return 2 * kAtomicOperandBytes;
  }
  return 0;
}

constexpr std::uint64_t ReturnedBytes(OperationKind kind, std::uint64_t bytes) {
  switch (kind) {
    case OperationKind::kRead:
      return bytes;
    case OperationKind::kWrite:
      return 0;
    case OperationKind::kFetchAdd:
    case OperationKind::kCompareSwap:
      return kAtomicOperandBytes;
  }
  return 0;
}

}  // namespace slimgraph::wire
