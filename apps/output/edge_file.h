// A whole number for each edge of a graph as a file, whose name's ending chooses the form: .csv,
// .npy (NumPy) or, for all others, text.
#pragma once

#include <cstdint>
#include <string>

#include "apps/output/text_output.h"

namespace slimgraph {

class EdgeFile {
 public:
  // "-": text on standard output. The file appears when it is complete.
  static Result<EdgeFile> Create(const std::string& path);

  // Before the first edge: how many there are.
  Status Begin(std::uint64_t edges, const char* value_name);
  Status Add(std::uint64_t a, std::uint64_t b, std::uint64_t value);
  Status Finish();

  // Bytes of memory that it takes.
  static constexpr std::uint64_t kMemoryBytes = 1 << 20;

 private:
  enum class Form { kText, kCsv, kNumpy };
  EdgeFile(TextOutput output, Form form) : output_(std::move(output)), form_(form) {}
  Status Write();

  TextOutput output_;
  Form form_;
  std::string text_;
};

}  // namespace slimgraph
