// Reads a .slim file, first as it is, then with matching checksums: random bytes would never pass
// the checksums, and a faulty writer can write anything with matching ones.
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "slimgraph/files/inspect.h"
#include "slimgraph/files/slim_file.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/support/slim_checksums.h"

namespace slimgraph {
namespace {

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
    if (make_right) slimgraph::UpdateChecksums(file);
    if (::ftruncate(fd, 0) != 0) return 0;
    if (::pwrite(fd, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size())) return 0;
    slimgraph::ReadIt(path);
  }
  return 0;
}
