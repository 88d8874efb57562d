// The lock word of two-phase locking: readers that join and leave, ages, upgrades.
#include "txnlayer/protocol/internal/lock_word.h"

#include "slimgraph/base/sync.h"
#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Timestamp;

namespace lock_word = txn::lock_word;

constexpr Timestamp At(std::uint64_t clock) { return txn::TimestampOf(clock, 0); }
constexpr std::uint64_t kWrap = std::uint64_t{1} << txn::kAgeBits;

TEST(LockWord, IsOlderComparesWithAllHolders) {
  std::uint64_t word = 0;
  const SharedWord lock(word);
  std::uint8_t generations[3];
  EXPECT_EQ(lock_word::Join(lock, At(7), generations[0]), 0u);
  EXPECT_EQ(lock_word::Join(lock, At(5), generations[1]), 0u);
  EXPECT_EQ(lock_word::Join(lock, At(9), generations[2]), 0u);
  EXPECT_EQ(lock_word::Age(word), 5u);
  EXPECT_TRUE(lock_word::IsOlder(At(4), 9, word));
  EXPECT_FALSE(lock_word::IsOlder(At(5), 0, word)) << "of one clock, neither is older";
  EXPECT_FALSE(lock_word::Upgrade(lock, At(7), 1));
  lock_word::Leave(lock, At(5), generations[1]);
  lock_word::Leave(lock, At(9), generations[2]);
  EXPECT_TRUE(lock_word::Upgrade(lock, At(7), 1));
  EXPECT_EQ(word, lock_word::OfWriter(At(7), 1));
  EXPECT_EQ(lock_word::ModeOf(word), txn::LockMode::kX);
  EXPECT_EQ(lock_word::Join(lock, At(3), generations[0]), word);
  EXPECT_TRUE(lock_word::IsOlder(At(7), 0, word));
  EXPECT_TRUE(lock_word::IsOlder(At(7), 1, word)) << "it is the holder itself";
  EXPECT_FALSE(lock_word::IsOlder(At(7), 2, word));
  word = 0;
  EXPECT_EQ(lock_word::Join(lock, At(8), generations[0]), 0u);
  lock_word::Leave(lock, At(8), generations[0]);
  EXPECT_EQ(word, 0u);
}

TEST(LockWord, ComparesAgesAcrossTheWrap) {
  const txn::Owner last = txn::OwnerOf(1023, txn::kMaxThreads - 1, txn::kMaxCoroutines - 1);
  // After 25 days the clock is as at the beginning.
  for (const std::uint64_t wrap : {kWrap, kWrap * 130, (std::uint64_t{1} << 46) - kWrap}) {
    const std::uint64_t before = lock_word::OfWriter(At(wrap - 5), last);
    const std::uint64_t after = lock_word::OfWriter(At(wrap + 10), last);
    EXPECT_FALSE(lock_word::OfReaders(before) || lock_word::OfReaders(after));
    EXPECT_FALSE(lock_word::IsOlder(At(wrap + 1), 0, before));
    EXPECT_TRUE(lock_word::IsOlder(At(wrap - 6), 0, before));
    EXPECT_TRUE(lock_word::IsOlder(At(wrap - 5), last, after));
    EXPECT_FALSE(lock_word::IsOlder(At(wrap + 11), 0, after));
    EXPECT_EQ(txn::ClockOf(lock_word::TimestampOfHolder(before, At(wrap + 7))), wrap - 5);
    EXPECT_EQ(txn::ClockOf(lock_word::TimestampOfHolder(after, At(wrap - 7))), wrap + 10);
  }
}

// There is always at least one reader. The age in the word is never younger than any reader, and
// follows the oldest one, also across the wrap.
TEST(LockWord, ForgetsTheAgeOfReadersThatHaveLeft) {
  std::mt19937_64 random(TestSeed());
  std::uint64_t word = 0;
  const SharedWord lock(word);
  struct Reader {
    std::uint64_t clock;
    std::uint8_t generation;
  };
  std::vector<Reader> readers;
  std::uint64_t clock = kWrap - 100'000;
  const std::uint64_t writer = clock + 10;
  for (int i = 0; i < 20'000; ++i) {
    clock += random() % 20;
    Reader& reader = readers.emplace_back(clock - random() % 100, std::uint8_t{0});
    ASSERT_EQ(lock_word::Join(lock, At(reader.clock), reader.generation), 0u);
    while (readers.size() > 1 + random() % 8) {
      std::swap(readers[random() % readers.size()], readers.back());
      lock_word::Leave(lock, At(readers.back().clock), readers.back().generation);
      readers.pop_back();
    }
    EXPECT_EQ(lock_word::Readers::Of(word).all(), readers.size());
    for (const Reader& one : readers) {
      const auto age = static_cast<std::int64_t>(
          txn::AgeDifference(lock_word::Age(word), txn::AgeOf(At(one.clock))));
      ASSERT_LE(age, 0) << "a reader is older than the word says";
    }
  }
  ASSERT_GT(clock, kWrap + 10'000);
  EXPECT_TRUE(lock_word::IsOlder(At(writer), 0, word)) << "no reader is older than the writer";
  for (const Reader& one : readers) lock_word::Leave(lock, At(one.clock), one.generation);
  EXPECT_EQ(word, 0u);
}

TEST(LockWord, HasReadersOrOneWriter) {
  std::uint64_t word = 0;
  const SharedWord lock(word);
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<std::uint64_t> upgrades{0};
  const std::uint64_t seed = TestSeed();
  std::vector<Thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(seed + thread);
      for (std::uint64_t i = 1; i <= 20'000; ++i) {
        const auto owner = static_cast<txn::Owner>(thread);
        const Timestamp timestamp = At(txn::kFirstClock + 8 * i);
        std::uint8_t generation;
        const bool writes = random() % 4 == 0;
        std::uint64_t free = 0;
        if (writes && lock.compare_exchange_strong(free, lock_word::OfWriter(timestamp, owner))) {
          EXPECT_EQ(writers.fetch_add(1) + readers, 0);
          --writers;
          lock.store(0);
        } else if (!writes && lock_word::Join(lock, timestamp, generation) == 0) {
          ++readers;
          EXPECT_EQ(writers, 0);
          --readers;
          if (random() % 2 == 0 && lock_word::Upgrade(lock, timestamp, owner)) {
            ++upgrades;
            EXPECT_EQ(writers.fetch_add(1) + readers, 0);
            --writers;
            lock.store(0);
          } else {
            lock_word::Leave(lock, timestamp, generation);
          }
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(word, 0u);
  EXPECT_GT(upgrades, 0u);
}

}  // namespace
}  // namespace slimgraph::test
