// The messages between the nodes of a job and its hub, and the reading of them from a stream.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

enum class FrameType : std::uint8_t {
  kHello,         // node → hub: secret, host identity
  kWelcome,       // hub → node: hosts and addresses of all
  kHeartbeat,     // both ways
  kContribution,  // node → hub: one node's part of an exchange
  kGathered,      // hub → node: all parts of it
  kFailed,        // node → hub: I give up, with exit code and reason
  kLost,          // hub → node: `node` is lost, with exit code and reason
  kDied,          // the same of one whose process has ended without a word
  kGivenUp,       // both ways: `node` gives up what uses this line of exchanges, for that reason
  kBye,           // node → hub: I leave in peace
};

// Exchanges of different lines are counted apart.
struct ExchangeId {
  std::uint32_t line = 0;
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

// Writes the whole frame; false when the other side is gone or has not read for seconds.
bool SendFrame(int fd, const Frame& frame);

// Collects the frames of one connection.
class FrameReader {
 public:
  // Reads what is there, without waiting; false when the other side is gone.
  bool Fill(int fd);
  std::optional<Frame> Next();

 private:
  std::string buffer_;
  std::size_t used_ = 0;
};

// A list of strings in one, as exchanges carry them.
std::string PackStrings(const std::vector<std::string>& strings);
std::vector<std::string> UnpackStrings(std::string_view packed);

}  // namespace slimgraph
