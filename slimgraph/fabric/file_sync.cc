#include "slimgraph/fabric/file_sync.h"

#include <mutex>
#include <utility>

#include "slimgraph/base/shared_file.h"

namespace slimgraph {

FileSync::FileSync(std::shared_ptr<const SharedFile> file, std::function<void()> synced,
                   std::function<void(const Error&)> failed)
    : file_(std::move(file)),
      tell_synced_(std::move(synced)),
      tell_failed_(std::move(failed)),
      thread_([this] { SyncWhenAsked(); }) {}

std::uint64_t FileSync::Ask() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return ++asked_;
}

void FileSync::Stop() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void FileSync::SyncWhenAsked() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || asked_ > synced(); });
    if (over_) return;
    const std::uint64_t up_to = asked_;
    lock.unlock();
    if (const Status done = file_->Sync(); !done) return tell_failed_(done.error());
    synced_.store(up_to, std::memory_order_release);
    tell_synced_();
    lock.lock();
  }
}

}  // namespace slimgraph
