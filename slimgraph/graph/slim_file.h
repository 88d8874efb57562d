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
#include "slimgraph/graph/original_ids.h"
#include "slimgraph/graph/slim_format.h"

namespace slimgraph {

enum class Direction { kOut, kIn };

class SlimFile {
 public:
  static Result<SlimFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  // The same for files of the same contents.
  std::uint64_t identity() const { return header_.checksums_checksum; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  VertexId vertices() const { return static_cast<VertexId>(header_.vertices); }
  std::uint64_t edges() const { return header_.edges; }  // {u,v} counts once
  std::uint64_t arcs() const { return header_.arcs; }    // entries of all lists of one direction
  bool directed() const { return (header_.flags & kSlimDirected) != 0; }
  bool may_have_self_loops() const { return (header_.flags & kSlimSelfLoops) != 0; }
  bool may_have_duplicates() const { return (header_.flags & kSlimDuplicates) != 0; }
  WeightType weight_type() const { return header_.weight_type; }

  // Whether the lists of that direction can be read. An undirected graph's are the same both ways.
  bool has(Direction direction) const;
  bool has(SectionKind kind) const { return section(kind) != nullptr; }
  std::uint64_t section_bytes(SectionKind kind) const;

  // The section that holds the direction's offsets, neighbours or weights in this file.
  SectionKind offsets(Direction direction) const { return Pick(direction, 0); }
  SectionKind neighbours(Direction direction) const { return Pick(direction, 1); }
  SectionKind weights(Direction direction) const { return Pick(direction, 2); }

  // Fills `into` from byte `first_byte` of the section; `threads` share a large read, 0: all there
  // are.
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const;

  template <typename T>
  Status ReadElements(SectionKind kind, std::uint64_t first, std::span<T> into,
                      std::size_t threads = 0) const {
    return Read(kind, first * sizeof(T), std::as_writable_bytes(into), threads);
  }

  Result<OriginalIds> ReadOriginalIds() const;

  // Every byte of the file against its checksum.
  Status CheckAll(const ProgressHook& progress = {}) const;

 private:
  SlimFile() = default;
  Status ReadHeader();
  Status CheckSections() const;
  Status ReadChecksums();
  const SlimSection* section(SectionKind kind) const;
  SectionKind Pick(Direction direction, std::uint32_t which) const;
  Status ReadBlock(const SlimSection& section, std::uint64_t block, std::uint64_t skip,
                   MutableBytes into) const;

  std::string path_;
  UniqueFd fd_;
  std::uint64_t file_bytes_ = 0;
  SlimHeader header_ = {};
  std::vector<std::uint64_t> checksums_;
  std::array<std::uint64_t, kSectionKinds> first_checksum_ = {};  // by kind
};

}  // namespace slimgraph
