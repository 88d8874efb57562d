#include "slimgraph/files/internal/parse_chunks.h"

#include <atomic>
#include <mutex>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/sync.h"

namespace slimgraph::internal {

Result<std::vector<EdgeBlock>> ParseChunks(LineChunks& chunks, std::size_t threads,
                                           const ChunkParser& parse) {
  constexpr std::uint64_t kChunksPerCheck = 64;  // check the memory once per 64 chunks
  constexpr std::uint64_t kReading = std::numeric_limits<std::uint64_t>::max();
  Mutex mutex;
  std::vector<EdgeBlock> blocks;
  std::atomic<bool> failed = false;
  std::uint64_t failed_chunk = kReading;
  Status failure;
  const auto fail = [&](std::uint64_t chunk, Error error) {
    const std::lock_guard lock(mutex);
    failed = true;
    const bool first_of_reading = failure && chunk == kReading;
    if (!first_of_reading && chunk >= failed_chunk) return;
    failed_chunk = chunk;
    failure = tl::unexpected(std::move(error));
  };
  const auto work = [&](std::size_t) -> Status {
    LineChunk chunk;
    while (!failed) {
      const Result<bool> more = chunks.NextChunk(chunk);
      if (!more) fail(kReading, more.error());
      if (!more || !*more) break;
      if (chunk.index % kChunksPerCheck == 0) {  // edges take at most twice the bytes of their text
        const Status room = CheckMemory(2 * kChunksPerCheck * LineChunks::kChunkBytes,
                                        fmt::format("reading {}", chunks.name()));
        if (!room) {
          fail(chunk.index, room.error());
          break;
        }
      }
      Result<EdgeBlock> block = parse(chunk);
      if (!block) {
        fail(chunk.index, std::move(block).error());
        break;
      }
      const std::lock_guard lock(mutex);
      if (blocks.size() <= chunk.index) blocks.resize(chunk.index + 1);
      blocks[chunk.index] = *std::move(block);
    }
    return {};
  };
  // The caller parses the first chunk. A small input has no other, so it starts no threads.
  LineChunk first;
  SLIM_ASSIGN(const bool any, chunks.NextChunk(first));
  if (any) {
    SLIM_ASSIGN(EdgeBlock block, parse(first));
    blocks.resize(first.index + 1);
    blocks[first.index] = std::move(block);
  }
  SLIM_TRY(RunOnThreads(chunks.at_end() ? 1 : threads, work));
  SLIM_TRY(std::move(failure));
  return blocks;
}

}  // namespace slimgraph::internal
