// Files and folders by name: what exists, and making, renaming, locking and removing it. Contents:
// file_io.h reads and writes by position, output_file.h stays open for writing, atomic_file.h
// writes a file that appears when it is complete, and mapped_file.h maps one into memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// An error if the system cannot tell.
Result<bool> Exists(const std::string& path);
Result<bool> IsFolder(const std::string& path);
// Whether this process may create files in the folder.
Status CheckWritable(const std::string& folder);

// False: the folder exists already.
Result<bool> MakeFolder(const std::string& path);
// All names in a folder except "." and "..".
Result<std::vector<std::string>> NamesIn(const std::string& folder);

Status Rename(const std::string& from, const std::string& to);
// False: there is no such file.
Result<bool> RemoveFile(const std::string& path);
// Removes an empty folder.
Status RemoveFolder(const std::string& path);

enum class LockKind { kShared, kExclusive };
// Locks a folder until the descriptor is closed. Waits up to a second for another process's lock,
// because the processes of a killed job end a moment after it. Nothing: another process still holds
// a lock that excludes this one.
Result<std::optional<UniqueFd>> LockFolder(const std::string& path, LockKind kind);

}  // namespace slimgraph
