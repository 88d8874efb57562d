// Highway's library calls the system more than we need. These definitions take the place of its
// own, but not in a Python module, where they do nothing.
#include <hwy/contrib/sort/vqsort.h>

#include <cstdint>
#include <cstring>

#include "slimgraph/base/mix.h"

namespace hwy {
namespace platform {

// When the library is loaded, it measures the resolution of its timer for its benchmarks, which are
// not used here. Without that, each process starts with 3 ms of processor time less.
[[gnu::visibility("default")]] std::uint64_t TimerResolution();
std::uint64_t TimerResolution() { return 1; }

}  // namespace platform

// The seed for the samples of a sort. The library asks the system for it, which takes longer than
// to sort a list of a hundred numbers.
[[gnu::visibility("default")]] void Sorter::Fill24Bytes(const void* heap, std::size_t count,
                                                        void* bytes) {
  std::uint64_t seed[3];
  std::uint64_t state = reinterpret_cast<std::uintptr_t>(heap) ^ count;
  for (std::uint64_t& word : seed) word = slimgraph::Mix64(state += slimgraph::kMixStep);
  std::memcpy(bytes, seed, sizeof seed);
}

}  // namespace hwy
