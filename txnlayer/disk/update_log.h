// The updates since a store's base: batches, each whole or not there, one after the other in a
// file.
//
// A batch is a header, whose own checksum makes its length trustworthy, and words of updates. What
// a broken end leaves behind the last whole batch is cut off by the next writer, and is not there
// for readers; a batch that is damaged with others behind it is an error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "txnlayer/disk/mapped_file.h"
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
  std::uint64_t whole_bytes() const { return whole_bytes_; }

 private:
  explicit UpdateLogReader(MappedFile file) : file_(std::move(file)) {}
  Status Read(const std::string& path);

  MappedFile file_;
  std::vector<Batch> batches_;
  std::uint64_t whole_bytes_ = 0;
};

class UpdateLogWriter {
 public:
  // Cuts off what is behind `whole_bytes`. A file that is not there is made.
  static Result<UpdateLogWriter> Open(const std::string& path, std::uint64_t whole_bytes);

  // The batch outlives a loss of power when it returns.
  Status Append(GraphTime time, const Progress& progress, std::span<const std::uint64_t> words);
  std::uint64_t bytes() const { return end_; }

 private:
  UpdateLogWriter(std::string path, UniqueFd fd, std::uint64_t end)
      : path_(std::move(path)), fd_(std::move(fd)), end_(end) {}

  std::string path_;
  UniqueFd fd_;
  std::uint64_t end_;
};

}  // namespace slimgraph::txn
