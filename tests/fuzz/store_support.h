// Shared by the fuzzers of stores and logs.
#pragma once

#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/check.h"

namespace slimgraph::fuzz {

// A folder in memory, which is removed when the process ends.
inline const std::string& Folder() {
  struct Scratch {
    std::string path = "/dev/shm/slimgraph-fuzz-XXXXXX";
    Scratch() { SLIM_CHECK(::mkdtemp(path.data()) != nullptr); }
    ~Scratch() { std::filesystem::remove_all(path); }
  };
  static const Scratch scratch;
  return scratch.path;
}

inline void WriteFile(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// Makes the checksums of batches match, as far as their lengths stay within the file. The layout is
// that of batch_log.cc: magic, number of words, label, two checksums, words.
inline void MakeBatchesRight(std::vector<std::uint8_t>& file) {
  constexpr std::size_t kHeader = 56;
  constexpr std::uint64_t kMagic = 0x48435441424D4C53;
  for (std::size_t at = 0; at + kHeader <= file.size();) {
    std::uint64_t words;
    std::memcpy(&words, file.data() + at + 8, sizeof words);
    words %= (file.size() - at - kHeader) / 8 + 1;
    std::memcpy(file.data() + at, &kMagic, 8);
    std::memcpy(file.data() + at + 8, &words, 8);
    const std::uint64_t of_words = XXH3_64bits(file.data() + at + kHeader, words * 8);
    std::memcpy(file.data() + at + 40, &of_words, 8);
    const std::uint64_t of_header = XXH3_64bits(file.data() + at, 48);
    std::memcpy(file.data() + at + 48, &of_header, 8);
    at += kHeader + words * 8;
  }
}

}  // namespace slimgraph::fuzz
