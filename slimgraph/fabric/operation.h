// One-sided operations on another node's memory, and their outcomes.
#pragma once

#include <cstdint>
#include <string_view>

#include "slimgraph/base/types.h"

namespace slimgraph {

// All nodes publish regions together, so one id names the k-th region of every node.
using RegionId = std::uint16_t;
constexpr RegionId kMaxRegions = 4096;

enum class OperationKind : std::uint8_t { kRead, kWrite, kCompareSwap, kFetchAdd };
constexpr std::size_t kNumOperationKinds = 4;

// How an operation ended. After the first operation of a doorbell that is not kOk, the later ones
// of the doorbell to the same node are kFlushed: they were not executed.
enum class Outcome : std::uint8_t {
  kOk,
  kOutOfRange,  // beyond the region's end
  kNoRegion,    // the node published no such region
  kRevoked,     // the node revoked the region
  kMisaligned,  // an atomic on an address that is not a multiple of 8
  kPeerLost,    // the node died or was cut off
  kFailed,      // the transport reported a failure
  kFlushed,     // an earlier operation of its batch failed
  kReadOnly,    // a change of memory that others may only read
};
std::string_view OutcomeName(Outcome outcome);

// Whether the end of an operation is reported. Failures are reported in any case.
enum class Reported : std::uint8_t {
  kFailure,     // only a failure
  kEnd,         // also a success
  kToEndpoint,  // to the endpoint, which goes on with what the operation is a step of
};

// One cache line of 64 bytes, because batches are scanned on the hot path.
struct Operation {
  OperationKind kind = OperationKind::kRead;
  Reported reported = Reported::kEnd;
  RegionId region = 0;
  NodeId node = 0;
  std::uint64_t offset = 0;  // in the region
  std::byte* local =
      nullptr;  // read: destination · write: source · atomics: the old value, or null
  std::uint64_t length = 0;    // bytes; 8 for atomics
  std::uint64_t operand = 0;   // what compare-and-swap stores, what fetch-and-add adds
  std::uint64_t expected = 0;  // what compare-and-swap compares with
  std::uint64_t tag = 0;       // set by the caller, returned in the completion
};

struct Completion {
  std::uint64_t tag = 0;
  Outcome outcome = Outcome::kOk;
};

// The bytes on the wire in addition to the payload. The message-based transports send exactly
// these. Shared memory counts the same, so that counts do not depend on the transport.
constexpr std::uint64_t kMessageHeaderBytes = 16;    // each request, reply and message
constexpr std::uint64_t kOperationHeaderBytes = 16;  // each operation in a request
constexpr std::uint64_t kAtomicOperandBytes = 8;     // fetch-and-add; compare-and-swap has two

// Reads and writes that consist of aligned words, up to this many bytes, access each word whole on
// every transport.
constexpr std::uint64_t kWholeWordsBytes = 512;

// A doorbell to one node is sent in parts of at most this many operations and payload bytes. A
// longer single operation is a part by itself.
constexpr std::size_t kMaxPartOperations = 1024;
constexpr std::uint64_t kMaxPartBytes = 1 << 20;

}  // namespace slimgraph
