// Reads a .slim graph. Open validates the header, and Read verifies the checksum of every block
// that it touches, so a truncated or damaged file is always an error. A faulty writer is possible,
// too. So Read also checks, while a block is in cache, that neighbours are vertices of the graph,
// and that offsets never decrease and stay within the lists. Safe to use from many threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph {

class SlimFile : public GraphSource {
 public:
  // Messages call the file `shown`, unless that is empty.
  static Result<SlimFile> Open(const std::string& path, const std::string& shown = {});

  std::uint64_t file_bytes() const override { return file_bytes_; }
  using GraphSource::has;
  bool has(SectionKind kind) const override { return section(kind) != nullptr; }
  std::uint64_t section_bytes(SectionKind kind) const override;

  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override;
  std::uint64_t original_id_bytes() const;  // in memory

  // Verifies the checksum of every block of the file, and checks every value as Read does.
  Status CheckAll(const ProgressHook& progress = {}) const;

 private:
  SlimFile() = default;
  Status ReadHeader();
  Status CheckSections() const;
  Status ReadChecksums();
  const SlimSection* section(SectionKind kind) const;
  Status CheckValues(SectionKind kind, std::uint64_t first_byte, Bytes values) const;
  Status CheckAcross(const SlimSection& section, std::uint64_t block) const;
  Status ReadBlock(const SlimSection& section, std::uint64_t block, std::uint64_t skip,
                   MutableBytes into) const;

  UniqueFd fd_;
  std::uint64_t file_bytes_ = 0;
  std::vector<std::uint64_t> checksums_;
  std::array<std::uint64_t, kSectionKinds> first_checksum_ = {};  // by kind
};

}  // namespace slimgraph
