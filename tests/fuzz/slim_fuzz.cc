// Random bytes never get past the checksums, so they are made right first: what is fuzzed is a file
// whose writer was wrong.
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <vector>

#include "slimgraph/graph/inspect.h"
#include "slimgraph/graph/slim_file.h"
#include "tests/fuzz/fuzz_support.h"

namespace slimgraph {
namespace {

void Store(std::vector<std::uint8_t>& file, std::uint64_t at, std::uint64_t value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

// Makes every checksum match, as far as the header's own table leads into the file.
void MakeChecksumsRight(std::vector<std::uint8_t>& file) {
  if (file.size() < kSlimPageBytes) return;
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
        Store(file, at, XXH3_64bits(file.data() + from, bytes));
        at += 8;
      }
    }
    if (table.bytes <= file.size() && table.offset <= file.size() - SlimPadded(table.bytes) &&
        SlimPadded(table.bytes) <= file.size()) {
      header.checksums_checksum = XXH3_64bits(file.data() + table.offset, SlimPadded(table.bytes));
      std::memcpy(file.data(), &header, sizeof header);
    }
  }
  Store(file, kSlimHeaderChecksumAt, XXH3_64bits(file.data(), kSlimHeaderChecksumAt));
}

void ReadIt(const std::string& path) {
  const auto file = SlimFile::Open(path);
  if (!file) return;
  InfoOptions check;
  check.path = path;
  check.check = true;
  (void)Inspect(check);
  for (const auto& [weighted, drop] : {std::pair{false, false}, {true, false}, {false, true}}) {
    fuzz::Build(internal::ReadSlim(*file, fuzz::Options(weighted, drop)), path);
  }
}

}  // namespace
}  // namespace slimgraph

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = ::memfd_create("fuzz.slim", 0);
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  std::vector<std::uint8_t> file(data, data + size);
  for (const bool make_right : {false, true}) {
    if (make_right) slimgraph::MakeChecksumsRight(file);
    if (::ftruncate(fd, 0) != 0) return 0;
    if (::pwrite(fd, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size())) return 0;
    slimgraph::ReadIt(path);
  }
  return 0;
}
