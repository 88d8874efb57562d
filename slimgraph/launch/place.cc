#include "slimgraph/launch/place.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/split.h"

namespace slimgraph {
namespace {

constexpr std::string_view kNone = "-";

std::atomic<bool> is_node{false};  // of a session that a launcher has started

}  // namespace

std::string Place::ToText() const {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", node, nodes, compute, hub, secret,
                     encrypts ? 1 : 0, confined ? 1 : 0, quota.first_lender, quota.memory_bytes,
                     quota.bytes_per_s, host_cache.empty() ? kNone : host_cache, listener, command);
}

JoinConfig Place::Config() const {
  JoinConfig config{.self = node, .nodes = nodes};
  if (node == 0) {
    ::fcntl(listener, F_SETFD, FD_CLOEXEC);
    config.listener.Reset(listener);
  }
  config.hub_address = hub;
  config.secret = secret;
  config.encrypts = encrypts;
  config.confined = confined;
  config.quota = quota;
  config.host_cache = host_cache;
  return config;
}

Status BecomeNodeOnce() {
  if (!is_node.exchange(true)) return {};
  return UsageError(
      "this process has already been a node of a session: under a launcher, a program opens one "
      "session");
}

Result<std::optional<Place>> TakePlace() {
  if (is_node) SLIM_TRY(BecomeNodeOnce());
  const char* const set = std::getenv(kJoinVariable);
  if (set == nullptr) return std::nullopt;
  const std::string text = set;
  ::unsetenv(kJoinVariable);
  const auto words = Split(text, ' ');
  constexpr std::size_t kWords = 13;
  const auto number = [&](std::size_t i) { return std::atoll(std::string(words[i]).c_str()); };
  const auto in_range = [](long long n) { return n >= 0 && n <= static_cast<int>(kMaxNodes); };
  if (words.size() < kWords || !in_range(number(0)) || !in_range(number(1)) ||
      !in_range(number(2)) || !in_range(number(7)) || number(0) >= number(1)) {
    return UsageError("{} does not name a node: it is set by a session, not by hand",
                      kJoinVariable);
  }
  Place place{.node = static_cast<NodeId>(number(0)),
              .nodes = static_cast<NodeId>(number(1)),
              .compute = static_cast<NodeId>(number(2)),
              .hub = std::string(words[3]),
              .secret = std::string(words[4]),
              .encrypts = number(5) != 0,
              .confined = number(6) != 0,
              .quota = {.first_lender = static_cast<NodeId>(number(7)),
                        .memory_bytes = static_cast<std::uint64_t>(number(8)),
                        .bytes_per_s = static_cast<std::uint64_t>(number(9))},
              .host_cache = words[10] == kNone ? "" : std::string(words[10]),
              .listener = static_cast<int>(number(11))};
  SLIM_TRY(BecomeNodeOnce());
  // The command may have blanks.
  place.command = std::string(words[12].data(), text.data() + text.size());
  return place;
}

Result<pid_t> StartProgram(const std::vector<std::string>& words, const Place& place, bool quiet,
                           bool ends_with_starter) {
  // Only processes of this user can read the environment.
  ProgramToStart program{.words = words,
                         .variables = {{kJoinVariable, place.ToText()}},
                         .ends_with_starter = ends_with_starter};
  if (quiet) {
    program.input = program.output = "/dev/null";
    program.close_from = STDERR_FILENO + 1;  // this program's other files stay its own
  } else if (place.listener >= 0) {
    program.files.emplace_back(place.listener, place.listener);
  }
  return StartProgram(program);
}

}  // namespace slimgraph
