// A graph that is read in pieces, by the sections of a .slim file. All code that loads a graph into
// the memory of nodes reads it through this interface. Safe to use from many threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/original_ids.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph {

enum class Direction { kOut, kIn };

class GraphSource {
 public:
  virtual ~GraphSource() = default;

  // The graph's path, for messages.
  const std::string& path() const { return path_; }
  // 0 if the graph is not a file.
  virtual std::uint64_t file_bytes() const { return 0; }
  const SlimHeader& header() const { return header_; }
  // Equal for graphs with equal contents.
  std::uint64_t identity() const { return header_.checksums_checksum; }
  VertexId vertices() const { return static_cast<VertexId>(header_.vertices); }
  std::uint64_t edges() const { return header_.edges; }  // {u,v} counts once
  std::uint64_t arcs() const { return header_.arcs; }    // entries of all lists of one direction
  bool directed() const { return (header_.flags & kSlimDirected) != 0; }
  bool may_have_self_loops() const { return (header_.flags & kSlimSelfLoops) != 0; }
  bool may_have_duplicates() const { return (header_.flags & kSlimDuplicates) != 0; }
  WeightType weight_type() const { return header_.weight_type; }

  // Whether the lists of that direction can be read. In an undirected graph both directions have
  // the same lists.
  bool has(Direction direction) const {
    return direction == Direction::kOut || !directed() || has(SectionKind::kInOffsets);
  }
  virtual bool has(SectionKind kind) const = 0;
  virtual std::uint64_t section_bytes(SectionKind kind) const = 0;

  // The section that holds the direction's offsets, neighbours or weights.
  SectionKind offsets(Direction direction) const { return Pick(direction, 0); }
  SectionKind neighbours(Direction direction) const { return Pick(direction, 1); }
  SectionKind weights(Direction direction) const { return Pick(direction, 2); }

  // Fills `into` from byte `first_byte` of the section. A large read is split over `threads`
  // threads; 0 uses every processor. Guarantees that neighbours are below vertices(), and that
  // offsets never decrease within `into` and never exceed arcs(): other values are an error.
  virtual Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                      std::size_t threads = 0) const = 0;

  template <typename T>
  Status ReadElements(SectionKind kind, std::uint64_t first, std::span<T> into,
                      std::size_t threads = 0) const {
    return Read(kind, first * sizeof(T), std::as_writable_bytes(into), threads);
  }

  virtual Result<OriginalIds> ReadOriginalIds() const = 0;

 protected:
  GraphSource() = default;
  GraphSource(const GraphSource&) = default;
  GraphSource(GraphSource&&) = default;
  GraphSource& operator=(GraphSource&&) = default;

  std::string path_;
  SlimHeader header_ = {};

 private:
  SectionKind Pick(Direction direction, std::uint32_t which) const {
    const bool in = direction == Direction::kIn && directed();
    return static_cast<SectionKind>(
        static_cast<std::uint32_t>(in ? SectionKind::kInOffsets : SectionKind::kOutOffsets) +
        which);
  }
};

}  // namespace slimgraph
