// The log of updates since a store's base, in batches (batch_log.h).
#pragma once

#include <string>
#include <vector>

#include "txnlayer/disk/batch_log.h"
#include "txnlayer/graph_model/update.h"

namespace slimgraph::txn {

// Where a batch comes from: a file, identified by a hash of its contents, and how many of its lines
// were applied with this batch.
struct Progress {
  std::uint64_t identity = 0;
  std::uint64_t lines = 0;
};

struct Batch {
  GraphTime time = 0;
  Progress progress;
  std::uint64_t position = 0;  // position of its first update in the log, in words
  std::span<const std::uint64_t> words;
};

class UpdateLogReader {
 public:
  static Result<UpdateLogReader> Open(const std::string& path);

  const std::vector<Batch>& batches() const { return batches_; }
  // Bytes up to the end of the last whole batch.
  std::uint64_t whole_bytes() const { return log_.whole_bytes(); }
  Status MakeDurable(const std::string& path) const { return log_.MakeDurable(path); }

 private:
  explicit UpdateLogReader(BatchLogReader log);

  BatchLogReader log_;
  std::vector<Batch> batches_;
};

class UpdateLogWriter {
 public:
  // Cuts off everything after `whole_bytes`. Creates the file if there is none.
  static Result<UpdateLogWriter> Open(const std::string& path, std::uint64_t whole_bytes) {
    SLIM_ASSIGN(BatchLogWriter log, BatchLogWriter::Open(path, whole_bytes));
    return UpdateLogWriter(std::move(log));
  }

  // On return, the batch survives a power failure.
  Status Append(GraphTime time, const Progress& progress, std::span<const std::uint64_t> words) {
    return log_.Append({time, progress.identity, progress.lines}, words);
  }
  std::uint64_t bytes() const { return log_.bytes(); }

 private:
  explicit UpdateLogWriter(BatchLogWriter log) : log_(std::move(log)) {}

  BatchLogWriter log_;
};

}  // namespace slimgraph::txn
