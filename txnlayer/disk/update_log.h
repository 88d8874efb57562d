// The updates since a store's base: batches of them in a log (batch_log.h).
#pragma once

#include <string>
#include <vector>

#include "txnlayer/disk/batch_log.h"
#include "txnlayer/disk/update.h"

namespace slimgraph::txn {

// Where a batch comes from: so many lines of a file had been applied with it.
struct Progress {
  std::uint64_t identity = 0;
  std::uint64_t lines = 0;
};

struct Batch {
  GraphTime time = 0;
  Progress progress;
  std::uint64_t place = 0;  // in words of the log, of its first update
  std::span<const std::uint64_t> words;
};

class UpdateLogReader {
 public:
  static Result<UpdateLogReader> Open(const std::string& path);

  const std::vector<Batch>& batches() const { return batches_; }
  // Up to where it is whole, in bytes.
  std::uint64_t whole_bytes() const { return log_.whole_bytes(); }

 private:
  explicit UpdateLogReader(BatchLogReader log);

  BatchLogReader log_;
  std::vector<Batch> batches_;
};

class UpdateLogWriter {
 public:
  // Cuts off what is behind `whole_bytes`. A file that is not there is made.
  static Result<UpdateLogWriter> Open(const std::string& path, std::uint64_t whole_bytes) {
    SLIM_ASSIGN(BatchLogWriter log, BatchLogWriter::Open(path, whole_bytes));
    return UpdateLogWriter(std::move(log));
  }

  // The batch outlives a loss of power when it returns.
  Status Append(GraphTime time, const Progress& progress, std::span<const std::uint64_t> words) {
    return log_.Append({time, progress.identity, progress.lines}, words);
  }
  std::uint64_t bytes() const { return log_.bytes(); }

 private:
  explicit UpdateLogWriter(BatchLogWriter log) : log_(std::move(log)) {}

  BatchLogWriter log_;
};

}  // namespace slimgraph::txn
