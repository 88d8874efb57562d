// What an agent reads into a host's cache.
#include "slimgraph/pool/internal/block_fetcher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "slimgraph/fabric/fabric.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint64_t kSizes[] = {300'001, 5'000};
constexpr NodeId kFetchingNodes = 3;  // node 0 fetches from the others
constexpr std::uint64_t kBlock = HostCacheMemory::kBlockBytes;

std::byte ContentAt(NodeId node, std::size_t memory, std::uint64_t i) {
  return static_cast<std::byte>(i * 31 + i / 256 + node * 7 + memory);
}

// Random requests, many at once, bring each block once and right, as long as there is room.
void FetchAtRandom(Fabric& fabric, const std::vector<RegionId>& regions, std::uint64_t seed,
                   std::uint64_t room_bytes) {
  std::mt19937_64 random(seed);
  const auto memory =
      Unwrap(HostCacheMemory::Make({{kSizes[0], kSizes[1]}, {kSizes[0], kSizes[1]}}));
  Endpoint& endpoint = fabric.endpoint(0);
  BlockFetcher fetcher(endpoint, *memory, 1, regions, room_bytes);
  struct Asked {
    std::shared_ptr<BlockFetcher::Request> request = std::make_shared<BlockFetcher::Request>();
    std::size_t lender = 0;
    std::vector<BlockRange> ranges;
  };
  std::vector<Asked> asked;
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, int> blocks;
  std::uint64_t bytes = 0;
  std::size_t refused = 0;
  const auto poll = [&] {
    std::vector<Completion> completions;
    endpoint.Poll(completions);
    for (const Completion& one : completions) Unwrap(fetcher.Finish(one));
    std::erase_if(asked, [&](const Asked& one) {
      if (one.request->under_way > 0) return false;
      bytes += one.request->bytes;
      refused += one.request->refused ? 1 : 0;
      bool all = true;
      for (const BlockRange& range : one.ranges) {
        all = all && memory->Has(one.lender, range);
        for (std::uint64_t at = range.first * kBlock;
             at < std::min((range.first + range.blocks) * kBlock, kSizes[range.memory]); ++at) {
          if (!memory->Has(one.lender, {at / kBlock, 1, range.memory})) continue;
          blocks[{one.lender, range.memory, at / kBlock}] = 1;
          EXPECT_EQ(*memory->At(one.lender, range.memory, at),
                    ContentAt(static_cast<NodeId>(one.lender + 1), range.memory, at));
        }
      }
      EXPECT_NE(all, one.request->refused);
      return true;
    });
  };
  for (int i = 0; i < 400; ++i) {
    Asked& one = asked.emplace_back();
    one.lender = random() % 2;
    for (std::uint64_t k = random() % 5; k < 5; ++k) {
      const std::size_t which = random() % 2;
      const std::uint64_t offset = random() % kSizes[which];
      const std::uint64_t length =
          1 + random() % std::min<std::uint64_t>(kSizes[which] - offset, 20'000);
      one.ranges.push_back(HostCacheMemory::BlocksOf(which, offset, length));
      fetcher.Begin(one.request, one.lender, one.ranges.back());
    }
    endpoint.Ring();
    if (random() % 4 == 0) poll();
  }
  for (poll(); !asked.empty(); poll()) ASSERT_TRUE(endpoint.Wait(std::chrono::seconds(20)));
  EXPECT_TRUE(fetcher.idle());
  // No block was read twice. The last one of a memory is shorter.
  EXPECT_LE(bytes, blocks.size() * kBlock);
  EXPECT_GE(bytes + 4 * kBlock, blocks.size() * kBlock);
  EXPECT_LE(fetcher.used_bytes(), room_bytes);
  EXPECT_EQ(refused > 0, memory->full());
  EXPECT_EQ(refused > 0, room_bytes < 600'000);
}

TEST(BlockFetcher, ReadsEachBlockOnceWhileThereIsRoom) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  for (const std::uint64_t room_bytes : {std::uint64_t{1} << 30, std::uint64_t{100'000}}) {
    const auto body = [&](Job& job) {
      std::vector<std::unique_ptr<SharedMemory>> memories;
      const auto fabric = Unwrap(Fabric::Open(job, {.transport = "tcp"}));
      std::vector<RegionId> regions;
      for (std::size_t which = 0; which < std::size(kSizes); ++which) {
        if (job.self() > 0) {
          memories.push_back(Unwrap(SharedMemory::Create(kSizes[which])));
          for (std::uint64_t i = 0; i < kSizes[which]; ++i) {
            memories[which]->base()[i] = ContentAt(job.self(), which, i);
          }
          Unwrap(memories[which]->Seal());
        }
        regions.push_back(
            Unwrap(fabric->ShareStanding(job.self() > 0 ? memories[which].get() : nullptr, which))
                .id);
      }
      if (job.self() == 0) FetchAtRandom(*fabric, regions, seed, room_bytes);
      ASSERT_TRUE(job.Exchange(""));
      EXPECT_TRUE(fabric->Close());
    };
    ExpectNodesRun(kFetchingNodes, body);
  }
}

}  // namespace
}  // namespace slimgraph::internal
