// The control groups of this process, of version 1 or 2, and their limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slimgraph {

// Parses the text of /proc/self/cgroup: the path of the process in the version 1 hierarchy that has
// `controller`; for "", its path in the version 2 hierarchy. Returns nothing if the process is not
// in it.
std::optional<std::string> ControlGroupPath(std::string_view proc_cgroup,
                                            std::string_view controller);

// "/a/b" -> "/a/b", "/a", "": the limits of all ancestors apply to a group too.
std::vector<std::string> GroupAndAncestors(std::string_view path);

// One hierarchy of control groups, and this process's group in it.
struct ControlGroup {
  int version = 2;
  std::string mount;  // the folder of the root group
  std::string path;   // of this process's own group below the mount; "" is the root group

  std::string folder() const { return mount + path; }
};

// Finds the version 1 hierarchy with `controller` if one is mounted, otherwise the version 2
// hierarchy. Returns nothing if neither is mounted. In a container whose mount does not show the
// process's own group, the root of the mount stands for that group.
std::optional<ControlGroup> FindControlGroup(std::string_view controller);

// Parses memory.max or memory.limit_in_bytes; returns nothing if the text says "no limit".
std::optional<std::uint64_t> ParseGroupLimit(std::string_view text);
// Parses a number of processors: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us with a blank
// between them.
std::optional<double> ParseGroupProcessors(std::string_view text);

struct GroupMemory {
  std::optional<std::uint64_t> limit_bytes;
  std::uint64_t used_bytes = 0;
  std::uint64_t cached_bytes = 0;  // the part of used_bytes that is cached files, which the system
                                   // can reclaim
};

// The limits of one group; empty where the group has none.
GroupMemory MemoryOfGroup(int version, const std::string& folder);
std::optional<double> ProcessorsOfGroup(int version, const std::string& folder);

}  // namespace slimgraph
