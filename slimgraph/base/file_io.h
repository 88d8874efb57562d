// File access by position. Errors name the file. Short files are errors, never crashes.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

Result<UniqueFd> OpenForReading(const std::string& path);

// The size of a regular file; anything else (a directory, a pipe) is an error.
Result<std::uint64_t> FileSize(const UniqueFd& fd, const std::string& path);

// Reads until `into` is full or the file ends; returns how much was read.
Result<std::size_t> ReadAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset,
                           MutableBytes into);

// Reads all of `into`. A file that is too short is reported as one that shrank while it was read.
Status ReadExactlyAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset,
                     MutableBytes into);

// Writes all of `bytes`.
Status WriteAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset, Bytes bytes);

// Makes what was written to `path` survive a loss of power. For a folder, this syncs the names in
// it.
Status SyncPath(const std::string& path);
// The folder that contains `path`; a trailing slash is ignored.
std::string FolderOf(const std::string& path);

// Ignores SIGXFSZ, which the system sends when a write exceeds the limit on file sizes, and which
// by default kills the process. When it is ignored, the write fails with an error code instead.
void IgnoreFileSizeSignal();

}  // namespace slimgraph
