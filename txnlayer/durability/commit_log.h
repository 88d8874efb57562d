// A node's log of commits: threads add records, and a thread of the log writes and syncs all that
// have come meanwhile, so that many transactions share a sync, and whoever adds never waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "txnlayer/disk/batch_log.h"

namespace slimgraph::txn {

class CommitLog {
 public:
  struct Calls {  // of the log's thread
    // Makes records durable, each of which is behind its length.
    std::function<Status(std::span<const std::uint64_t> words, std::uint64_t records)> write;
    std::function<void()> wake;  // more is durable
    // It has failed, and nothing more ever is: whoever waits, waits for the job's end. (Had he gone
    // on, and let go of his locks, what the disk has of him might be half overwritten by others.)
    std::function<void(const Error&)> fail;
  };
  explicit CommitLog(Calls calls);
  // Writes what is left.
  ~CommitLog();

  // The record is durable when durable() has come to what is returned. From any thread.
  std::uint64_t Add(std::span<const std::uint64_t> record);
  std::uint64_t durable() const { return durable_.load(std::memory_order_acquire); }
  // Blocks until all that was added is durable; false when it never will be.
  bool Flush();

  std::uint64_t syncs() const { return syncs_; }

 private:
  void Work();

  const Calls calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> words_;  // of records that nobody writes yet
  std::uint64_t added_ = 0;           // records
  bool over_ = false;
  bool failed_ = false;
  std::atomic<std::uint64_t> durable_{0};  // records
  std::atomic<std::uint64_t> syncs_{0};
  std::thread thread_;
};

}  // namespace slimgraph::txn
