// Locks of NOWAIT and WAITDIE: who shares them, and that nobody waits for ever.
#include <sys/mman.h>

#include <thread>

#include "tests/txnlayer/support.h"
#include "txnlayer/protocol/lock_word.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Timestamp;
using txn::Transaction;

constexpr Timestamp At(std::uint64_t clock, std::uint64_t owner) {
  return (clock << txn::kOwnerBits) | owner;
}

TEST(LockWord, TellsWhoIsOlderThanAllHolders) {
  std::uint64_t word = 0;
  const SharedWord lock(word);
  EXPECT_EQ(txn::lock_word::Join(lock, At(7, 1)), 0u);
  EXPECT_EQ(txn::lock_word::Join(lock, At(5, 2)), 0u);
  EXPECT_EQ(txn::lock_word::Join(lock, At(9, 3)), 0u);
  EXPECT_EQ(txn::lock_word::Met(word), At(5, 0));
  EXPECT_TRUE(txn::lock_word::IsOlder(At(4, 9), word));
  EXPECT_FALSE(txn::lock_word::IsOlder(At(5, 0), word)) << "of one clock, neither is older";
  EXPECT_FALSE(txn::lock_word::Upgrade(lock, At(7, 1)));
  txn::lock_word::Leave(lock, At(5, 2));
  txn::lock_word::Leave(lock, At(9, 3));
  EXPECT_FALSE(txn::lock_word::IsOlder(At(6, 9), word)) << "the clock of one that has left stays";
  EXPECT_TRUE(txn::lock_word::Upgrade(lock, At(7, 1)));
  EXPECT_EQ(word, At(7, 1));
  EXPECT_EQ(txn::lock_word::Join(lock, At(3, 4)), At(7, 1));
  EXPECT_TRUE(txn::lock_word::IsOlder(At(7, 0), word));
  EXPECT_FALSE(txn::lock_word::IsOlder(At(7, 2), word));
  word = 0;
  EXPECT_EQ(txn::lock_word::Join(lock, At(8, 1)), 0u);
  txn::lock_word::Leave(lock, At(8, 1));
  EXPECT_EQ(word, 0u);
}

TEST(LockWord, HasReadersOrOneWriter) {
  std::uint64_t word = 0;
  const SharedWord lock(word);
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<std::uint64_t> upgrades{0};
  const std::uint64_t seed = TestSeed();
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(seed + thread);
      for (std::uint64_t i = 1; i <= 20'000; ++i) {
        const Timestamp timestamp = At(i, thread);
        const bool writes = random() % 4 == 0;
        std::uint64_t free = 0;
        if (writes && lock.compare_exchange_strong(free, timestamp)) {
          EXPECT_EQ(writers.fetch_add(1) + readers, 0);
          --writers;
          lock.store(0);
        } else if (!writes && txn::lock_word::Join(lock, timestamp) == 0) {
          ++readers;
          EXPECT_EQ(writers, 0);
          --readers;
          if (random() % 2 == 0 && txn::lock_word::Upgrade(lock, timestamp)) {
            ++upgrades;
            EXPECT_EQ(writers.fetch_add(1) + readers, 0);
            --writers;
            lock.store(0);
          } else {
            txn::lock_word::Leave(lock, timestamp);
          }
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(word, 0u);
  EXPECT_GT(upgrades, 0u);
}

// Two transactions of one coroutine, in turn: the first to begin is the older one.
void WithTwoAtHome(const std::string& name,
                   const std::function<void(txn::Table&, Transaction&, Transaction&)>& body) {
  OnTxnJob({.protocol = name, .nodes = 1}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol(name);
    const auto engine = *txn::Engine::Make(cluster, *protocol, {});
    txn::Table* const table = *engine->AddTable({"t", 8, 10});
    EXPECT_TRUE(engine->Run([&](Transaction& one) {
      Transaction other(*engine, one.task(), 0);
      body(*table, one, other);
    }));
  });
}

TEST(Locking, LetsTransactionsReadTogetherAtHome) {
  for (const char* const name : {"nowait", "waitdie"}) {
    WithTwoAtHome(name, [](txn::Table& table, Transaction& old, Transaction& young) {
      old.Begin();
      young.Begin();
      ASSERT_NE(old.Read(table, 1), nullptr);
      ASSERT_NE(young.Read(table, 1), nullptr);
      // It has read what the other reads as well, and so may not write it.
      young.Write(table, 1)->Put(std::uint64_t{1});
      EXPECT_FALSE(young.Commit());
      // Tried again it shares nothing, lest both go on like that.
      young.Begin(true);
      EXPECT_EQ(young.Read(table, 1), nullptr);
      EXPECT_TRUE(old.Commit());
      young.Begin(true);
      ASSERT_NE(young.Read(table, 1), nullptr);
      old.Begin();  // the younger one by now
      EXPECT_EQ(old.Read(table, 1), nullptr);
      young.Write(table, 1)->Put(std::uint64_t{2});
      EXPECT_TRUE(young.Commit());
      // Whoever reads alone becomes the writer, with what it has read and changed.
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

TEST(WaitDie, LetsNobodyJoinReadersWhileAWriterWaits) {
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

// All of them add to one number. How often one tries depends on how long the system lets the
// holder of the lock rest; so tries count only between which somebody has committed. Those that are
// older may let it die, each in its turn, and then it is the oldest.
TEST(WaitDie, LetsAnOldTransactionFinishSoon) {
  constexpr std::uint64_t kTransactions = 40;
  constexpr std::uint32_t kMostTries = 200;
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& commits = *new (shared) std::atomic<std::uint64_t>(0);  // of all nodes
  for (const char* const stages : {"rpc", "one-sided"}) {
    commits = 0;
    const TxnSetting setting{.protocol = "waitdie", .stages = stages};
    OnTxnJob(setting, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol("waitdie");
      txn::EngineOptions options{.coroutines = setting.coroutines};
      options.stages = *txn::StageCode::Parse(stages, "waitdie", protocol->stages());
      const auto engine = *txn::Engine::Make(cluster, *protocol, options);
      txn::Table* const table = *engine->AddTable({"t", 8, 10});
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        for (std::uint64_t i = 0; i < kTransactions; ++i) {
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
      engine->ForEachTuple(*table, [&](std::byte* tuple) {
        std::uint64_t sum;
        std::memcpy(&sum, tuple + table->version_at(0) + txn::kWordBytes, sizeof sum);
        EXPECT_EQ(sum, setting.nodes * setting.coroutines * kTransactions);
      });
    });
  }
  ::munmap(shared, sizeof(std::atomic<std::uint64_t>));
}

}  // namespace
}  // namespace slimgraph::test
