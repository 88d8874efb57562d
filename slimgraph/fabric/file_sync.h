// Syncs a file whose memory other nodes write to. One sync serves all who have asked before it
// began.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

class SharedFile;

// What makes writes into the memory of a file durable.
enum class FlushBy : std::uint8_t {
  kHome,  // the node that has the file syncs it
  // A read behind the write. That suffices on persistent memory, if the processor's caches survive
  // a loss of power as well. On other memory, writes survive all processes, but not the system.
  kRead,
};

class FileSync {
 public:
  // Both are called on another thread. `synced`: after each sync. `failed`: when a sync has failed;
  // no other follows.
  FileSync(std::shared_ptr<const SharedFile> file, std::function<void()> synced,
           std::function<void(const Error&)> failed);
  ~FileSync() { Stop(); }
  FileSync(const FileSync&) = delete;
  FileSync& operator=(const FileSync&) = delete;

  // What is written by now is durable when synced() reaches the returned number.
  std::uint64_t Ask();
  std::uint64_t synced() const { return synced_.load(std::memory_order_acquire); }

  // Once it returns, nothing is called any more, and nothing is synced.
  void Stop();

 private:
  void SyncWhenAsked();

  const std::shared_ptr<const SharedFile> file_;
  const std::function<void()> tell_synced_;
  const std::function<void(const Error&)> tell_failed_;
  Mutex mutex_;
  Condition changed_;
  std::uint64_t asked_ = 0;
  bool over_ = false;
  std::atomic<std::uint64_t> synced_{0};
  Thread thread_;
};

}  // namespace slimgraph
