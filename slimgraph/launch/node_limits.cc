#include "slimgraph/launch/node_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr const char* kGroupsVariable = "SLIMGRAPH_NODE_GROUPS";
constexpr const char* kMemoryVariable = "SLIMGRAPH_NODE_MEMORY";
constexpr const char* kPrefix = "slimgraph-";
constexpr std::uint64_t kPeriodUs = 10'000;    // short, so that a share is smooth in a short run
constexpr std::uint64_t kLeastQuotaUs = 1000;  // the kernel has none shorter

// Where this process stands in a hierarchy.
struct Place {
  int version;
  std::string folder;
};

bool Lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

// This process's own group, or the top where the mount does not show it.
std::string OwnGroup(const std::string& mount, const std::string& controller) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "id:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !controllers.empty() : !Lists(controllers, controller)) continue;
    std::string group = mount + line.substr(second + 1);
    while (group.ends_with('/')) group.pop_back();
    std::error_code failed;
    if (std::filesystem::is_directory(group, failed)) return group;
  }
  return mount;
}

Result<Place> Find(const std::string& controller) {
  std::ifstream mounts("/proc/self/mounts");
  std::string unified;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, where, kind, options;
    words >> device >> where >> kind >> options;
    if (kind == "cgroup" && Lists(options, controller)) {
      return Place{1, OwnGroup(where, controller)};
    }
    if (kind == "cgroup2") unified = where;
  }
  if (unified.empty()) {
    return EnvironmentError("nodes cannot be limited here: no control groups are mounted");
  }
  return Place{2, OwnGroup(unified, "")};
}

Status Write(const std::string& path, const std::string& value) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), value.data(), value.size()) >= 0) return {};
  return EnvironmentError("nodes cannot be limited here: cannot write {} to {}: {}", value, path,
                          std::strerror(errno));
}

Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  return EnvironmentError("nodes cannot be limited here: cannot make {}: {}", path,
                          std::strerror(errno));
}

std::string NodeFolder(const std::string& folder, NodeId node) {
  return fmt::format("{}/node{}", folder, node);
}

Status Limit(const std::string& group, int version, const std::string& controller,
             const NodeLimits& limits) {
  if (controller == "memory") {
    const char* const file = version == 1 ? "/memory.limit_in_bytes" : "/memory.max";
    return Write(group + file, fmt::format("{}", limits.memory_bytes));
  }
  const std::uint64_t percent = limits.cpu_percent;
  const std::uint64_t period_us = std::max(kPeriodUs, kLeastQuotaUs * 100 / percent);
  const std::uint64_t quota_us = period_us * percent / 100;
  if (version == 2) return Write(group + "/cpu.max", fmt::format("{} {}", quota_us, period_us));
  SLIM_TRY(Write(group + "/cpu.cfs_period_us", fmt::format("{}", period_us)));
  return Write(group + "/cpu.cfs_quota_us", fmt::format("{}", quota_us));
}

// Only groups without processes go.
void Remove(const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.is_directory(failed)) ::rmdir(entry.path().c_str());
  }
  ::rmdir(folder.c_str());
}

// What launchers have left that were killed.
void RemoveStale(const std::string& parent) {
  std::error_code failed;
  std::vector<std::string> stale;
  for (const auto& entry : std::filesystem::directory_iterator(parent, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const int pid = std::atoi(name.c_str() + std::strlen(kPrefix));
    if (pid > 0 && ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0) {
      stale.push_back(entry.path().string());
    }
  }
  for (const std::string& folder : stale) Remove(folder);
}

}  // namespace

Status NodeGroups::Add(const std::string& controller, NodeId nodes, const NodeLimits& limits) {
  SLIM_ASSIGN(const Place parent, Find(controller));
  RemoveStale(parent.folder);
  const std::string folder = fmt::format("{}/{}{}", parent.folder, kPrefix, ::getpid());
  const bool known = std::find(folders_.begin(), folders_.end(), folder) != folders_.end();
  if (parent.version == 2) {
    SLIM_TRY(Write(parent.folder + "/cgroup.subtree_control", "+" + controller));
  }
  if (!known) {
    SLIM_TRY(MakeFolder(folder));
    folders_.push_back(folder);
  }
  if (parent.version == 2) SLIM_TRY(Write(folder + "/cgroup.subtree_control", "+" + controller));
  for (NodeId node = 0; node < nodes; ++node) {
    const std::string group = NodeFolder(folder, node);
    if (!known) SLIM_TRY(MakeFolder(group));
    SLIM_TRY(Limit(group, parent.version, controller, limits));
  }
  return {};
}

Result<NodeGroups> NodeGroups::Make(NodeId nodes, const NodeLimits& limits) {
  NodeGroups groups;
  groups.memory_bytes_ = limits.memory_bytes;
  if (limits.cpu_percent != 0) SLIM_TRY(groups.Add("cpu", nodes, limits));
  if (limits.memory_bytes != 0) SLIM_TRY(groups.Add("memory", nodes, limits));
  return groups;
}

NodeGroups::~NodeGroups() {
  for (const std::string& folder : folders_) Remove(folder);
}

void NodeGroups::Announce() const {
  std::string folders;
  for (const std::string& folder : folders_) folders += (folders.empty() ? "" : ":") + folder;
  ::setenv(kGroupsVariable, folders.c_str(), 1);
  ::setenv(kMemoryVariable, fmt::format("{}", memory_bytes_).c_str(), 1);
}

namespace {

// As announced.
std::vector<std::string> GroupsOf(NodeId node) {
  std::vector<std::string> groups;
  const char* const value = std::getenv(kGroupsVariable);
  std::istringstream folders(value == nullptr ? "" : value);
  for (std::string folder; std::getline(folders, folder, ':');) {
    groups.push_back(NodeFolder(folder, node));
  }
  return groups;
}

// Whether the system has ended a process of the group for its memory.
bool EndedForMemory(const std::string& group) {
  for (const char* const name : {"/memory.oom_control", "/memory.events"}) {  // of version 1, 2
    std::ifstream file(group + name);
    std::uint64_t count = 0;
    for (std::string what; file >> what >> count;) {
      if (what == "oom_kill" && count > 0) return true;
    }
  }
  return false;
}

}  // namespace

bool OfLimitedNodes() { return std::getenv(kGroupsVariable) != nullptr; }

Status EnterNodeGroups(NodeId node) {
  for (const std::string& group : GroupsOf(node)) {
    SLIM_TRY(Write(group + "/cgroup.procs", fmt::format("{}", ::getpid())));
  }
  return {};
}

std::uint64_t NodeMemoryLimit() {
  const char* const value = std::getenv(kMemoryVariable);
  return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
}

std::string CauseOfDeath(NodeId node) {
  const auto groups = GroupsOf(node);
  if (std::any_of(groups.begin(), groups.end(), EndedForMemory)) {
    return fmt::format("died: it took more than the {} that a node may hold (--node-memory)",
                       FormatBytes(NodeMemoryLimit()));
  }
  return "died: it was killed or crashed, or its host is gone";
}

}  // namespace slimgraph
