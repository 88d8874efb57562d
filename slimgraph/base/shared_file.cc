#include "slimgraph/base/shared_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/words.h"

namespace slimgraph {
namespace {

constexpr std::size_t kPieceBytes = 1 << 16;

// Not by truncation: writes to memory have no way to report that the disk is full.
Status FillWithZeros(const OutputFile& file, std::uint64_t bytes) {
  const std::vector<std::byte> zeros(std::min<std::uint64_t>(bytes, kPieceBytes));
  for (std::uint64_t at = 0; at < bytes; at += zeros.size()) {
    const std::uint64_t left = std::min<std::uint64_t>(zeros.size(), bytes - at);
    SLIM_TRY(file.WriteAt(at, Bytes(zeros).first(left)));
  }
  return {};
}

#ifdef SLIMGRAPH_SIM
// All nodes of a simulation share one process, and their disks are no files.
Result<std::unique_ptr<SharedMemory>> MapFile(const OutputFile& file, std::uint64_t bytes) {
  static_cast<void>(file);
  return SharedMemory::Create(bytes);
}
#else
Result<std::unique_ptr<SharedMemory>> MapFile(const OutputFile& file, std::uint64_t bytes) {
  UniqueFd fd(files::Open(file.path(), O_RDWR | O_CLOEXEC));
  if (!fd) return EnvironmentError("{}: cannot open: {}", file.path(), std::strerror(errno));
  return SharedMemory::OfFile(std::move(fd), bytes);
}
#endif

}  // namespace

Result<std::shared_ptr<SharedFile>> SharedFile::Create(const std::string& path,
                                                       std::uint64_t bytes) {
  IgnoreFileSizeSignal();
  SLIM_ASSIGN(OutputFile file, OutputFile::Open(path));
  SLIM_TRY(file.Truncate(0));
  SLIM_TRY(FillWithZeros(file, bytes));
  SLIM_TRY(file.Sync());
  SLIM_TRY(SyncPath(FolderOf(path)));
  SLIM_ASSIGN(auto memory, MapFile(file, bytes));
  return std::shared_ptr<SharedFile>(new SharedFile(std::move(file), std::move(memory)));
}

Status SharedFile::Sync() const {
#ifdef SLIMGRAPH_SIM
  std::vector<std::byte> piece(kPieceBytes);
  for (std::uint64_t at = 0; at < memory_->bytes(); at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(kPieceBytes, memory_->bytes() - at));
    LoadWords(piece.data(), memory_->base() + at, piece.size());
    SLIM_TRY(file_.WriteAt(at, piece));
  }
#endif
  return file_.Sync();
}

}  // namespace slimgraph
