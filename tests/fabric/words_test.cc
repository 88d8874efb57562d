// Aligned words are accessed whole, even if they are read concurrently.
#include <thread>

#include "slimgraph/base/words.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {
namespace {

class FabricWords : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricWords, ::testing::ValuesIn(MultiNodeSettings(4)),
                         NameOfSetting);

constexpr std::size_t kWords = 40;

std::uint64_t Twice(std::uint32_t half) { return (std::uint64_t{half} << 32) | half; }

std::size_t CountTorn(const std::vector<std::uint64_t>& words) {
  return static_cast<std::size_t>(std::count_if(words.begin(), words.end(), [](auto word) {
    return static_cast<std::uint32_t>(word) != word >> 32;
  }));
}

// All nodes write words of two equal halves to node 0, in many doorbells at once, and read them.
TEST_P(FabricWords, AreSeenWhole) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(4096);
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::uint64_t> written(kWords * 50);
    std::vector<std::uint64_t> read(kWords);
    std::size_t torn = 0;
    for (std::uint32_t round = 0; round < 200; ++round) {
      for (std::size_t i = 0; i < written.size(); ++i) {
        written[i] = Twice(round * 1000 + static_cast<std::uint32_t>(i) + job.self());
      }
      for (std::size_t at = 0; at < written.size(); at += kWords) {
        endpoint.Write(0, region.id, 8, std::as_bytes(std::span(written).subspan(at, kWords)));
        if (at % (4 * kWords) == 0) endpoint.Ring();
      }
      endpoint.Read(0, region.id, 8, std::as_writable_bytes(std::span(read)));
      endpoint.Ring();
      std::vector<std::uint64_t> own(kWords);
      LoadWords(reinterpret_cast<std::byte*>(own.data()), region.memory.data() + 8, kWords * 8);
      torn += CountTorn(own);
      EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
      torn += CountTorn(read);
    }
    EXPECT_EQ(torn, 0u);
    BarrierWhileServing(job, endpoint);
  });
}

}  // namespace
}  // namespace slimgraph
