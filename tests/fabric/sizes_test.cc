// Every size from zero to 64 MiB, at every alignment, is transferred whole and changes no other
// bytes.
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

class FabricSizes : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricSizes, ::testing::ValuesIn(MultiNodeSettings()), NameOfSetting);

constexpr std::byte kUntouched{0xEE};

// Writes `bytes` bytes to `node` after `offset`, between two guard bytes, and reads them back.
void WriteAndReadBack(Endpoint& endpoint, NodeId node, RegionId region, std::uint64_t offset,
                      std::size_t bytes) {
  auto sent = Pattern(bytes + 2, bytes);
  sent.front() = sent.back() = kUntouched;
  std::vector<std::byte> back(bytes + 2, std::byte{1});
  const std::vector<std::byte> frame(bytes + 2, kUntouched);
  endpoint.Write(node, region, offset, frame);
  endpoint.Write(node, region, offset + 1, Bytes(sent).subspan(1, bytes));
  endpoint.Read(node, region, offset, back);
  ASSERT_EQ(endpoint.Flush(), Outcome::kOk) << bytes << " bytes";
  ASSERT_TRUE(back == sent) << bytes << " bytes at " << offset;
  std::fill(back.begin(), back.end(), kUntouched);
  endpoint.Read(node, region, offset + 1, AsBytes(back).subspan(1, bytes));
  ASSERT_EQ(endpoint.Flush(), Outcome::kOk) << bytes << " bytes";
  ASSERT_TRUE(back == sent) << bytes << " bytes read alone at " << offset + 1;
}

TEST_P(FabricSizes, FromNothingTo1MiB) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share((2 << 20) + 64);
    for (const std::size_t bytes :
         {0,       1,         7,         8,         9,         63,       64,     65,
          511,     4095,      4096,      16'383,    32'768,    65'535,   65'536, 65'537,
          262'144, 1'000'003, 1'048'575, 1'048'576, 1'048'577, 2'097'152}) {
      WriteAndReadBack(fabric.endpoint(0), RightOf(job), region.id, bytes % 23, bytes);
    }
  });
}

TEST_P(FabricSizes, UnalignedReadsReturnJustTheirBytes) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::size_t kBytes = 512;
    const SharedRegion region = *fabric.Share(kBytes);
    const auto mine = Pattern(kBytes, job.self());
    std::copy(mine.begin(), mine.end(), region.memory.begin());
    ASSERT_TRUE(job.Exchange(""));
    const auto theirs = Pattern(kBytes, RightOf(job));
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::byte> got(kBytes);
    for (std::size_t offset = 0; offset < 70; ++offset) {
      for (std::size_t bytes = 1 + offset % 5; bytes < 70; bytes += 5) {
        endpoint.Read(RightOf(job), region.id, offset, AsBytes(got).subspan(offset + 1, bytes));
        ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
        const auto from = theirs.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto at = got.begin() + static_cast<std::ptrdiff_t>(offset + 1);
        ASSERT_TRUE(std::equal(at, at + static_cast<std::ptrdiff_t>(bytes), from))
            << bytes << " bytes at " << offset;
      }
    }
  });
}

class FabricLargeSizes : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricLargeSizes, ::testing::ValuesIn(MultiNodeSettings(2)),
                         NameOfSetting);

TEST_P(FabricLargeSizes, UpTo64MiB) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share((64 << 20) + 64);
    for (const std::size_t bytes : {(16 << 20) - 1, 64 << 20}) {
      WriteAndReadBack(fabric.endpoint(0), RightOf(job), region.id, 3, bytes);
    }
  });
}

}  // namespace

}  // namespace slimgraph
