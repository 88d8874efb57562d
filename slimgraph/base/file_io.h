// Files by position, with errors that name the file. Short files are errors, never crashes.
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

// Reads all of `into`; a file that ends earlier has shrunk under us.
Status ReadExactlyAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset,
                     MutableBytes into);

// Writes all of `bytes`.
Status WriteAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset, Bytes bytes);

// Past a limit on file sizes the system sends SIGXFSZ, which ends a process that has not said
// otherwise; ignored, the write fails with a reason that can be told.
void FailWritesInsteadOfDying();

}  // namespace slimgraph
