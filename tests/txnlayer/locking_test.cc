// Locks of NOWAIT, WAITDIE and BOUNDEDWAIT: which transactions share them, and that none waits
// forever.
#include <sys/mman.h>

#include "slimgraph/base/sync.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/protocol/internal/lock_word.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Timestamp;
using txn::Transaction;

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
  EXPECT_EQ(lock_word::ModeOf(word), lock_word::Mode::kX);
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

// Two transactions of one coroutine take turns. The first to begin is the older one.
void WithTwoAtHome(const std::string& name,
                   const std::function<void(txn::Table&, Transaction&, Transaction&)>& body) {
  OnTxnJob({.protocol = name, .nodes = 1}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol(name);
    const auto engine = *txn::Engine::Make(cluster, *protocol, {});
    txn::Table* const table = *engine->tables().Add({"t", 8, 10});
    EXPECT_TRUE(engine->Run([&](Transaction& one) {
      Transaction other(*engine, one.task(), 0);
      body(*table, one, other);
    }));
  });
}

TEST(Locking, LocalReadersShareALock) {
  for (const char* const name : {"nowait", "waitdie", "boundedwait"}) {
    WithTwoAtHome(name, [](txn::Table& table, Transaction& old, Transaction& young) {
      old.Begin();
      young.Begin();
      ASSERT_NE(old.Read(table, 1), nullptr);
      ASSERT_NE(young.Read(table, 1), nullptr);
      // Another transaction reads the tuple too, so this one cannot upgrade its lock.
      young.Write(table, 1)->Put(std::uint64_t{1});
      EXPECT_FALSE(young.Commit());
      // A retry does not share the lock. Otherwise both could abort forever.
      young.Begin(true);
      EXPECT_EQ(young.Read(table, 1), nullptr);
      EXPECT_TRUE(old.Commit());
      young.Begin(true);
      ASSERT_NE(young.Read(table, 1), nullptr);
      old.Begin();  // now the younger one
      EXPECT_EQ(old.Read(table, 1), nullptr);
      young.Write(table, 1)->Put(std::uint64_t{2});
      EXPECT_TRUE(young.Commit());
      // A reader that is alone upgrades to a writer, and keeps what it has read and changed.
      young.Begin();
      Access* const access = young.Read(table, 1);
      ASSERT_NE(access, nullptr);
      EXPECT_EQ(access->Get<std::uint64_t>(), 2u);
      young.Write(table, 1)->Put(access->Get<std::uint64_t>() + 1);
      EXPECT_TRUE(young.Commit());
      old.Begin();
      EXPECT_EQ(old.Read(table, 1)->Get<std::uint64_t>(), 3u);
      EXPECT_TRUE(old.Commit());
    });
  }
}

TEST(WaitDie, NoReaderJoinsWhileAWriterWaits) {
  WithTwoAtHome("waitdie", [](txn::Table& table, Transaction& one, Transaction& other) {
    one.Begin();
    Access* const access = one.Read(table, 1);
    ASSERT_NE(access, nullptr);
    const SharedWord waiting = WordAt(table.memory() + access->offset + txn::kWordBytes);
    waiting.store(1);
    other.Begin();
    EXPECT_EQ(other.Read(table, 1), nullptr);
    EXPECT_EQ(other.reason(), txn::AbortReason::kDied);
    waiting.store(0);
    other.Begin(true);
    EXPECT_NE(other.Read(table, 1), nullptr);
    EXPECT_TRUE(other.Commit());
    EXPECT_TRUE(one.Commit());
  });
}

class LocksWithWaits : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Both, LocksWithWaits, ::testing::Values("waitdie", "boundedwait"),
                         [](const auto& one) { return std::string(one.param); });

// Two transactions read in turn so that one of them always holds the lock. It is never free for a
// writer by chance.
TEST_P(LocksWithWaits, AWriterGetsTheLockThoughReadersAlwaysOverlap) {
  constexpr int kMostTurns = 300'000;
  OnTxnJob({.protocol = GetParam(), .nodes = 1}, [&](Cluster& cluster) {
    // A reader that waits keeps its coroutine, which also runs the other reader.
    const auto protocol = *txn::MakeProtocol(GetParam(), {.lock_timeout_ns = 100'000});
    txn::EngineOptions options{.coroutines = 2};
    options.stages = txn::StageCode::All(true);
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"t", 8, 10});
    bool reading = false;
    bool written = false;
    bool over = false;
    ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
      if (transaction.process() == 1) {
        while (!reading) transaction.task().Yield();
        for (bool again = false; !written && !over; again = true) {
          transaction.Begin(again);
          Access* const access = transaction.Write(*table, 1);
          if (access != nullptr) {
            access->Put(std::uint64_t{1});
            written = transaction.Commit();
          }
          transaction.task().Yield();
        }
        return;
      }
      Transaction other(*engine, transaction.task(), 0);
      Transaction* readers[] = {&transaction, &other};
      readers[0]->Begin();
      bool reads[] = {readers[0]->Read(*table, 1) != nullptr, false};
      EXPECT_TRUE(reads[0]);
      reading = true;
      for (int i = 1; i < kMostTurns && !written; ++i) {
        const int comes = i % 2;
        readers[comes]->Begin();
        reads[comes] = readers[comes]->Read(*table, 1) != nullptr;
        EXPECT_TRUE(!reads[1 - comes] || readers[1 - comes]->Commit());
        reads[1 - comes] = false;
        transaction.task().Yield();
      }
      for (int i = 0; i < 2; ++i) EXPECT_TRUE(!reads[i] || readers[i]->Commit());
      over = true;
    }));
    EXPECT_TRUE(written);
  });
}

bool Increment(Transaction& transaction, txn::Table& table, Key key) {
  Access* const access = transaction.Write(table, key);
  if (access != nullptr) access->Put(access->Get<std::uint64_t>() + 1);
  return access != nullptr;
}

// Each of two transactions locks a record, and then the other's.
TEST(BoundedWait, EndsDeadlocks) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    for (const NodeId nodes : {1, 2}) {
      OnTxnJob(
          {.protocol = "boundedwait", .stages = stages, .nodes = nodes}, [&](Cluster& cluster) {
            const auto protocol = *txn::MakeProtocol("boundedwait", {.lock_timeout_ns = 1'000'000});
            txn::EngineOptions options{.coroutines = nodes == 1 ? 2U : 1U};
            options.stages = *txn::StageCode::Parse(stages, "boundedwait", protocol->stages());
            const auto engine = *txn::Engine::Make(cluster, *protocol, options);
            txn::Table* const table = *engine->tables().Add({"t", 8, 10});
            ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
              const Key mine = transaction.process();
              std::uint32_t tries = 0;
              for (int done = 0; done < 20;) {
                transaction.Begin(tries > 0);
                const bool well = Increment(transaction, *table, mine);
                if (well) transaction.task().Sleep(20'000);
                if (well && Increment(transaction, *table, 1 - mine)) {
                  ASSERT_TRUE(transaction.Commit());
                  ++done;
                  tries = 0;
                  continue;
                }
                EXPECT_EQ(transaction.reason(), txn::AbortReason::kTimedOut);
                transaction.BackOff(++tries);
              }
            }));
            engine->tables().ForEachRecord(*table, [&](Key, const std::byte* record) {
              std::uint64_t sum;
              std::memcpy(&sum, record, sizeof sum);
              EXPECT_EQ(sum, 40u);
            });
            const auto timed_out = static_cast<std::size_t>(txn::AbortReason::kTimedOut);
            // On one node, the coroutines meet at once.
            EXPECT_TRUE(nodes > 1 || engine->figures().aborted[timed_out] > 0);
          });
    }
  }
}

// Transactions that name all tuples at once take their locks in one order.
TEST(BoundedWait, HasNoDeadlocksAmongTransactionsThatFetchOnce) {
  for (const char* const workload : {"smallbank", "ycsb"}) {
    for (const char* const stages : {"rpc", "one-sided", "10000", "01111"}) {
      TxnSetting setting{.protocol = "boundedwait", .stages = stages, .workload = workload};
      setting.work.rows = 10;
      const auto protocol = *txn::MakeProtocol("boundedwait", {.lock_timeout_ns = 5'000'000'000});
      OnTxnJob(setting, [&](Cluster& cluster) {
        DriveSetting(cluster, setting, *protocol,
                     [](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
                       const auto timed_out = static_cast<std::size_t>(txn::AbortReason::kTimedOut);
                       EXPECT_EQ(result.figures.aborted[timed_out], 0u);
                       EXPECT_GT(result.figures.committed, 0u);
                     });
      });
    }
  }
}

// A transaction that is younger than the holder of a lock gets it when the holder has ended.
TEST(BoundedWait, WaitsForOlderTransactions) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    OnTxnJob({.protocol = "boundedwait", .stages = stages, .nodes = 2}, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol("boundedwait", {.lock_timeout_ns = 50'000'000'000});
      txn::EngineOptions options{.coroutines = 3};
      options.stages = *txn::StageCode::Parse(stages, "boundedwait", protocol->stages());
      const auto engine = *txn::Engine::Make(cluster, *protocol, options);
      txn::Table* const table = *engine->tables().Add({"t", 8, 10});
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        for (int i = 0; i < 20; ++i) {
          transaction.Begin();
          // In the order of keys, so there are no deadlocks.
          for (const Key key : {0, 1}) {
            ASSERT_TRUE(Increment(transaction, *table, key))
                << txn::AbortReasonName(transaction.reason());
            transaction.task().Sleep(10'000);
          }
          ASSERT_TRUE(transaction.Commit());
        }
      }));
      engine->tables().ForEachRecord(*table, [&](Key, const std::byte* record) {
        std::uint64_t sum;
        std::memcpy(&sum, record, sizeof sum);
        EXPECT_EQ(sum, 120u);
      });
    });
  }
}

// All transactions increment one number. The number of tries depends on how long the system
// suspends the lock's holder. So a try counts only if somebody has committed since the last one
// that counted. Older transactions may each make this one die once; then it is the oldest.
TEST(WaitDie, LetsAnOldTransactionFinishSoon) {
  constexpr std::uint64_t kEach = 40;
  constexpr std::uint32_t kMostTries = 200;
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& commits = *new (shared) std::atomic<std::uint64_t>(0);  // on all nodes
  for (const char* const stages : {"rpc", "one-sided"}) {
    commits = 0;
    const TxnSetting setting{.protocol = "waitdie", .stages = stages};
    OnTxnJob(setting, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol("waitdie");
      txn::EngineOptions options{.coroutines = setting.coroutines};
      options.stages = *txn::StageCode::Parse(stages, "waitdie", protocol->stages());
      const auto engine = *txn::Engine::Make(cluster, *protocol, options);
      txn::Table* const table = *engine->tables().Add({"t", 8, 10});
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        for (std::uint64_t i = 0; i < kEach; ++i) {
          std::uint32_t tries = 0;
          std::uint64_t seen = ~std::uint64_t{0};
          for (std::uint32_t all = 1;; ++all) {
            if (const std::uint64_t now = commits; now != seen) {
              ++tries;
              seen = now;
            }
            transaction.Begin(all > 1);
            Access* const access = transaction.Write(*table, 1);
            if (access != nullptr) access->Put(access->Get<std::uint64_t>() + 1);
            if (access != nullptr && transaction.Commit()) break;
            transaction.BackOff(all);
          }
          ++commits;
          EXPECT_LT(tries, kMostTries);
        }
      }));
      engine->tables().ForEachTuple(*table, [&](std::byte* tuple) {
        std::uint64_t sum;
        std::memcpy(&sum, tuple + table->version_at(0) + txn::kWordBytes, sizeof sum);
        EXPECT_EQ(sum, setting.nodes * setting.coroutines * kEach);
      });
    });
  }
  ::munmap(shared, sizeof(std::atomic<std::uint64_t>));
}

}  // namespace
}  // namespace slimgraph::test
