// A file of batches, the format of logs on disk. Each batch is either complete or ignored.
//
// A batch is a header with a checksum of its own, so its length can be trusted, and words. Each
// batch is durable before the next one is begun, so only the last can be incomplete. Readers ignore
// an incomplete end after the last whole batch, and the next writer cuts it off. A damaged batch
// with others after it is an error.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/mapped_file.h"
#include "slimgraph/base/output_file.h"

namespace slimgraph::txn {

// Three words that the user of the log stores with each batch.
using BatchLabel = std::array<std::uint64_t, 3>;

class BatchLogReader {
 public:
  struct Batch {
    BatchLabel label;
    std::uint64_t position = 0;  // position of its first word in the file, in words
    std::span<const std::uint64_t> words;
  };
  // Reads up to the first batch for which `last` is true; without `last`, to the end.
  static Result<BatchLogReader> Open(const std::string& path,
                                     const std::function<bool(const BatchLabel&)>& last = {});

  // One whole batch that is in no file.
  static BatchLogReader OfBatch(const BatchLabel& label, std::vector<std::uint64_t> words);

  const std::vector<Batch>& batches() const { return batches_; }
  // Bytes up to the end of the last whole batch, and after it.
  std::uint64_t whole_bytes() const { return whole_bytes_; }
  std::uint64_t broken_bytes() const { return file_.bytes().size() - whole_bytes_; }

  // Makes the last whole batch durable. It may have been read from the system's cache alone: its
  // writer was killed before its sync had ended, or the sync has failed. After a failed sync the
  // system takes the batch for written, so it is written again.
  Status MakeDurable(const std::string& path) const;

 private:
  explicit BatchLogReader(MappedFile file) : file_(std::move(file)) {}
  Status Read(const std::string& path, const std::function<bool(const BatchLabel&)>& last);

  MappedFile file_;
  std::vector<std::uint64_t> own_words_;
  std::vector<Batch> batches_;
  std::uint64_t whole_bytes_ = 0;
};

class BatchLogWriter {
 public:
  // Cuts off everything after `whole_bytes`. Creates the file if there is none, and makes its name
  // durable.
  static Result<BatchLogWriter> Open(const std::string& path, std::uint64_t whole_bytes);

  // On return, the batch survives a power failure.
  Status Append(const BatchLabel& label, std::span<const std::uint64_t> words);
  std::uint64_t bytes() const { return end_; }

 private:
  BatchLogWriter(OutputFile file, std::uint64_t end) : file_(std::move(file)), end_(end) {}

  OutputFile file_;
  std::uint64_t end_;
};

}  // namespace slimgraph::txn
