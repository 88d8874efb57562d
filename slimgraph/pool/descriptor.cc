#include "slimgraph/pool/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/split.h"
#include "slimgraph/launch/host_identity.h"
#include "slimgraph/launch/hosts.h"
#include "slimgraph/stats/json_value.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {
namespace {

constexpr std::string_view kDescriptorEnd = ".json";
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::chrono::seconds kConnectLimit{3};
constexpr std::size_t kMaxDescriptorBytes = 1 << 20;

// Makes a folder that only this user can enter, and those above it.
Status MakePrivateFolder(const std::string& path) {
  if (files::MakeFolder(path, 0700) == 0 || errno == EEXIST) return {};
  if (errno == ENOENT && FolderOf(path) != path) {
    SLIM_TRY(MakePrivateFolder(FolderOf(path)));
    if (files::MakeFolder(path, 0700) == 0 || errno == EEXIST) return {};
  }
  return EnvironmentError("{}: the folder cannot be made: {}; name another in SLIMGRAPH_POOLS",
                          path, std::strerror(errno));
}

Status CheckPrivate(const std::string& folder) {
  struct stat info;
  if (files::StatOf(folder, info) != 0) {
    return EnvironmentError("{}: {}", folder, std::strerror(errno));
  }
  if (info.st_uid == ::geteuid() && (info.st_mode & 077) == 0) return {};
  return EnvironmentError(
      "{}: other users may enter it, and use the pools whose keys are there: chmod 700 it, or name "
      "another folder in SLIMGRAPH_POOLS",
      folder);
}

Result<std::string> ReadSmallFile(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd file, OpenForReading(path));
  std::string text(kMaxDescriptorBytes, '\0');
  SLIM_ASSIGN(const std::size_t bytes,
              ReadAt(file, path, 0, std::as_writable_bytes(std::span(text))));
  text.resize(bytes);
  return text;
}

}  // namespace

Status CheckPoolName(std::string_view kind, const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  if (!name.empty() && name.size() <= kMaxNameBytes && name.front() != '-' &&
      std::all_of(name.begin(), name.end(), is_allowed)) {
    return {};
  }
  return UsageError("'{}' is no name for a {}: use up to {} letters, digits, - and _", name, kind,
                    kMaxNameBytes);
}

Result<std::string> PoolsFolder() {
  if (const char* const named = std::getenv("SLIMGRAPH_POOLS"); named != nullptr && *named != 0) {
    if (named[0] == '/') return std::string(named);
    return UsageError("SLIMGRAPH_POOLS is '{}': give a path that begins with /", named);
  }
  if (const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
      runtime != nullptr && runtime[0] == '/') {
    return std::string(runtime) + "/slimgraph/pools";
  }
  if (const char* const home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return std::string(home) + "/.local/state/slimgraph/pools";
  }
  return EnvironmentError("no folder for pools: set SLIMGRAPH_POOLS to a path");
}

Result<std::string> MakePoolsFolder() {
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  SLIM_TRY(MakePrivateFolder(folder));
  SLIM_TRY(CheckPrivate(folder));
  return folder;
}

std::string DescriptorPath(const std::string& folder, const std::string& name) {
  return fmt::format("{}/{}{}", folder, name, kDescriptorEnd);
}

std::string LogPath(const std::string& folder, const std::string& name) {
  return fmt::format("{}/{}.log", folder, name);
}

std::string LogPathOnHost(const std::string& folder, const std::string& name, NodeId node) {
  return fmt::format("{}/{}.node{}.log", folder, name, node);
}

std::string NameOfLog(const PoolDescriptor& pool, NodeId node) {
  const std::string& host = pool.nodes[node].host;
  const auto folder = PoolsFolder();
  if (!host.empty() && pool.launcher.empty()) {
    return fmt::format("{} on host {}", LogPathOnHost("", pool.name, node).substr(1), host);
  }
  return folder ? LogPath(*folder, pool.name) : "the pool's log";
}

Result<PoolDescriptor> ReadDescriptor(const std::string& name) {
  SLIM_TRY(CheckPoolName("pool", name));
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  const std::string path = DescriptorPath(folder, name);
  SLIM_ASSIGN(const bool exists, Exists(path));
  if (!exists) {
    return InputError(
        "there is no pool '{}': 'slimgraph pool list' names those in {}, and 'slimgraph pool start "
        "{}' starts one",
        name, folder, name);
  }
  SLIM_TRY(CheckPrivate(folder));
  SLIM_ASSIGN(auto pool, ReadDescriptorFile(path, name));
  if (!pool.has_hosts() && pool.host_name != HostName()) {
    return EnvironmentError(
        "pool '{}' is on host {} alone: use it there, or stop it and start it with --hosts", name,
        pool.host_name);
  }
  return pool;
}

Result<PoolDescriptor> ReadOwnDescriptor(const std::string& name, std::string_view change) {
  SLIM_ASSIGN(auto pool, ReadDescriptor(name));
  if (!pool.read_only) return pool;
  return EnvironmentError("pool '{}' is shared with you for reading: whoever has started it {}",
                          name, change);
}

Result<PoolDescriptor> ReadDescriptorFile(const std::string& path, const std::string& name) {
  const auto no_descriptor = [&] {
    return InputError(
        "{}: this is not a pool's descriptor: 'slimgraph pool start' and 'pool share' write them",
        path);
  };
  SLIM_ASSIGN(const std::string text, ReadSmallFile(path));
  const auto json = ParseJson(text, path);
  if (!json) return no_descriptor();
  const auto number = [&](const std::string& at) {
    return static_cast<std::uint64_t>(json->NumberAt(at).value_or(0));
  };
  PoolDescriptor pool{.name = name.empty() ? json->TextAt("/name") : name,
                      .protocol = number("/protocol"),
                      .version = json->TextAt("/version"),
                      .key = json->TextAt("/key"),
                      .read_only = json->IsTrue("/read_only"),
                      .transport = json->TextAt("/transport"),
                      .encrypts = json->IsTrue("/encrypts"),
                      .memory_bytes = number("/memory_bytes"),
                      .job_memory_bytes = number("/job_memory_bytes"),
                      .job_bytes_per_s = number("/job_bytes_per_s"),
                      .host_cache_bytes = number("/host_cache_bytes"),
                      .copies = static_cast<NodeId>(number("/copies")),
                      .host_name = json->TextAt("/host_name"),
                      .launcher = json->TextAt("/launcher")};
  for (std::size_t i = 0; json->Find(fmt::format("/addresses/{}", i)) != nullptr; ++i) {
    pool.nodes.push_back({.host = json->TextAt(fmt::format("/hosts/{}", i)),
                          .address = json->TextAt(fmt::format("/addresses/{}", i)),
                          .machine = json->TextAt(fmt::format("/machines/{}", i)),
                          .process = static_cast<pid_t>(number(fmt::format("/processes/{}", i))),
                          .started = number(fmt::format("/started/{}", i))});
  }
  if (pool.protocol == 0) return no_descriptor();
  if (pool.protocol != kPoolProtocol) {
    return EnvironmentError(
        "pool '{}' is of slimgraph {}, and this is {}: stop it with that version, and start it "
        "again",
        pool.name, pool.version, SLIMGRAPH_VERSION);
  }
  if (pool.key.empty() || pool.nodes.empty() || pool.copies == 0) return no_descriptor();
  return pool;
}

std::string DescriptorText(const PoolDescriptor& pool) {
  Report report("pool");
  std::vector<std::string> hosts;
  std::vector<std::string> addresses;
  std::vector<std::string> machines;
  std::vector<std::uint64_t> processes;
  std::vector<std::uint64_t> started;
  for (const PoolNodeAddress& node : pool.nodes) {
    hosts.push_back(node.host);
    addresses.push_back(node.address);
    machines.push_back(node.machine);
    processes.push_back(static_cast<std::uint64_t>(node.process));
    started.push_back(node.started);
  }
  report.Set("/version", pool.version);
  report.Set("/protocol", pool.protocol);
  report.Set("/name", pool.name);
  report.Set("/key", pool.key);
  report.Set("/read_only", pool.read_only);
  report.Set("/transport", pool.transport);
  report.Set("/encrypts", pool.encrypts);
  report.Set("/memory_bytes", pool.memory_bytes);
  report.Set("/job_memory_bytes", pool.job_memory_bytes);
  report.Set("/job_bytes_per_s", pool.job_bytes_per_s);
  report.Set("/host_cache_bytes", pool.host_cache_bytes);
  report.Set("/copies", std::uint64_t{pool.copies});
  report.Set("/host_name", pool.host_name);
  report.Set("/launcher", pool.launcher);
  report.Set("/hosts", hosts);
  report.Set("/addresses", addresses);
  report.Set("/machines", machines);
  report.Set("/processes", processes);
  report.Set("/started", started);
  return ToJson(report) + "\n";
}

Status WriteDescriptor(const PoolDescriptor& pool) {
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  const std::string text = DescriptorText(pool);
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(DescriptorPath(folder, pool.name), 0600));
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(text))));
  return file.Commit();
}

Result<std::vector<std::string>> PoolNames() {
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  std::vector<std::string> names;
  SLIM_ASSIGN(const bool exists, Exists(folder));
  if (!exists) return names;
  SLIM_ASSIGN(const auto all, NamesIn(folder));
  for (const std::string& name : all) {
    if (!name.ends_with(kDescriptorEnd)) continue;
    names.push_back(name.substr(0, name.size() - kDescriptorEnd.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::uint64_t StartOfProcess(pid_t process) {
  // "PID (name) state …"; the name may have anything. These are places after the name.
  constexpr std::size_t kState = 0, kFlags = 6, kStart = 19;
  constexpr std::uint64_t kIsEnding = 4;  // PF_EXITING: it may have closed its sockets
  if (process <= 0) return 0;
  const auto text = ReadSmallFile(fmt::format("/proc/{}/stat", process));
  const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos || name_end + 2 > text->size()) return 0;
  const std::string rest = text->substr(name_end + 2);
  const auto words = Split(rest, ' ');
  if (words.size() <= kStart || words[kState] == "Z" || words[kState] == "X") return 0;
  const auto number = [&](std::size_t place) {
    return std::strtoull(std::string(words[place]).c_str(), nullptr, 10);
  };
  return (number(kFlags) & kIsEnding) != 0 ? 0 : number(kStart);
}

bool IsRunning(const PoolNodeAddress& node) {
  if (node.started == 0) return false;
  if (node.machine == HostIdentity()) return StartOfProcess(node.process) == node.started;
  // The machine has another identity after a restart.
  return !node.host.empty() && ConnectTo(node.address, kConnectLimit);
}

Result<PoolLock> LockPool(const std::string& name) {
  SLIM_TRY(CheckPoolName("pool", name));
  SLIM_ASSIGN(const std::string folder, MakePoolsFolder());
  const std::string path = LogPath(folder, name);
  while (true) {
    PoolLock lock;
    lock.log.Reset(files::Open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.log) return EnvironmentError("{}: cannot write: {}", path, std::strerror(errno));
    while (files::Lock(lock.log.get(), LOCK_EX) != 0) {
      if (errno != EINTR) {
        return EnvironmentError("{}: cannot be locked: {}", path, std::strerror(errno));
      }
    }
    // Somebody who has stopped the pool meanwhile has removed the file.
    struct stat here, locked;
    if (files::StatOf(path, here) == 0 && files::StatOf(lock.log.get(), locked) == 0 &&
        here.st_ino == locked.st_ino && here.st_dev == locked.st_dev) {
      return lock;
    }
  }
}

Status RemoveDescriptor(const std::string& name) {
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  SLIM_TRY(RemoveFile(DescriptorPath(folder, name)));
  SLIM_TRY(RemoveFile(LogPath(folder, name)));
  return {};
}

}  // namespace slimgraph
