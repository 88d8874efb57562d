// Locks of NOWAIT, WAITDIE and BOUNDEDWAIT: which transactions share them, and that none waits
// forever.
#include <sys/mman.h>

#include "slimgraph/base/sync.h"
#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Transaction;

using WithTwoHere = std::function<void(txn::Table&, Transaction&, Transaction&)>;

// Two transactions of one coroutine take turns. The first to begin is the older one.
void WithTwoAtHome(const std::string& name, const WithTwoHere& body) {
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

// The home joins them if all that they do with the lock goes by message, however they read.
TEST(Locking, ReadersOfOtherNodesShareALockByMessage) {
  for (const char* const name : {"nowait", "waitdie", "boundedwait"}) {
    for (const char* const stages : {"rpc", "10000", "00100"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, stages));
      WithTwoAfar(name, stages,
                  [](txn::Table& table, Key key, Transaction& old, Transaction& young) {
                    old.Begin();
                    young.Begin();
                    Access* const first = old.Read(table, key);
                    ASSERT_NE(first, nullptr);
                    Access* const second = young.Read(table, key);
                    ASSERT_NE(second, nullptr);
                    EXPECT_TRUE(first->shared && second->shared);
                    young.Write(table, key)->Put(std::uint64_t{1});
                    EXPECT_FALSE(young.Commit());
                    young.Begin(true);
                    EXPECT_EQ(young.Read(table, key), nullptr);
                    EXPECT_TRUE(old.Commit());
                    young.Begin(true);
                    ASSERT_NE(young.Read(table, key), nullptr);
                    old.Begin();
                    EXPECT_EQ(old.Read(table, key), nullptr);
                    young.Write(table, key)->Put(std::uint64_t{2});
                    EXPECT_TRUE(young.Commit());
                    // A reader that is alone upgrades to a writer. No lock is left after it.
                    young.Begin();
                    Access* const access = young.Read(table, key);
                    ASSERT_NE(access, nullptr);
                    EXPECT_EQ(access->Get<std::uint64_t>(), 2u);
                    young.Write(table, key)->Put(access->Get<std::uint64_t>() + 1);
                    EXPECT_TRUE(young.Commit());
                    old.Begin();
                    ASSERT_NE(old.Write(table, key), nullptr);
                    EXPECT_EQ(old.Read(table, key)->Get<std::uint64_t>(), 3u);
                    EXPECT_TRUE(old.Commit());
                  });
    }
  }
}

TEST(Locking, ReadersThatLockOneSidedDoNotShare) {
  for (const char* const stages : {"one-sided", "11000", "00010", "00001"}) {
    SCOPED_TRACE(stages);
    WithTwoAfar("nowait", stages,
                [](txn::Table& table, Key key, Transaction& one, Transaction& other) {
                  one.Begin();
                  other.Begin();
                  Access* const access = one.Read(table, key);
                  ASSERT_NE(access, nullptr);
                  EXPECT_FALSE(access->shared);
                  EXPECT_EQ(other.Read(table, key), nullptr);
                  EXPECT_TRUE(one.Commit());
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
