#include "txnlayer/internal/durability/commit_log.h"

#include <utility>

namespace slimgraph::txn {

CommitLog::CommitLog(Callbacks calls) : calls_(std::move(calls)), thread_([this] { Work(); }) {}

CommitLog::~CommitLog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::uint64_t CommitLog::Add(std::span<const std::uint64_t> record) {
  std::uint64_t number;
  bool first;
  {
    const std::lock_guard lock(mutex_);
    first = words_.empty();
    words_.push_back(record.size());
    words_.insert(words_.end(), record.begin(), record.end());
    number = ++added_;
  }
  if (first) changed_.notify_all();
  return number;
}

bool CommitLog::Flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t all = added_;
  changed_.wait(lock, [&] { return failed_ || durable_ >= all; });
  return !failed_;
}

void CommitLog::Stop() {
  const std::lock_guard lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

void CommitLog::Work() {
  std::vector<std::uint64_t> words;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || failed_ || !words_.empty(); });
    if (failed_ || words_.empty()) return;
    words.clear();
    words.swap(words_);
    const std::uint64_t up_to = added_;
    lock.unlock();
    const Status written = calls_.write(words, up_to - durable_);
    lock.lock();
    if (!written) {
      failed_ = true;
      changed_.notify_all();
      return calls_.fail(written.error());
    }
    durable_.store(up_to, std::memory_order_release);
    ++syncs_;
    changed_.notify_all();
    calls_.wake();
  }
}

}  // namespace slimgraph::txn
