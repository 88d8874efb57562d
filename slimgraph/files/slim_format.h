// The .slim file, byte by byte: a graph as sorted adjacency lists, independent of the number of
// nodes. slim_file.h reads it, internal/slim_writer.h writes it; nothing else knows the layout.
//
//   page 0    SlimHeader, then zeros, then at byte 4088 the XXH3-64 checksum of bytes 0..4087
//   sections  each starts on a page and is padded with zeros to a whole page; in any order, without
//             gaps; the last section is kChecksums, and the file ends with it
//
// Every section except kChecksums is cut, padding included, into blocks of 1 MiB (the last may be
// shorter). kChecksums holds the XXH3-64 of each block, section after section in the order of the
// header's table; the header holds the checksum of the padded kChecksums itself. So checksums cover
// every byte of the file, and a node that reads a part verifies exactly the blocks that it reads.
//
//   section          elements      contents
//   kOutOffsets      u64, V+1      where each vertex's list begins; the last is the count of arcs
//   kOutNeighbours   u32, arcs     dense ids, ascending within a list (equal only if duplicates
//                                  were kept)
//   kOutWeights      weight, arcs  parallel to the neighbours; only if there are weights
//   kIn…                           the same for incoming edges; optional, only in directed graphs
//   kOriginalIds     u64, V        only if they are not first_original_id + 0, 1, 2 …; ascending
//                                  in version 1, in any order and all different in version 2
//
// In an undirected graph an edge {u,v} is in the lists of u and of v; a self-loop is stored once.
// A file has version 2 only if its original ids do not ascend, so older programs read all others.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "slimgraph/files/weights.h"

namespace slimgraph {

constexpr std::array<char, 8> kSlimMagic = {'S', 'L', 'I', 'M', 'G', 'R', 'P', 'H'};
constexpr std::uint32_t kSlimVersion = 1;
constexpr std::uint32_t kSlimAnyOrderVersion = 2;
constexpr std::uint32_t kSlimByteOrder = 0x01020304;  // stored in the writer's byte order
constexpr std::uint64_t kSlimPageBytes = 4096;
constexpr std::uint64_t kSlimBlockBytes = 1 << 20;
constexpr std::uint64_t kSlimHeaderChecksumAt = kSlimPageBytes - sizeof(std::uint64_t);
constexpr std::uint64_t kMaxVertices = 0xFFFFFFFF;  // 2^32 - 1, so that a count fits a VertexId
constexpr std::uint64_t kMaxArcs = std::uint64_t{1} << 56;

enum class SectionKind : std::uint32_t {
  kNone = 0,
  kOutOffsets = 1,
  kOutNeighbours = 2,
  kOutWeights = 3,
  kInOffsets = 4,
  kInNeighbours = 5,
  kInWeights = 6,
  kOriginalIds = 7,
  kChecksums = 8,
};
constexpr std::size_t kSectionKinds = 9;

struct SlimSection {
  SectionKind kind;
  std::uint32_t element_bytes;
  std::uint64_t offset;  // in the file
  std::uint64_t bytes;   // without the padding
};

enum SlimFlags : std::uint32_t { kSlimDirected = 1, kSlimSelfLoops = 2, kSlimDuplicates = 4 };

struct SlimHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t flags;
  WeightType weight_type;
  std::uint64_t vertices;
  std::uint64_t edges;  // an undirected edge {u,v} counts once
  std::uint64_t arcs;   // entries of kOutNeighbours
  std::uint64_t first_original_id;
  std::uint64_t checksums_checksum;
  std::uint64_t section_count;
  std::array<SlimSection, kSectionKinds> sections;
};
static_assert(std::is_trivially_copyable_v<SlimHeader>);
static_assert(sizeof(SlimHeader) == 72 + 24 * kSectionKinds);
static_assert(sizeof(SlimHeader) <= kSlimHeaderChecksumAt);

constexpr std::uint64_t SlimPadded(std::uint64_t bytes) {
  return (bytes + kSlimPageBytes - 1) / kSlimPageBytes * kSlimPageBytes;
}
constexpr std::uint64_t SlimBlocks(std::uint64_t bytes) {
  return (SlimPadded(bytes) + kSlimBlockBytes - 1) / kSlimBlockBytes;
}

}  // namespace slimgraph
