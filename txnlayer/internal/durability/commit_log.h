// A node's log of commits, with group commit: threads add records without waiting, and the log's
// thread writes and syncs all records that arrived meanwhile. So many transactions share a sync.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "slimgraph/base/sync.h"
#include "txnlayer/disk/batch_log.h"

namespace slimgraph::txn {

class CommitLog {
 public:
  struct Callbacks {  // made by the log's thread
    // Makes records durable. Each is preceded by its length.
    std::function<Status(std::span<const std::uint64_t> words, std::uint64_t records)> write;
    std::function<void()> wake;  // more records are durable
    // Writing has failed, and nothing more becomes durable. Transactions that wait for their
    // records keep waiting until the job ends. (If they released their locks, others could
    // overwrite writes that the disk may have in part.)
    std::function<void(const Error&)> fail;
  };
  explicit CommitLog(Callbacks calls);
  // Writes the remaining records.
  ~CommitLog();

  // Thread-safe. The record is durable when durable() reaches the returned number.
  std::uint64_t Add(std::span<const std::uint64_t> record);
  std::uint64_t durable() const { return durable_.load(std::memory_order_acquire); }
  // Blocks until all added records are durable. False: they never will be.
  bool Flush();
  // Nothing more becomes durable, as if writing had failed. The caller ends the job.
  void Stop();

  std::uint64_t syncs() const { return syncs_; }

 private:
  void Work();

  const Callbacks calls_;
  Mutex mutex_;
  Condition changed_;
  std::vector<std::uint64_t> words_;  // of records that are not being written yet
  std::uint64_t added_ = 0;           // number of records
  bool over_ = false;
  bool failed_ = false;
  std::atomic<std::uint64_t> durable_{0};  // number of records
  std::atomic<std::uint64_t> syncs_{0};
  Thread thread_;
};

}  // namespace slimgraph::txn
