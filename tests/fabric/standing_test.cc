// Memory that exists already and that others may only read.
#include <unistd.h>

#include <cstring>
#include <span>

#include "tests/fabric/conformance.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kStandingBytes = 100'000;

class StandingMemory : public FabricConformance {};

INSTANTIATE_TEST_SUITE_P(All, StandingMemory, ::testing::ValuesIn(ShmAndTcpSettings(4)),
                         NameOfSetting);

// The last node has the memory, the others none.
TEST_P(StandingMemory, IsReadByAllNodesAndChangedByNone) {
  const std::uint64_t seed = TestSeed();
  const auto body = [&](Job& job, Fabric& fabric) {
    const NodeId owner = job.nodes() - 1;
    const std::vector<std::byte> pattern = Pattern(kStandingBytes, seed);
    static std::unique_ptr<SharedMemory> memory;  // it must outlive the fabric
    memory = Unwrap(SharedMemory::Create(kStandingBytes));
    std::memcpy(memory->base(), pattern.data(), kStandingBytes);
    Unwrap(memory->Seal());
    const SharedRegion region =
        Unwrap(fabric.ShareStanding(job.self() == owner ? memory.get() : nullptr, 0));
    EXPECT_EQ(fabric.region_bytes(owner, region.id), kStandingBytes);
    EXPECT_EQ(fabric.region_bytes(0, region.id), 0U);
    const Bytes in_place = fabric.InPlace(owner, region.id);
    EXPECT_EQ(in_place.size(),
              fabric.transport() == "shm" && job.self() != owner ? kStandingBytes : 0);
    if (!in_place.empty()) {
      EXPECT_EQ(std::memcmp(in_place.data(), pattern.data(), kStandingBytes), 0);
    }
    EXPECT_TRUE(fabric.InPlace(0, region.id).empty());
    Endpoint& endpoint = fabric.endpoint(0);
    std::vector<std::byte> found(kStandingBytes - 3);
    endpoint.Read(owner, region.id, 3, AsBytes(found));
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(std::memcmp(found.data(), pattern.data() + 3, found.size()), 0);
    endpoint.Write(owner, region.id, 8, Bytes(found).first(8));
    EXPECT_EQ(endpoint.Flush(), Outcome::kReadOnly);
    endpoint.Write(owner, region.id, 8, Bytes(found).first(20'000));
    EXPECT_EQ(endpoint.Flush(), Outcome::kReadOnly);
    endpoint.FetchAdd(owner, region.id, 16, 1, nullptr);
    EXPECT_EQ(endpoint.Flush(), Outcome::kReadOnly);
    endpoint.CompareSwap(owner, region.id, 16, 0, 1, nullptr);
    EXPECT_EQ(endpoint.Flush(), Outcome::kReadOnly);
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == owner) {
      EXPECT_EQ(std::memcmp(memory->base(), pattern.data(), kStandingBytes), 0);
    }
    ASSERT_TRUE(job.Exchange(""));
  };
  OnEveryNode(body);
}

TEST(SharedMemory, ThatIsSealedCannotBeMappedForWriting) {
  const auto memory = Unwrap(SharedMemory::Create(kStandingBytes));
  std::memset(memory->base(), 7, kStandingBytes);
  Unwrap(memory->Seal());
  const auto opened = Unwrap(SharedMemory::Open(memory->handle()));
  EXPECT_FALSE(opened->writable());
  EXPECT_EQ(opened->base()[kStandingBytes - 1], std::byte{7});
  const auto adopted = Unwrap(SharedMemory::Adopt(UniqueFd(::dup(memory->fd()))));
  EXPECT_EQ(adopted->bytes(), kStandingBytes);
  EXPECT_FALSE(adopted->writable());
  EXPECT_DEATH(*const_cast<volatile std::byte*>(adopted->base()) = std::byte{1}, "");
}

}  // namespace
}  // namespace slimgraph
