// A file of batches, each whole or not there: what logs on disk are made of.
//
// A batch is a header, whose own checksum makes its length trustworthy, and words. Each is on disk
// before the next is begun, so only the last can be broken: what a broken end leaves behind the
// last whole batch is cut off by the next writer, and is not there for readers. A batch that is
// damaged with others behind it is an error.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "txnlayer/disk/mapped_file.h"

namespace slimgraph::txn {

// What a batch says of itself beside its words, at its owner's will.
using BatchLabel = std::array<std::uint64_t, 3>;

class BatchLogReader {
 public:
  struct Batch {
    BatchLabel label;
    std::uint64_t place = 0;  // in words of the file, of its first word
    std::span<const std::uint64_t> words;
  };
  // Up to the first batch that `last` is true of; without, to the end.
  static Result<BatchLogReader> Open(const std::string& path,
                                     const std::function<bool(const BatchLabel&)>& last = {});

  const std::vector<Batch>& batches() const { return batches_; }
  // Up to where it is whole, and what is broken behind that, in bytes.
  std::uint64_t whole_bytes() const { return whole_bytes_; }
  std::uint64_t broken_bytes() const { return file_.bytes().size() - whole_bytes_; }

 private:
  explicit BatchLogReader(MappedFile file) : file_(std::move(file)) {}
  Status Read(const std::string& path, const std::function<bool(const BatchLabel&)>& last);

  MappedFile file_;
  std::vector<Batch> batches_;
  std::uint64_t whole_bytes_ = 0;
};

class BatchLogWriter {
 public:
  // Cuts off what is behind `whole_bytes`. A file that is not there is made.
  static Result<BatchLogWriter> Open(const std::string& path, std::uint64_t whole_bytes);

  // The batch outlives a loss of power when it returns.
  Status Append(const BatchLabel& label, std::span<const std::uint64_t> words);
  std::uint64_t bytes() const { return end_; }

 private:
  BatchLogWriter(std::string path, UniqueFd fd, std::uint64_t end)
      : path_(std::move(path)), fd_(std::move(fd)), end_(end) {}

  std::string path_;
  UniqueFd fd_;
  std::uint64_t end_;
};

}  // namespace slimgraph::txn
