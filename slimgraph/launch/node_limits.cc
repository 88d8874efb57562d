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
#include <iterator>
#include <set>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/control_group.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr const char* kGroupsVariable = "SLIMGRAPH_NODE_GROUPS";
constexpr const char* kPrefix = "slimgraph-";
constexpr std::uint64_t kPeriodUs = 10'000;    // short, so that the limit is even in a short run
constexpr std::uint64_t kLeastQuotaUs = 1000;  // the kernel accepts no shorter quota

// The words of a control group file; empty if it cannot be read.
std::set<std::string> WordsIn(const std::string& path) {
  std::ifstream file(path);
  return {std::istream_iterator<std::string>(file), std::istream_iterator<std::string>()};
}

// Finds the group under which the nodes' groups for `controller` are made. `wanted` lists all
// controllers that the job limits.
Result<ControlGroup> FindParent(const std::string& controller, std::vector<std::string> wanted) {
  auto own = FindControlGroup(controller);
  if (!own) return EnvironmentError("nodes cannot be limited here: no control groups are mounted");
  if (own->version == 1) return *std::move(own);
  std::erase_if(wanted, [](const std::string& one) { return FindControlGroup(one)->version == 1; });
  SLIM_ASSIGN(const std::string parent, ParentOfLimitedGroups(own->mount, own->folder(), wanted));
  own->path = parent.substr(own->mount.size());
  return *std::move(own);
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

// rmdir removes a group only if it has no processes.
void Remove(const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.is_directory(failed)) ::rmdir(entry.path().c_str());
  }
  ::rmdir(folder.c_str());
}

// Removes the groups of launchers that were killed.
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

// The "no internal processes" rule: a group with processes of its own, such as the session of the
// user's shell, cannot limit its child groups. Only the root group is exempt.
Result<std::string> ParentOfLimitedGroups(const std::string& mount, const std::string& own,
                                          const std::vector<std::string>& controllers) {
  std::string reasons;
  for (std::string group = own;; group.erase(group.rfind('/'))) {
    const std::set<std::string> available = WordsIn(group + "/cgroup.controllers");
    const auto missing = std::find_if(
        controllers.begin(), controllers.end(),
        [&](const std::string& controller) { return !available.contains(controller); });
    const bool top = ::access((group + "/cgroup.type").c_str(), F_OK) != 0;
    std::string reason;
    if (missing != controllers.end()) {
      reason = "is not given the controller " + *missing;
    } else if (!top && !WordsIn(group + "/cgroup.procs").empty()) {
      reason = "has processes of its own";
    } else if (::access(group.c_str(), W_OK) != 0) {
      reason = "may not be changed by this user";
    } else {
      return group;
    }
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", group, reason);
    if (group == mount || !group.starts_with(mount + "/")) break;
  }
  return EnvironmentError(
      "nodes cannot be limited here: {}; start slimgraph as root, or by systemd-run --user --scope",
      reasons);
}

Status NodeGroups::Add(const std::string& controller, NodeId nodes, const NodeLimits& limits) {
  std::vector<std::string> wanted;
  if (limits.cpu_percent != 0) wanted.emplace_back("cpu");
  if (limits.memory_bytes != 0) wanted.emplace_back("memory");
  SLIM_ASSIGN(const ControlGroup parent, FindParent(controller, wanted));
  RemoveStale(parent.folder());
  const std::string folder = fmt::format("{}/{}{}", parent.folder(), kPrefix, ::getpid());
  const bool known = std::find(folders_.begin(), folders_.end(), folder) != folders_.end();
  const std::string passed_on = parent.folder() + "/cgroup.subtree_control";
  if (parent.version == 2 && !WordsIn(passed_on).contains(controller)) {
    SLIM_TRY(Write(passed_on, "+" + controller));
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
  AnnounceNodeMemoryLimit(memory_bytes_);
}

namespace {

// The control groups of this node, as the launcher announced them.
std::vector<std::string> GroupsOf(NodeId node) {
  std::vector<std::string> groups;
  const char* const value = std::getenv(kGroupsVariable);
  for (const std::string_view folder : Split(value == nullptr ? "" : value, ':')) {
    groups.push_back(NodeFolder(std::string(folder), node));
  }
  return groups;
}

// Whether the system has killed a process of the group for its memory use.
bool EndedForMemory(const std::string& group) {
  for (const char* const name : {"/memory.oom_control", "/memory.events"}) {  // version 1, version
                                                                              // 2
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

std::string CauseOfDeath(NodeId node) {
  const auto groups = GroupsOf(node);
  if (std::any_of(groups.begin(), groups.end(), EndedForMemory)) {
    return fmt::format("died: it took more than the {} that a node may hold (--node-memory)",
                       FormatBytes(NodeMemoryLimit()));
  }
  return "died: it was killed or crashed, or its host is gone";
}

}  // namespace slimgraph
