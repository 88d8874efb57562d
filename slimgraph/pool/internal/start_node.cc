#include "slimgraph/pool/internal/start_node.h"

#include <unistd.h>

#include <charconv>
#include <csignal>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/split.h"
#include "slimgraph/launch/host_identity.h"
#include "slimgraph/launch/hosts.h"
#include "slimgraph/pool/pool_node.h"

namespace slimgraph {
namespace internal {
namespace {

constexpr double kHostLimitS = 20;
constexpr std::chrono::seconds kUntilKilled{5};

struct Started {
  PoolNodeAddress node;  // without its host and address
  std::uint16_t port = 0;
};

// `listen`: the addresses of this machine at which it accepts clients.
Result<Started> StartHere(const std::string& place, const std::string& program,
                          const std::string& listen, const std::string& log) {
  SLIM_ASSIGN(const UniqueFd listener, ListenTcp(listen));
  const ProgramToStart start{
      .words = {program, kPoolNodeCommand},
      .variables = {{kPoolNodeVariable, place}},
      .input = "/dev/null",
      .output = log,
      .files = {{listener.get(), kPoolListener}, {STDOUT_FILENO, STDERR_FILENO}},
      .close_from = kPoolListener + 1,
      .folder = "/",
      .new_session = true};
  SLIM_ASSIGN(const pid_t process, StartProgram(start));
  return Started{
      .node = {.machine = HostIdentity(), .process = process, .started = StartOfProcess(process)},
      .port = LocalAddress(listener.get()).port()};
}

void KillHere(const PoolNodeAddress& node) {
  const UniqueFd end = WatchProcess(node.process);
  if (node.machine != HostIdentity() || !IsRunning(node)) return;
  ::kill(node.process, SIGKILL);
  AwaitReadable(end.get(), kUntilKilled);
}

// What `slimgraph pool-host` is asked, after the version: one part a line, since a folder may have
// blanks.
constexpr std::string_view kStartNode = "start";  // PLACE POOL NODE FOLDER PROCESS STARTED MACHINE
constexpr std::string_view kEndNode = "end";      // PROCESS STARTED MACHINE
constexpr std::string_view kStarted = "started";  // PORT PROCESS STARTED MACHINE

Result<std::string> AskPoolHost(const std::string& host, const std::string& program,
                                const std::vector<std::string>& request) {
  const std::string command = Quoted(program) + " " + kPoolHostCommand;
  std::string input = SLIMGRAPH_VERSION "\n";
  for (const std::string& part : request) input += part + "\n";
  return AskHost(host, command, input, kHostLimitS);
}

// After what a shell may print of its own.
std::string_view LastLineOf(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

template <typename T>
T NumberIn(std::string_view text) {
  T number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<PoolNodeAddress> StartOnHost(const PoolNodeAddress& before, const std::string& place,
                                    const std::string& pool, NodeId node,
                                    const std::string& program) {
  // The user who names a folder means it on all hosts. Otherwise each host knows its own.
  const char* const folder = std::getenv("SLIMGRAPH_POOLS");
  SLIM_ASSIGN(const std::string answer,
              AskPoolHost(before.host, PathOf(program),
                          {std::string(kStartNode), place, pool, fmt::format("{}", node),
                           folder == nullptr ? "" : folder, fmt::format("{}", before.process),
                           fmt::format("{}", before.started), before.machine}));
  const auto words = Split(LastLineOf(answer), ' ');
  if (words.size() != 5 || words[0] != kStarted) {
    return EnvironmentError("host {}: {} there does not start nodes of pools", before.host,
                            PathOf(program));
  }
  return PoolNodeAddress{.host = before.host,
                         .address = fmt::format("{}:{}", before.host, words[1]),
                         .machine = std::string(words[4]),
                         .process = NumberIn<pid_t>(words[2]),
                         .started = NumberIn<std::uint64_t>(words[3])};
}

}  // namespace

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string PathOf(const std::string& program) {
  std::string path(4096, '\0');
  const ssize_t bytes = ::readlink(program.c_str(), path.data(), path.size());
  return bytes > 0 ? path.substr(0, static_cast<std::size_t>(bytes)) : program;
}

Status StartNode(PoolDescriptor& pool, NodeId node, const std::string& program,
                 const std::string& log) {
  PoolNodeAddress& where = pool.nodes[node];
  const std::string place = NodePlace{.node = node,
                                      .nodes = static_cast<NodeId>(pool.nodes.size()),
                                      .copies = pool.copies,
                                      .memory_bytes = pool.memory_bytes,
                                      .key = pool.key}
                                .ToText();
  if (!where.host.empty()) {
    SLIM_ASSIGN(where, StartOnHost(where, place, pool.name, node, program));
    return {};
  }
  SLIM_ASSIGN(const Started started, StartHere(place, program, "127.0.0.1", log));
  where = started.node;
  where.address = fmt::format("127.0.0.1:{}", started.port);
  return {};
}

Status EndNode(const PoolNodeAddress& node, const std::string& program) {
  if (node.host.empty() || node.machine == HostIdentity()) {
    KillHere(node);
    return {};
  }
  return AskPoolHost(node.host, PathOf(program),
                     {std::string(kEndNode), fmt::format("{}", node.process),
                      fmt::format("{}", node.started), node.machine})
      .map([](const std::string&) {});
}

}  // namespace internal

Result<std::string> ServePoolHost(const std::string& request) {
  auto parts = Split(request, '\n');
  if (parts.size() > 1 && parts[0] != SLIMGRAPH_VERSION) {
    return EnvironmentError("slimgraph there is {}, and here {}: install the same on all hosts",
                            SLIMGRAPH_VERSION, parts[0]);
  }
  if (!parts.empty()) parts.erase(parts.begin());
  // The last three parts, before the empty one after the last line.
  const auto kill_earlier = [&] {
    const std::size_t first = parts.size() - 4;
    internal::KillHere({.machine = std::string(parts[first + 2]),
                        .process = internal::NumberIn<pid_t>(parts[first]),
                        .started = internal::NumberIn<std::uint64_t>(parts[first + 1])});
  };
  if (parts.size() == 5 && parts[0] == internal::kEndNode) {
    kill_earlier();
    return std::string("ended\n");
  }
  if (parts.size() != 9 || parts[0] != internal::kStartNode) {
    return UsageError("{} is called by 'slimgraph pool start', not by hand", kPoolHostCommand);
  }
  const std::string name(parts[2]);
  SLIM_TRY(CheckPoolName("pool", name));
  if (!parts[4].empty()) ::setenv("SLIMGRAPH_POOLS", std::string(parts[4]).c_str(), 1);
  SLIM_ASSIGN(const std::string folder, MakePoolsFolder());
  kill_earlier();
  const std::string log = LogPathOnHost(folder, name, internal::NumberIn<NodeId>(parts[3]));
  const UniqueFd made(files::Open(log, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made) return EnvironmentError("{}: cannot write", log);
  SLIM_ASSIGN(const auto started,
              internal::StartHere(std::string(parts[1]) + log, "/proc/self/exe", "0.0.0.0", log));
  return fmt::format("{} {} {} {} {}\n", internal::kStarted, started.port, started.node.process,
                     started.node.started, started.node.machine);
}

}  // namespace slimgraph
