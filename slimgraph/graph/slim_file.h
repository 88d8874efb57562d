// Reading a .slim graph: Open validates the header, Read verifies the checksum of every block that
// it touches, so a truncated or damaged file is an error and never a graph. Safe to use from many
// threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/slim_format.h"

namespace slimgraph {

class SlimFile : public GraphSource {
 public:
  static Result<SlimFile> Open(const std::string& path);

  std::uint64_t file_bytes() const override { return file_bytes_; }
  using GraphSource::has;
  bool has(SectionKind kind) const override { return section(kind) != nullptr; }
  std::uint64_t section_bytes(SectionKind kind) const override;

  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override;

  // Every byte of the file against its checksum.
  Status CheckAll(const ProgressHook& progress = {}) const;

 private:
  SlimFile() = default;
  Status ReadHeader();
  Status CheckSections() const;
  Status ReadChecksums();
  const SlimSection* section(SectionKind kind) const;
  Status ReadBlock(const SlimSection& section, std::uint64_t block, std::uint64_t skip,
                   MutableBytes into) const;

  UniqueFd fd_;
  std::uint64_t file_bytes_ = 0;
  std::vector<std::uint64_t> checksums_;
  std::array<std::uint64_t, kSectionKinds> first_checksum_ = {};  // by kind
};

}  // namespace slimgraph
