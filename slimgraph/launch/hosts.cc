#include "slimgraph/launch/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "slimgraph/base/file_io.h"

namespace slimgraph {
namespace {

constexpr NodeId kMostProcesses = 1024;

bool IsThisHost(const std::string& name) { return name == "localhost" || name == HostName(); }

}  // namespace

Result<std::vector<HostLine>> ParseHosts(std::string_view text, const std::string& path) {
  std::vector<HostLine> hosts;
  NodeId rank = 0;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    const std::size_t colon = word.find(':');
    NodeId processes = 1;
    if (colon != std::string::npos) {
      const char* const end = word.data() + word.size();
      const auto [stop, failed] = std::from_chars(word.data() + colon + 1, end, processes);
      if (failed != std::errc() || stop != end || processes == 0 || processes > kMostProcesses) {
        return InputError("{}:{}: expected HOST or HOST:PROCESSES, found '{}'", path, number, word);
      }
    }
    const std::string name = word.substr(0, colon);
    auto known = std::find_if(hosts.begin(), hosts.end(),
                              [&](const HostLine& host) { return host.name == name; });
    if (known == hosts.end()) known = hosts.insert(hosts.end(), {name, {}});
    for (NodeId i = 0; i < processes; ++i) known->ranks.push_back(rank++);
  }
  if (hosts.empty()) return InputError("{}: it names no host", path);
  return hosts;
}

Result<std::vector<HostLine>> ReadHosts(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, path));
  std::string text(bytes, '\0');
  SLIM_TRY(ReadExactlyAt(fd, path, 0, std::as_writable_bytes(std::span(text))));
  return ParseHosts(text, path);
}

std::vector<std::string> HostsByRank(const std::vector<HostLine>& hosts) {
  std::vector<std::string> names;
  for (const HostLine& host : hosts) {
    for (const NodeId rank : host.ranks) {
      if (names.size() <= rank) names.resize(rank + std::size_t{1});
      names[rank] = host.name;
    }
  }
  return names;
}

std::string HostName() {
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  return own.data();
}

Result<ChildEnd> RunOnHost(const std::string& host, const std::string& command,
                           const std::string& input, double limit_s) {
  if (IsThisHost(host)) return RunChild({"sh", "-c", command}, limit_s, input);
  const char* const other = std::getenv("HYDRA_LAUNCHER_EXEC");
  return RunChild(
      {other == nullptr ? "ssh" : other, "-oBatchMode=yes", "-oConnectTimeout=5", host, command},
      limit_s, input);
}

Result<std::string> AskHost(const std::string& host, const std::string& command,
                            const std::string& input, double limit_s) {
  SLIM_ASSIGN(auto end, RunOnHost(host, command, input, limit_s));
  if (end.timed_out) {
    return EnvironmentError(
        "host {}: no answer within {:.0f} s; 'slimgraph doctor --hosts' finds "
        "what is wrong",
        host, limit_s);
  }
  if (end.code != 0) {
    return EnvironmentError(
        "host {}: {}", host,
        end.last_line.empty() ? fmt::format("exit code {}", end.code) : end.last_line);
  }
  return std::move(end.out);
}

}  // namespace slimgraph
