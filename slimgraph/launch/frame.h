// The messages between the nodes of a job and its hub, or a pool and its clients, and a parser that
// reads them from a stream.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

enum class FrameType : std::uint8_t {
  kChallenge,     // hub → node: the hub's challenge
  kHello,         // node → hub: the node's challenge, proof and host identity
  kRefused,       // hub → node: the proof is wrong or the node is not expected; with the reason
  kWelcome,       // hub → node: the hub's proof, hosts and addresses of all nodes
  kHeartbeat,     // both ways
  kContribution,  // node → hub: one node's part of an exchange
  kGathered,      // hub → node: all parts of an exchange
  kFailed,        // node → hub: I fail, with exit code and reason
  kLost,          // hub → node: `node` is lost, with exit code and reason
  kDied,          // like kLost, for a node whose process has ended without a message
  kPartAborted,   // both ways: `node` aborts the parts with this tag, with exit code and reason
  kBye,           // node → hub: I leave the finished job
  kSealed,        // encrypted: a request to a pool's node, or its answer; or a whole frame of a job
};
constexpr FrameType kLastFrameType = FrameType::kSealed;

// The largest body of a frame: first from a side that has not yet proved that it knows the secret,
// then from one that has.
constexpr std::uint32_t kMaxJoiningBytes = 64 << 10;
constexpr std::uint32_t kMaxFrameBytes = 1 << 30;

// The number of base tags. A part of a job has a tag for its exchanges: its base tag, which is
// smaller than this, plus a multiple of this.
constexpr std::uint32_t kNumBaseTags = 16;

// Identifies an exchange. `tag` is the tag of the job's part, 0 for the whole job. Exchanges of
// different tags are numbered independently.
struct ExchangeId {
  std::uint32_t tag = 0;
  std::uint32_t sequence = 0;
  auto operator<=>(const ExchangeId&) const = default;
};

struct Frame {
  FrameType type = FrameType::kHeartbeat;
  std::uint8_t exit_code = 0;
  std::uint16_t node = 0;
  ExchangeId exchange = {};
  std::string body;
};

// Writes the whole frame; returns false if the other side is gone or has not read for two seconds.
bool SendFrame(int fd, const Frame& frame);

// The bytes of a frame, and the frame of such bytes.
std::string EncodeFrame(const Frame& frame);
Result<Frame> DecodeFrame(std::string_view bytes);

// Collects the frames of one connection.
class FrameReader {
 public:
  explicit FrameReader(std::uint32_t max_bytes) : max_bytes_(max_bytes) {}

  // Applies to all frames that are not yet in the buffer.
  void SetMaxBytes(std::uint32_t max_bytes) { max_bytes_ = max_bytes; }

  // Reads the bytes that are available, without blocking, and at most as many as the longest frame
  // has. Returns false if the other side is gone.
  bool Fill(int fd);
  // Adds bytes that were received otherwise.
  void Append(std::string_view bytes) { buffer_ += bytes; }
  // The next frame, or nothing while it is incomplete. Returns an error if the bytes are not a
  // frame; the stream is unusable then.
  Result<std::optional<Frame>> Next();

 private:
  std::uint32_t max_bytes_;
  std::string buffer_;
  std::size_t used_ = 0;
};

// Checks that a frame names a node and a tag that exist in a job of `nodes` nodes.
Status CheckFrame(const Frame& frame, NodeId nodes);

// Packs a list of strings into one string, as exchanges carry them.
std::string PackStrings(const std::vector<std::string>& strings);
Result<std::vector<std::string>> UnpackStrings(std::string_view packed);

}  // namespace slimgraph
