// A local connection between two processes of this machine, over which one passes open files to the
// other, each message with a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

constexpr std::size_t kMaxPassedFiles = 250;        // in one message; Linux allows 253
constexpr std::size_t kMaxPassedText = 64UL << 10;  // bytes in one message

// Both ends keep the limits of messages, and are closed on exec.
Result<std::pair<UniqueFd, UniqueFd>> MakeLocalConnection();

struct PassedFiles {
  std::string text;
  std::vector<UniqueFd> files;
};

// Waits while the other side reads too slowly.
Status PassFiles(int fd, std::string_view text, const std::vector<int>& files);
// Waits for a message. Nothing: the other side has closed the connection.
Result<std::optional<PassedFiles>> ReceiveFiles(int fd);

}  // namespace slimgraph
