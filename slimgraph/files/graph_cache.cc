#include "slimgraph/files/graph_cache.h"

#include <xxhash.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {
namespace {

// Part of the names: conversions of other versions are not used.
constexpr int kCacheVersion = 1;

std::string HashOf(const std::string& text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

// Tells apart the states of a file.
Result<std::string> StampOf(const std::string& path) {
  struct stat info;
  if (files::StatOf(path, info) != 0) {
    return InputError("{}: cannot be looked up: {}", path, std::strerror(errno));
  }
  return fmt::format("{} {} {}.{:09}", info.st_size, info.st_ino, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

// Tells apart folders, whatever their path, and alike on all hosts that share a file system.
Result<std::string> IdOf(const std::string& folder) {
  struct stat info;
  if (files::StatOf(folder, info) != 0) {
    return InputError("{}: cannot be looked up: {}", folder, std::strerror(errno));
  }
  return fmt::format("{}", info.st_ino);
}

// The same for all files that the graph consists of.
Result<std::string> StampOfGraph(const ConvertOptions& how) {
  SLIM_ASSIGN(std::string stamp, StampOf(how.in));
  if (how.from == FileFormat::kWebGraph) {
    SLIM_ASSIGN(const std::string properties, StampOf(WebGraphPropertiesOf(how.in)));
    stamp += ' ' + properties;
  }
  return stamp;
}

// What determines the .slim file besides the contents of the graph's file.
std::string OptionsInWords(const ConvertOptions& how) {
  return fmt::format(
      "{} {} {} directed {} always {} symmetrize {} weighted {} drop {} any {} loops {} duplicates "
      "{} reverse {} "
      "order {} vertices {} {}",
      kCacheVersion, SLIMGRAPH_VERSION, FileFormatName(*how.from),
      how.directed ? static_cast<int>(*how.directed) : -1, how.always_undirected, how.symmetrize,
      how.weighted, how.drop_weights, how.weights_if_any, static_cast<int>(how.self_loops),
      static_cast<int>(how.duplicates), how.reverse_lists, static_cast<int>(how.order),
      how.vertices, how.vertex_count.value_or(0));
}

std::optional<std::string> UsersCacheFolder() {
  const char* const named = std::getenv("XDG_CACHE_HOME");
  if (named != nullptr && named[0] == '/') return std::string(named) + "/slimgraph";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return std::nullopt;
  return std::string(home) + "/.cache/slimgraph";
}

std::string PathIn(const std::string& folder, const std::string& name) {
  return folder == "." ? name : folder + "/" + name;
}

// Converts into the first of the folders that can be written.
Result<ConvertReport> ConvertInto(ConvertOptions& how, const std::vector<std::string>& folders,
                                  const std::string& name) {
  std::string all;
  for (const std::string& folder : folders) {
    if (&folder != &folders.front()) {  // the user's, which may not exist yet
      static_cast<void>(MakeFolder(FolderOf(folder)));
      static_cast<void>(MakeFolder(folder));
    }
    if (CheckWritable(folder)) {
      how.out = PathIn(folder, name);
      return Convert(how);
    }
    all += (all.empty() ? "" : " and ") + folder;
  }
  return EnvironmentError(
      "{}: it must be converted first, and {} cannot be written: `slimgraph convert` writes the "
      ".slim file anywhere",
      how.in, all);
}

// Removes conversions of earlier states of the graph. Jobs that have opened them are not disturbed.
void RemoveOlder(const std::string& path, const std::string& stem) {
  const std::string folder = FolderOf(path);
  const auto names = NamesIn(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string one = PathIn(folder, name);
    if (name.starts_with(stem) && name.ends_with(".slim") && one != path) {
      static_cast<void>(RemoveFile(one));
    }
  }
}

}  // namespace

bool IsSlimFile(const std::string& path) {
  if (path.ends_with(".slim")) return true;
  std::array<char, kSlimMagic.size()> first{};
  const auto fd = OpenForReading(path);
  const auto got =
      fd ? ReadAt(*fd, path, 0, std::as_writable_bytes(std::span(first))) : Result<std::size_t>(0);
  return got && *got == first.size() && first == kSlimMagic;
}

Result<CachedGraph> FindOrConvert(ConvertOptions how) {
  if (!how.from) {
    SLIM_ASSIGN(how.from, FileFormatOf(how.in));
  }
  SLIM_ASSIGN(const UniqueFd source, OpenForReading(how.in));
  SLIM_ASSIGN(std::string stamp, StampOfGraph(how));
  SLIM_ASSIGN(const std::string folder_id, IdOf(FolderOf(how.in)));
  const std::string base = how.in.substr(how.in.rfind('/') + 1);
  const std::string stem =
      fmt::format(".{}.{}-", base, HashOf(OptionsInWords(how) + " " + folder_id));
  std::vector<std::string> folders = {FolderOf(how.in)};
  if (const auto users = UsersCacheFolder()) folders.push_back(*users);
  const auto find = [&]() -> std::optional<CachedGraph> {
    for (const std::string& folder : folders) {
      std::string path = PathIn(folder, stem + HashOf(stamp) + ".slim");
      if (SlimFile::Open(path)) return CachedGraph{std::move(path), std::nullopt};
    }
    return std::nullopt;
  };
  if (auto found = find()) return *std::move(found);
  // Others that convert the same file have locked it. Where files cannot be locked, each converts.
  while (files::Lock(source.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  SLIM_ASSIGN(stamp, StampOfGraph(how));
  if (auto found = find()) return *std::move(found);
  SLIM_ASSIGN(auto report, ConvertInto(how, folders, stem + HashOf(stamp) + ".slim"));
  SLIM_ASSIGN(const std::string now, StampOfGraph(how));
  if (now != stamp) {
    static_cast<void>(RemoveFile(how.out));
    return EnvironmentError("{}: the file changed while it was converted", how.in);
  }
  RemoveOlder(how.out, stem);
  return CachedGraph{how.out, std::move(report)};
}

}  // namespace slimgraph
