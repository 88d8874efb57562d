// Corrupts .slim files in a way that checksums do not detect: a test changes bytes, then this code
// updates the checksums.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "slimgraph/files/slim_format.h"

namespace slimgraph {

// Updates every checksum that the header's own section table leads to within the file.
inline void UpdateChecksums(std::vector<std::uint8_t>& file) {
  if (file.size() < kSlimPageBytes) return;
  const auto store = [&](std::uint64_t at, std::uint64_t value) {
    std::memcpy(file.data() + at, &value, sizeof value);
  };
  SlimHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.section_count > 0 && header.section_count <= kSectionKinds) {
    const SlimSection& table = header.sections[header.section_count - 1];
    std::uint64_t at = table.offset;
    for (std::size_t s = 0; s + 1 < header.section_count; ++s) {
      const SlimSection& section = header.sections[s];
      if (section.bytes > file.size() || section.offset > file.size()) continue;
      for (std::uint64_t begin = 0; begin < SlimPadded(section.bytes); begin += kSlimBlockBytes) {
        const std::uint64_t bytes = std::min(kSlimBlockBytes, SlimPadded(section.bytes) - begin);
        const std::uint64_t from = section.offset + begin;
        if (from + bytes > file.size() || at > file.size() || at + 8 > file.size()) break;
        store(at, XXH3_64bits(file.data() + from, bytes));
        at += 8;
      }
    }
    if (table.bytes <= file.size() && table.offset <= file.size() - SlimPadded(table.bytes) &&
        SlimPadded(table.bytes) <= file.size()) {
      header.checksums_checksum = XXH3_64bits(file.data() + table.offset, SlimPadded(table.bytes));
      std::memcpy(file.data(), &header, sizeof header);
    }
  }
  store(kSlimHeaderChecksumAt, XXH3_64bits(file.data(), kSlimHeaderChecksumAt));
}

}  // namespace slimgraph
