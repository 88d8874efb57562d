// A conversion of text takes at most three times the memory of the .slim file that it makes.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "slimgraph/base/units.h"
#include "slimgraph/files/internal/random.h"
#include "tests/support/graphs.h"
#include "tests/support/sanitized.h"

namespace slimgraph::test {
namespace {

std::uint64_t StatusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kib = 0;
    if (words >> name >> kib && name == key + ":") return kib * 1024;
  }
  return 0;
}

// The peak memory that `work` adds to this process; 0 if the kernel does not report it.
template <typename Work>
std::uint64_t AddedPeak(const Work& work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const std::uint64_t before = StatusBytes("VmRSS");
  work();
  const std::uint64_t peak = StatusBytes("VmHWM");
  return peak > before ? peak - before : 0;
}

struct Shape {
  const char* name;
  std::uint64_t factor;
  bool weighted;
  bool directed;
};

class ConversionMemory : public ::testing::TestWithParam<Shape> {};

TEST_P(ConversionMemory, PeakIsWithinThreeTimesTheFile) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have memory of their own";
  const Shape shape = GetParam();
  const ScratchFolder folder;
  {
    internal::CounterRandom random(1, 1);
    std::ofstream out(folder / "g.txt");
    for (int i = 0; i < 2'000'000; ++i) {
      out << random.Below(200'000) * shape.factor << ' ' << random.Below(200'000) * shape.factor;
      if (shape.weighted) out << ' ' << random.Below(100);
      out << '\n';
    }
  }
  ConvertOptions options;
  options.in = folder / "g.txt";
  options.out = folder / "g.slim";
  options.directed = shape.directed;
  options.weighted = shape.weighted;
  options.threads = 2;
  const std::uint64_t peak = AddedPeak([&] { EXPECT_OK(Convert(options)); });
  const std::uint64_t file = std::filesystem::file_size(options.out);
  EXPECT_LE(peak, 3 * file) << FormatBytes(peak) << " for " << FormatBytes(file);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConversionMemory,
    ::testing::Values(Shape{"dense", 1, false, false}, Shape{"weighted", 1, true, false},
                      Shape{"directed", 1, false, true}, Shape{"sparse", 10'000'019, false, false},
                      Shape{"sparse_directed_weighted", 10'000'019, true, true}),
    [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace slimgraph::test
