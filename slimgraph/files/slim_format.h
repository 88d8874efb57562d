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
//   kOriginalIds     u64, V        only if they are not first_original_id + 0, 1, 2 …; ascending,
//                                  or in any order and all different (see the versions below)
//   kRanks           u32, V        by rank: the dense id of the vertex. These three are optional,
//                                  and only in undirected graphs: lists for pattern mining
//   kRankedLengths   2 u32, V      by rank: a RankedLength
//   kRankedLists     bytes         the coded lists; see below
//
// In an undirected graph an edge {u,v} is in the lists of u and of v; a self-loop is stored once.
//
// A rank is a vertex's position in an order, which may be any. The ranked list of a vertex has the
// ranks of its neighbours, ascending, without itself and without duplicates, in the code of
// remote/list_code.h for ids below V. The lists stand in the order of their strata. The stratum of
// a rank is its last six bits in reverse order; lists of one stratum stand by rank. So the lists of
// all ranks that leave the same remainder when divided by 2, 4, 8 … 64 stand together.
//
// The version is 1, plus 1 if original ids do not ascend, plus 2 if there are ranked lists. So
// older programs read whatever they understand, and refuse the rest.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "slimgraph/base/types.h"
#include "slimgraph/files/weights.h"

namespace slimgraph {

constexpr std::array<char, 8> kSlimMagic = {'S', 'L', 'I', 'M', 'G', 'R', 'P', 'H'};
constexpr std::uint32_t kSlimVersion = 1;
constexpr std::uint32_t kSlimAnyOrder = 1;  // these are added to the version
constexpr std::uint32_t kSlimRanked = 2;
constexpr std::uint32_t kSlimLastVersion = kSlimVersion + kSlimAnyOrder + kSlimRanked;
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
  kRanks = 9,
  kRankedLengths = 10,
  kRankedLists = 11,
};
constexpr std::size_t kSectionKinds = 12;

struct RankedLength {
  std::uint32_t all;    // the vertices in the list
  std::uint32_t above;  // how many of them have a higher rank than its vertex
};

// The number of strata; the stratum of a rank.
constexpr VertexId kStrata = 64;
constexpr VertexId StratumOf(VertexId rank) {
  VertexId stratum = 0;
  for (VertexId bit = 1; bit < kStrata; bit *= 2) {
    stratum = 2 * stratum + ((rank & bit) != 0 ? 1 : 0);
  }
  return stratum;
}

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

  bool ids_ascend() const { return ((version - kSlimVersion) & kSlimAnyOrder) == 0; }
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
