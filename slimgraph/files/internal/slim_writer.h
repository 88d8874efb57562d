// Writes a .slim file section by section, in any order, each as a stream. The file appears under
// its name only after Finish.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/page_buffer.h"
#include "slimgraph/files/original_ids.h"
#include "slimgraph/files/ranked_sections.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph::internal {

class SlimWriter {
 public:
  static Result<SlimWriter> Create(const std::string& path);

  void Begin(SectionKind kind, std::uint32_t element_bytes);
  Status Append(Bytes bytes);
  Status End();

  // Writes the section of the original ids, if the file needs one.
  Status AppendIds(const OriginalIds& ids);

  // Of an undirected graph.
  Status AppendRanked(const RankedSections& ranked);

  // The caller sets the counts and flags of `header`; the rest is filled in: magic, version,
  // sections and checksums. Finish() returns the size of the file.
  Result<std::uint64_t> Finish(SlimHeader header, Outlives outlives = Outlives::kProcessEnd);
  // The file as it would be if it ended here, to read what was written. Further sections may
  // follow; then what was opened must not be read any more. Messages call the file `shown`.
  Result<SlimFile> Reread(SlimHeader header, const std::string& shown);

 private:
  SlimWriter(AtomicFile file, PageBuffer block)
      : file_(std::move(file)), block_(std::move(block)) {}
  Status Flush();
  Status WriteSection(SectionKind kind, std::uint32_t element_bytes, Bytes bytes);
  // Writes the checksums behind the last section, and the header. Returns the size of the file.
  Result<std::uint64_t> WriteEnds(SlimHeader header);

  AtomicFile file_;
  PageBuffer block_;  // the block being filled, written when full
  std::size_t filled_ = 0;
  std::uint64_t end_ = kSlimPageBytes;
  std::uint32_t version_ = kSlimVersion;
  std::vector<SlimSection> sections_;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace slimgraph::internal
