// SUNDIAL's lock, which is taken together with the read of the record, and its leases.
#include "tests/txnlayer/support.h"
#include "txnlayer/transaction.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Stage;
using txn::Transaction;
using txn::Want;

constexpr const char* kForms[] = {"one-sided", "rpc"};

std::uint64_t Runs(Transaction& transaction, Stage stage) {
  const auto& runs = transaction.figures().stage_runs;
  return runs[0][static_cast<std::size_t>(stage)] + runs[1][static_cast<std::size_t>(stage)];
}

// The next key whose tuple is on the same node.
Key NextTo(const txn::Table& table, Key key) {
  Key next = key + 1;
  while (table.Home(next) != table.Home(key)) ++next;
  return next;
}

TEST(Sundial, LocksAndReadsByOneStageUnlessItRetries) {
  for (const char* const stages : {"one-sided", "rpc", "100000", "010000"}) {
    WithTwoAfar("sundial", stages, [&](txn::Table& table, Key key, Transaction& one, Transaction&) {
      for (const bool again : {false, true}) {
        const std::uint64_t reads = Runs(one, Stage::kRead);
        const std::uint64_t locks = Runs(one, Stage::kLock);
        one.Begin(again);
        Access* const access = one.Write(table, key);
        ASSERT_NE(access, nullptr);
        EXPECT_EQ(access->exists() ? access->Get<std::uint64_t>() : 0U, again ? 1U : 0U);
        access->Put(std::uint64_t{again ? 2U : 1U});
        EXPECT_TRUE(one.Commit());
        const bool together = one.one_sided(Stage::kRead) == one.one_sided(Stage::kLock) && !again;
        EXPECT_EQ(Runs(one, Stage::kRead) - reads, together ? 0U : 1U);
        EXPECT_EQ(Runs(one, Stage::kLock) - locks, 1U);
      }
    });
  }
}

// One tuple is on the own node. By message, the other's home tells the abort while the transaction
// is still among the lockers of the first.
TEST(Sundial, WhoeverFindsALockerGivesUpAndLeavesNothing) {
  for (const char* const stages : kForms) {
    WithTwoAfar("sundial", stages,
                [](txn::Table& table, Key far, Transaction& one, Transaction& other) {
                  Key near = 1;
                  while (table.Home(near) != 0) ++near;
                  const Want wants[] = {{&table, near, true}, {&table, far, true}};
                  Access* accesses[2] = {};
                  const auto put = [&](std::uint64_t value) {
                    for (Access* const access : accesses) access->Put(value);
                  };
                  one.Begin();
                  ASSERT_TRUE(one.Fetch(wants, accesses));
                  put(1);
                  Access* others[2] = {};
                  other.Begin();
                  EXPECT_FALSE(other.Fetch(wants, others));
                  EXPECT_EQ(other.reason(), txn::AbortReason::kLocked);
                  EXPECT_TRUE(one.Commit());
                  // After a conflict it reads first.
                  const std::uint64_t reads = Runs(other, Stage::kRead);
                  other.Begin();
                  ASSERT_TRUE(other.Fetch(wants, accesses));
                  EXPECT_EQ(Runs(other, Stage::kRead) - reads, 1U);
                  for (const Access* const access : accesses)
                    EXPECT_EQ(access->Get<std::uint64_t>(), 1U);
                  put(2);
                  EXPECT_TRUE(other.Commit());
                  one.Begin();
                  ASSERT_TRUE(one.Fetch(wants, accesses));
                  for (const Access* const access : accesses)
                    EXPECT_EQ(access->Get<std::uint64_t>(), 2U);
                  EXPECT_TRUE(one.Commit());
                });
  }
}

TEST(Sundial, FetchesThatHaveBegunEndAsTheyBegan) {
  for (const char* const stages : kForms) {
    WithTwoAfar("sundial", stages,
                [](txn::Table& table, Key key, Transaction& one, Transaction& other) {
                  const Want writes[] = {{&table, key, true}};
                  const Want reads[] = {{&table, key, false}};
                  Access* access = nullptr;
                  one.Begin();
                  ASSERT_TRUE(one.StartFetch(writes, &access));
                  one.Abort();  // gives the lock back
                  other.Begin();
                  ASSERT_NE(other.Write(table, key), nullptr);
                  other.Write(table, key)->Put(std::uint64_t{1});
                  EXPECT_TRUE(other.Commit());
                  // Begun as a read, and then to be written.
                  one.Begin();
                  ASSERT_TRUE(one.StartFetch(reads, &access));
                  ASSERT_TRUE(one.Fetch(writes, &access));
                  EXPECT_EQ(access->Get<std::uint64_t>(), 1U);
                  EXPECT_TRUE(access->locked);
                  access->Put(std::uint64_t{2});
                  EXPECT_TRUE(one.Commit());
                  other.Begin();
                  ASSERT_NE(other.Write(table, key), nullptr);
                  EXPECT_EQ(other.Read(table, key)->Get<std::uint64_t>(), 2U);
                  EXPECT_TRUE(other.Commit());
                });
  }
}

// Coroutines of two nodes add to the same two records, each in one Fetch.
TEST(Sundial, LockersThatComeAndGoLoseNoWrite) {
  constexpr std::uint64_t kTimes = 200;
  constexpr int kMostTries = 500;
  constexpr std::uint32_t kCoroutines = 8;
  for (const char* const stages : kForms) {
    SCOPED_TRACE(stages);
    OnTxnJob({.protocol = "sundial", .nodes = 2}, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol("sundial");
      txn::EngineOptions options{.coroutines = kCoroutines};
      options.stages = *txn::StageCode::Parse(stages, "sundial", protocol->stages());
      const auto engine = *txn::Engine::Make(cluster, *protocol, options);
      txn::Table* const table = *engine->tables().Add({"t", 8, 10});
      // Others run before a coroutine learns that it is not the only locker.
      for (const NodeId node : {0, 1}) {
        cluster.fabric().endpoint(0).faults().Delay(node, std::chrono::microseconds(20));
      }
      const auto add = [&](Transaction& transaction) {
        const Want wants[] = {{table, 1, true}, {table, 2, true}};
        Access* accesses[2] = {};
        if (!transaction.Fetch(wants, accesses)) return false;
        for (Access* const access : accesses) {
          access->Put(access->exists() ? access->Get<std::uint64_t>() + 1 : 1);
        }
        return transaction.Commit();
      };
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        for (std::uint64_t i = 0; i < kTimes; ++i) {
          int tries = 0;
          for (bool done = false; !done && tries < kMostTries; ++tries) {
            transaction.Begin(tries > 0);
            done = add(transaction);
            if (!done) transaction.BackOff(tries);
          }
          ASSERT_LT(tries, kMostTries);
        }
        transaction.Drain();
      }));
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        if (transaction.process() != 0) return;
        transaction.Begin();
        for (const Key key : {1, 2}) {
          EXPECT_EQ(transaction.Read(*table, key)->Get<std::uint64_t>(), 2 * kCoroutines * kTimes);
        }
        EXPECT_TRUE(transaction.Commit());
      }));
      engine->tables().ForEachTuple([&](txn::Table&, std::byte* tuple) {
        std::uint64_t word;
        std::memcpy(&word, tuple, sizeof word);
        EXPECT_TRUE(protocol->LocksFree(&word));
      });
    });
  }
}

// More coroutines than a tuple's word can count lock as they did before: by a CAS.
TEST(Sundial, TooManyLockersReadFirst) {
  constexpr std::uint32_t kCoroutines = txn::kMaxCoroutines;
  constexpr NodeId kFour = 4;
  static_assert(kFour * kCoroutines == txn::lease_word::kMostLockers + 1);
  OnTxnJob({.protocol = "sundial", .nodes = kFour}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("sundial");
    const auto engine = *txn::Engine::Make(cluster, *protocol, {.coroutines = kCoroutines});
    txn::Table* const table = *engine->tables().Add({"t", 8, 10});
    EXPECT_TRUE(engine->Run([&](Transaction& transaction) {
      if (transaction.process() != 0) return;
      transaction.Begin();
      ASSERT_NE(transaction.Write(*table, 1), nullptr);
      EXPECT_TRUE(transaction.Commit());
      EXPECT_EQ(Runs(transaction, Stage::kRead), 1U);
    }));
  });
}

// A record that is only read, beside one whose time runs ahead further than a lease can be long.
TEST(Sundial, LeasesThatAreLongerThanTheirFieldMoveTheVersion) {
  for (const char* const stages : kForms) {
    WithTwoAfar("sundial", stages,
                [](txn::Table& table, Key key, Transaction& one, Transaction& other) {
                  const Key next = NextTo(table, key);
                  constexpr std::uint64_t kWrites = 3 * txn::lease_word::kLengthMask;
                  one.Begin();
                  one.Write(table, key)->Put(std::uint64_t{7});
                  EXPECT_TRUE(one.Commit());
                  for (std::uint64_t i = 1; i <= kWrites; ++i) {
                    one.Begin();
                    one.Write(table, next)->Put(i);
                    ASSERT_TRUE(one.Commit());
                  }
                  other.Begin();
                  ASSERT_NE(other.Read(table, key), nullptr);
                  one.Begin();
                  EXPECT_EQ(one.Read(table, key)->Get<std::uint64_t>(), 7U);
                  Access* const written = one.Write(table, next);
                  EXPECT_EQ(written->Get<std::uint64_t>(), kWrites);
                  EXPECT_TRUE(one.Commit());
                  const std::uint64_t read_at = written->commit_timestamp;
                  EXPECT_GT(read_at, kWrites);
                  // What this one has read is now taken for another version.
                  EXPECT_EQ(other.Write(table, next)->Get<std::uint64_t>(), kWrites);
                  EXPECT_FALSE(other.Commit());
                  EXPECT_EQ(other.reason(), txn::AbortReason::kChanged);
                  // The next version is later than all reads of this one.
                  other.Begin();
                  Access* const overwritten = other.Write(table, key);
                  overwritten->Put(std::uint64_t{8});
                  EXPECT_TRUE(other.Commit());
                  EXPECT_GT(overwritten->commit_timestamp, read_at);
                });
  }
}

}  // namespace
}  // namespace slimgraph::test
