// Files that are memory of a node: writes into them, and when these are durable.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <span>

#include "slimgraph/base/process.h"
#include "slimgraph/base/shared_file.h"
#include "tests/fabric/conformance.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kFileBytes = 100'000;

class FileMemory : public FabricConformance {
 protected:
  // The last node has the file.
  SharedRegion Share(Job& job, Fabric& fabric, FlushBy flush) const {
    std::shared_ptr<SharedFile> file;
    if (job.self() == nodes() - 1) file = Unwrap(SharedFile::Create(path_, kFileBytes));
    return Unwrap(
        fabric.ShareFile(file, flush, [](const Error& error) { ADD_FAILURE() << error.message; }));
  }
  std::vector<std::byte> InFile() const {
    std::ifstream in(path_, std::ios::binary);
    std::vector<std::byte> all(kFileBytes);
    in.read(reinterpret_cast<char*>(all.data()), kFileBytes);
    EXPECT_TRUE(in);
    return all;
  }
  void TearDown() override { ::unlink(path_.c_str()); }

 private:
  const std::string path_ = ::testing::TempDir() + fmt::format("memory.{}", ::getpid());
};
INSTANTIATE_TEST_SUITE_P(All, FileMemory, ::testing::ValuesIn(ShmAndTcpSettings(4)), NameOfSetting);

TEST_P(FileMemory, IsWrittenByAllNodes) {
  const std::uint64_t seed = TestSeed();
  OnEveryNode([&](Job& job, Fabric& fabric) {
    const NodeId owner = job.nodes() - 1;
    const SharedRegion region = Share(job, fabric, FlushBy::kHome);
    EXPECT_EQ(region.memory.size(), job.self() == owner ? kFileBytes : 0);
    Endpoint& endpoint = fabric.endpoint(0);
    const std::vector<std::byte> mine = Pattern(1'000, seed + job.self());
    endpoint.Write(owner, region.id, 8 + job.self() * mine.size(), mine);
    endpoint.FetchAdd(owner, region.id, 0, 3, nullptr);
    std::vector<std::byte> again(mine.size());
    endpoint.Read(owner, region.id, 8 + job.self() * mine.size(), AsBytes(again));
    EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
    EXPECT_EQ(again, mine);
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() != owner) return;
    const std::vector<std::byte> all = InFile();
    std::uint64_t sum = 0;
    std::memcpy(&sum, all.data(), sizeof sum);
    EXPECT_EQ(sum, 3 * job.nodes());
    for (NodeId node = 0; node < job.nodes(); ++node) {
      const auto theirs = Pattern(1'000, seed + node);
      EXPECT_EQ(std::memcmp(all.data() + 8 + node * theirs.size(), theirs.data(), theirs.size()),
                0);
    }
  });
}

// Each node writes to its own part of the file, in random sizes and doorbells.
TEST_P(FileMemory, ReportsEachPersistentWriteOnce) {
  const std::uint64_t seed = TestSeed();
  OnEveryNode([&](Job& job, Fabric& fabric) {
    const NodeId owner = job.nodes() - 1;
    for (const FlushBy flush : {FlushBy::kHome, FlushBy::kRead}) {
      std::mt19937_64 random(seed + job.self());
      const SharedRegion region = Share(job, fabric, flush);
      EXPECT_EQ(fabric.sync_of(region.id) != nullptr,
                job.self() == owner && flush == FlushBy::kHome);
      Endpoint& endpoint = fabric.endpoint(0);
      const std::uint64_t part = kFileBytes / job.nodes();
      const std::vector<std::byte> bytes = Pattern(kFileBytes, seed);
      std::map<std::uint64_t, int> ends;
      std::vector<Completion> completions;
      const auto look = [&] {
        completions.clear();
        endpoint.Poll(completions);
        for (const Completion& completion : completions) {
          EXPECT_EQ(completion.outcome, Outcome::kOk) << OutcomeName(completion.outcome);
          ++ends[completion.tag];
        }
      };
      std::uint64_t tags = 0;
      for (std::uint64_t at = 0; at < part;) {
        const std::uint64_t begin = part * job.self() + at;
        const std::uint64_t count = std::min(1 + random() % 3'000, part - at);
        const Bytes from = Bytes(bytes).subspan(begin, count);
        if (random() % 4 == 0) {
          endpoint.Write(owner, region.id, begin, from, ++tags);
        } else {
          endpoint.PersistentWrite(owner, region.id, begin, from, ++tags,
                                   random() % 2 == 0 ? Batched::kYes : Batched::kNo);
        }
        at += count;
        if (random() % 3 == 0) endpoint.Ring();
        if (random() % 3 == 0) look();
      }
      endpoint.Ring();
      EXPECT_TRUE(endpoint.WaitUntil([&] { return endpoint.outstanding() == 0; }, 30s));
      look();
      EXPECT_EQ(ends.size(), tags);
      for (const auto& [tag, times] : ends) EXPECT_EQ(times, 1) << "of the write " << tag;
      BarrierWhileServing(job, endpoint);
      if (job.self() == owner) {
        EXPECT_EQ(std::memcmp(InFile().data(), bytes.data(), part * job.nodes()), 0);
      }
      ASSERT_TRUE(job.Exchange(""));
    }
  });
}

// The read behind the write, under FlushBy::kRead.
TEST_P(FileMemory, ReadsBackInTheSameRoundTripIfBatched) {
  OnEveryNode([&](Job& job, Fabric& fabric) {
    const NodeId owner = job.nodes() - 1;
    const SharedRegion region = Share(job, fabric, FlushBy::kRead);
    Endpoint& endpoint = fabric.endpoint(0);
    const std::vector<std::byte> line(64, std::byte{7});
    for (const Batched batched : {Batched::kYes, Batched::kNo}) {
      if (job.self() == owner) break;
      endpoint.ClearTraffic();
      endpoint.PersistentWrite(owner, region.id, 64 * job.self(), line, 0, batched);
      EXPECT_EQ(endpoint.Flush(), Outcome::kOk);
      Traffic traffic = endpoint.traffic();
      std::uint64_t round_trips = 0;
      for (const auto kind : {TrafficKind::kWrite, TrafficKind::kRead}) {
        const TrafficCount& count = traffic.at(kUnnamedStage, owner, kind);
        EXPECT_EQ(count.operations, 1U);
        round_trips += count.round_trips;
      }
      EXPECT_EQ(round_trips, batched == Batched::kYes ? 1U : 2U);
    }
    ASSERT_TRUE(job.Exchange(""));
  });
}

// The home does not sync any more.
TEST_P(FileMemory, TellsNothingBeforeTheHomeHasSynced) {
  OnEveryNode([&](Job& job, Fabric& fabric) {
    const NodeId owner = job.nodes() - 1;
    const SharedRegion region = Share(job, fabric, FlushBy::kHome);
    Endpoint& endpoint = fabric.endpoint(0);
    const std::vector<std::byte> word(8, std::byte{7});
    endpoint.PersistentWrite(owner, region.id, 0, word, 1);
    endpoint.Ring();
    EXPECT_TRUE(endpoint.WaitUntil([&] { return endpoint.outstanding() == 0; }, 30s));
    BarrierWhileServing(job, endpoint);
    if (FileSync* const sync = fabric.sync_of(region.id)) {
      EXPECT_GT(sync->synced(), 0U);
      sync->Stop();
    }
    ASSERT_TRUE(job.Exchange(""));
    std::vector<Completion> completions;
    endpoint.Poll(completions);
    completions.clear();
    endpoint.PersistentWrite(owner, region.id, 8, word, 2);
    endpoint.Ring();
    EXPECT_FALSE(endpoint.WaitUntil([&] { return endpoint.outstanding() == 0; }, 100ms));
    endpoint.Poll(completions);
    EXPECT_TRUE(completions.empty());
    EXPECT_EQ(endpoint.AwaitedNodes(), std::vector<NodeId>{owner});
    BarrierWhileServing(job, endpoint);
    endpoint.faults().Cut(owner);
    completions = Complete(endpoint);
    ASSERT_EQ(completions.size(), 1U);
    EXPECT_EQ(completions[0].tag, 2U);
    EXPECT_EQ(completions[0].outcome, Outcome::kPeerLost);
    ASSERT_TRUE(job.Exchange(""));
  });
}

TEST_P(FileMemory, RefusesWritesBeyondItsEndOnce) {
  OnEveryNode([&](Job& job, Fabric& fabric) {
    const NodeId owner = job.nodes() - 1;
    for (const FlushBy flush : {FlushBy::kHome, FlushBy::kRead}) {
      const SharedRegion region = Share(job, fabric, flush);
      Endpoint& endpoint = fabric.endpoint(0);
      const std::vector<std::byte> word(8);
      for (const Batched batched : {Batched::kYes, Batched::kNo}) {
        endpoint.PersistentWrite(owner, region.id, kFileBytes - 4, word, 5, batched);
        const std::vector<Completion> completions = Complete(endpoint);
        ASSERT_EQ(completions.size(), 1U);
        EXPECT_EQ(completions[0].tag, 5U);
        EXPECT_EQ(completions[0].outcome, Outcome::kOutOfRange);
        EXPECT_EQ(endpoint.outstanding(), 0U);
      }
      ASSERT_TRUE(job.Exchange(""));
    }
  });
}

// The home dies while the others wait for its syncs.
TEST_P(FileMemory, EndsPersistentWritesWhenItsHomeDies) {
  const NodeId owner = nodes() - 1;
  OnSurvivors(owner, [&](Job& job, Fabric& fabric) {
    const SharedRegion region = Share(job, fabric, FlushBy::kHome);
    const SharedRegion meeting = *fabric.Share(16);
    Endpoint& endpoint = fabric.endpoint(0);
    if (FileSync* const sync = fabric.sync_of(region.id)) sync->Stop();
    ASSERT_TRUE(job.Exchange(""));
    const std::vector<std::byte> word(8);
    if (job.self() != owner) {
      for (std::uint64_t tag = 0; tag < 3; ++tag) {
        endpoint.PersistentWrite(owner, region.id, 8 * tag, word, tag);
      }
      endpoint.Ring();
      endpoint.WaitUntil([] { return false; }, 20ms);
    }
    if (job.self() == owner) {
      endpoint.WaitUntil([] { return false; }, 200ms);
      KillProcess();
    }
    const std::vector<Completion> completions = Complete(endpoint);
    EXPECT_EQ(completions.size(), 3U);
    for (const Completion& completion : completions) {
      EXPECT_EQ(completion.outcome, Outcome::kPeerLost) << OutcomeName(completion.outcome);
    }
    BarrierWithout(owner, job, endpoint, meeting);
  });
}

}  // namespace
}  // namespace slimgraph
