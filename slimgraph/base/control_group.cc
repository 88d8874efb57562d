#include "slimgraph/base/control_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace slimgraph {
namespace {

bool ListContains(std::string_view words, std::string_view word) {
  return fmt::format(",{},", words).find(fmt::format(",{},", word)) != std::string::npos;
}

std::string TextOf(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Returns nothing if `text` does not start with a number, after blanks.
std::optional<std::uint64_t> LeadingNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() ? std::optional(number) : std::nullopt;
}

// Where the version 1 hierarchy with this controller is mounted; for "", where the version 2
// hierarchy is.
std::optional<std::string> MountOf(std::string_view controller) {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, where, kind, options;
    words >> device >> where >> kind >> options;
    if (controller.empty() ? kind == "cgroup2"
                           : kind == "cgroup" && ListContains(options, controller)) {
      return where;
    }
  }
  return std::nullopt;
}

ControlGroup OwnGroup(int version, std::string mount, std::string_view controller) {
  std::string path = ControlGroupPath(TextOf("/proc/self/cgroup"), controller).value_or("");
  while (path.ends_with('/')) path.pop_back();
  std::error_code failed;
  if (!std::filesystem::is_directory(mount + path, failed)) path.clear();
  return {version, std::move(mount), std::move(path)};
}

// The bytes of a group's memory that are cached files.
std::uint64_t CachedFiles(const std::string& stat_file) {
  std::ifstream stat(stat_file);
  std::uint64_t cached = 0;
  std::string key;
  for (std::uint64_t value = 0; stat >> key >> value;) {
    if (key == "active_file" || key == "inactive_file") cached += value;
  }
  return cached;
}

}  // namespace

std::optional<std::string> ControlGroupPath(std::string_view proc_cgroup,
                                            std::string_view controller) {
  while (!proc_cgroup.empty()) {
    const std::string_view line = proc_cgroup.substr(0, proc_cgroup.find('\n'));
    proc_cgroup.remove_prefix(std::min(line.size() + 1, proc_cgroup.size()));
    // The line has the form number:controller,controller:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : ListContains(names, controller)) {
      return std::string(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

std::vector<std::string> GroupAndAncestors(std::string_view path) {
  std::vector<std::string> groups;
  while (!path.empty() && path != "/") {
    groups.emplace_back(path);
    const std::size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  groups.emplace_back();
  return groups;
}

std::optional<ControlGroup> FindControlGroup(std::string_view controller) {
  if (!controller.empty()) {
    if (auto mount = MountOf(controller)) return OwnGroup(1, *std::move(mount), controller);
  }
  if (auto mount = MountOf("")) return OwnGroup(2, *std::move(mount), "");
  return std::nullopt;
}

std::optional<std::uint64_t> ParseGroupLimit(std::string_view text) {
  const auto bytes = LeadingNumber(text);
  // In version 1, a number of pages close to the largest integer means "no limit".
  constexpr std::uint64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 2;
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

std::optional<double> ParseGroupProcessors(std::string_view text) {
  // "max", and "-1" in version 1, mean that there is no quota.
  const auto quota = LeadingNumber(text);
  const std::size_t blank = text.find(' ');
  if (!quota || blank == std::string_view::npos) return std::nullopt;
  const auto period = LeadingNumber(text.substr(blank));
  if (!period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

GroupMemory MemoryOfGroup(int version, const std::string& folder) {
  const bool unified = version == 2;
  const char* const limit = unified ? "/memory.max" : "/memory.limit_in_bytes";
  const char* const used = unified ? "/memory.current" : "/memory.usage_in_bytes";
  GroupMemory memory;
  memory.limit_bytes = ParseGroupLimit(TextOf(folder + limit));
  if (!memory.limit_bytes) return memory;
  memory.used_bytes = ParseGroupLimit(TextOf(folder + used)).value_or(0);
  memory.cached_bytes = std::min(memory.used_bytes, CachedFiles(folder + "/memory.stat"));
  return memory;
}

std::optional<double> ProcessorsOfGroup(int version, const std::string& folder) {
  if (version == 2) return ParseGroupProcessors(TextOf(folder + "/cpu.max"));
  return ParseGroupProcessors(TextOf(folder + "/cpu.cfs_quota_us") + " " +
                              TextOf(folder + "/cpu.cfs_period_us"));
}

}  // namespace slimgraph
