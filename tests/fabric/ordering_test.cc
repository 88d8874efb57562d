// Operations of one endpoint on one node are executed in the order in which they were collected.
#include <cstring>

#include "slimgraph/base/sync.h"
#include "slimgraph/base/words.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {

namespace {

class FabricOrdering : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricOrdering, ::testing::ValuesIn(AllSettings()), NameOfSetting);

TEST_P(FabricOrdering, AReadSeesEarlierWritesOfItsBatchAndNoLaterOnes) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    const SharedRegion region = *fabric.Share(4096);
    Endpoint& endpoint = fabric.endpoint(0);
    const NodeId node = RightOf(job);
    for (std::uint64_t round = 0; round < 100; ++round) {
      const std::uint64_t first = round * 2 + 1;
      const std::uint64_t second = round * 2 + 2;
      std::uint64_t seen[4] = {};
      std::uint64_t old[2] = {};
      const auto word = [](auto& value) { return std::as_writable_bytes(std::span(&value, 1)); };
      endpoint.Write(node, region.id, 8, std::as_bytes(std::span(&first, 1)));
      endpoint.Read(node, region.id, 8, word(seen[0]));
      endpoint.Write(node, region.id, 8, std::as_bytes(std::span(&second, 1)));
      endpoint.Read(node, region.id, 8, word(seen[1]));
      endpoint.FetchAdd(node, region.id, 8, 10, &old[0]);
      endpoint.Read(node, region.id, 8, word(seen[2]));
      endpoint.CompareSwap(node, region.id, 8, second + 10, 7, &old[1]);
      endpoint.Read(node, region.id, 8, word(seen[3]));
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      EXPECT_EQ(seen[0], first);
      EXPECT_EQ(seen[1], second);
      EXPECT_EQ(old[0], second);
      EXPECT_EQ(seen[2], second + 10);
      EXPECT_EQ(old[1], second + 10);
      EXPECT_EQ(seen[3], 7u);
    }
  });
}

// A version word is read before and after the data that it guards. If both reads return the same
// even version, the data must be from one change, however long it is.
TEST_P(FabricOrdering, AShortReadIsExecutedAfterAnEarlierLongOne) {
  OnEveryNode([](Job& job, Fabric& fabric) {
    constexpr std::size_t kWords = 600;
    const SharedRegion region = *fabric.Share((1 + kWords) * sizeof(std::uint64_t));
    Thread writer([&](const std::stop_token& stop) {
      for (std::uint64_t change = 1; !stop.stop_requested(); ++change) {
        WordAt(region.memory.data()).store(2 * change - 1);
        for (std::size_t i = 1; i <= kWords; ++i) {
          WordAt(region.memory.data() + i * sizeof change).store(change);
        }
        WordAt(region.memory.data()).store(2 * change);
        SleepFor(std::chrono::microseconds(20));
      }
    });
    Endpoint& endpoint = fabric.endpoint(0);
    int whole = 0;
    for (int tries = 0; tries < 3000 && whole < 500; ++tries) {
      std::uint64_t before = 1;
      std::uint64_t after = 0;
      std::vector<std::uint64_t> words(kWords);
      const auto read = [&](std::uint64_t at, std::span<std::uint64_t> into) {
        endpoint.Read(RightOf(job), region.id, at, std::as_writable_bytes(into));
      };
      read(0, std::span(&before, 1));
      read(sizeof before, words);
      read(0, std::span(&after, 1));
      ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
      if (before != after || before % 2 != 0) continue;
      ++whole;
      for (const std::uint64_t word : words) ASSERT_EQ(word, before / 2);
    }
    writer.request_stop();
    BarrierWhileServing(job, endpoint);
  });
}

// Applies random operations of all kinds, with sizes that exercise all paths of a transport, to
// memory that nobody else uses. It applies the same operations to a plain array and compares.
class Mirror {
 public:
  Mirror(Endpoint& endpoint, NodeId node, RegionId region, std::size_t bytes, std::uint64_t seed)
      : endpoint_(endpoint), node_(node), region_(region), array_(bytes), random_(seed) {}

  void Batch(int operations) {
    for (int i = 0; i < operations; ++i) One();
    endpoint_.Ring();
    if (random_() % 4 != 0) return;  // the next doorbell follows without waiting
    Check();
  }

  void Check() {
    ASSERT_EQ(endpoint_.Flush(), Outcome::kOk);
    for (const auto& read : reads_) ASSERT_EQ(read->got, read->wanted);
    for (const auto& atomic : atomics_) ASSERT_EQ(atomic->got, atomic->wanted);
    reads_.clear();
    atomics_.clear();
    writes_.clear();
  }

 private:
  struct Read {
    std::vector<std::byte> got, wanted;
  };
  struct Atomic {
    std::uint64_t got = 0, wanted = 0;
  };

  void One() {
    constexpr std::size_t kSizes[] = {1, 8, 64, 1000, 5000, 40'000, 65'536, 150'000};
    const std::size_t bytes = kSizes[random_() % std::size(kSizes)];
    const std::size_t offset = random_() % (array_.size() - bytes + 1);
    switch (random_() % 4) {
      case 0: {
        auto read = std::make_unique<Read>();
        read->got.resize(bytes);
        read->wanted.assign(At(offset), At(offset + bytes));
        endpoint_.Read(node_, region_, offset, AsBytes(read->got), 0, RandomSignal());
        reads_.push_back(std::move(read));
        break;
      }
      case 1:
        writes_.push_back(Pattern(bytes, random_()));
        std::copy(writes_.back().begin(), writes_.back().end(), At(offset));
        endpoint_.Write(node_, region_, offset, writes_.back(), 0, RandomSignal());
        break;
      default:
        OneAtomic(random_() % (array_.size() / 8) * 8, random_() % 2 == 0);
    }
  }

  void OneAtomic(std::size_t offset, bool swap) {
    auto atomic = std::make_unique<Atomic>();
    std::uint64_t word;
    std::memcpy(&word, &*At(offset), sizeof word);
    atomic->wanted = word;
    const std::uint64_t operand = random_();
    if (swap) {
      const std::uint64_t expected = random_() % 2 == 0 ? word : word + 1;
      endpoint_.CompareSwap(node_, region_, offset, expected, operand, &atomic->got, 0,
                            RandomSignal());
      if (expected == word) word = operand;
    } else {
      endpoint_.FetchAdd(node_, region_, offset, operand, &atomic->got, 0, RandomSignal());
      word += operand;
    }
    std::memcpy(&*At(offset), &word, sizeof word);
    atomics_.push_back(std::move(atomic));
  }

  Signal RandomSignal() { return random_() % 2 == 0 ? Signal::kYes : Signal::kNo; }
  std::vector<std::byte>::iterator At(std::size_t offset) {
    return array_.begin() + static_cast<std::ptrdiff_t>(offset);
  }

  Endpoint& endpoint_;
  NodeId node_;
  RegionId region_;
  std::vector<std::byte> array_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Read>> reads_;
  std::vector<std::unique_ptr<Atomic>> atomics_;
  std::deque<std::vector<std::byte>> writes_;
};

void RingAtRandom(Job& job, Fabric& fabric) {
  constexpr std::size_t kBytes = 1 << 18;
  const SharedRegion region = *fabric.Share(kBytes);
  Mirror mirror(fabric.endpoint(0), RightOf(job), region.id, kBytes, TestSeed() + job.self());
  for (int batch = 0; batch < 60; ++batch) mirror.Batch(1 + batch % 25);
  mirror.Check();
}

TEST_P(FabricOrdering, RandomDoorbellsMatchAPlainArray) { OnEveryNode(RingAtRandom); }

TEST_P(FabricOrdering, IsTheSameOverSeveralQueuePairs) {
  if (transport() != "verbs") GTEST_SKIP() << "there are no queue pairs";
  OnEveryNode(RingAtRandom, {.qps_per_peer = 5});
}

}  // namespace

}  // namespace slimgraph
