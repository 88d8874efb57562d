// The values of a graph's vertices as a file, whose name's ending chooses the form: .csv, .npy
// (NumPy) or, for all others, text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/output/text_output.h"

namespace slimgraph {

class ValueFile {
 public:
  virtual ~ValueFile() = default;

  // "-": text on standard output. The file appears when it is complete. For .npy, the values are
  // kept in memory until then.
  static Result<std::unique_ptr<ValueFile>> Create(const std::string& path);

  // The next vertex, in the order of the file. `value` is a number in decimal digits, or Infinity.
  virtual Status Add(std::uint64_t id, std::string_view value) = 0;
  virtual Status Finish() = 0;

  // Bytes of memory that a file of so many vertices needs.
  static std::uint64_t MemoryBytes(const std::string& path, std::uint64_t vertices);
};

}  // namespace slimgraph
