// Writing a .slim file section by section, in any order, each as a stream. The file appears under
// its name only with Finish.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/page_buffer.h"
#include "slimgraph/graph/slim_format.h"

namespace slimgraph::internal {

class SlimWriter {
 public:
  static Result<SlimWriter> Create(const std::string& path);

  void Begin(SectionKind kind, std::uint32_t element_bytes);
  Status Append(Bytes bytes);
  Status End();

  // `header` brings the counts and flags; magic, sections and checksums are filled in here.
  // Returns the size of the file.
  Result<std::uint64_t> Finish(SlimHeader header);

 private:
  SlimWriter(AtomicFile file, PageBuffer block)
      : file_(std::move(file)), block_(std::move(block)) {}
  Status Flush();

  AtomicFile file_;
  PageBuffer block_;  // the block being filled, written when full
  std::size_t filled_ = 0;
  std::uint64_t end_ = kSlimPageBytes;
  std::vector<SlimSection> sections_;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace slimgraph::internal
