// Levels of isolation: which anomalies each admits and which it forbids, and histories.
#include "tests/support/list_append_checker.h"
#include "tests/support/rdma_devices.h"
#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Isolation;
using txn::Key;
using txn::Transaction;

constexpr Isolation kLevels[] = {Isolation::kSerializable, Isolation::kRepeatableRead,
                                 Isolation::kReadCommitted};
constexpr const char* kLockingProtocols[] = {"nowait", "waitdie", "boundedwait"};
// No test waits longer for a lock that is not released.
constexpr std::uint64_t kSoonNs = 200'000;

// Two transactions of one coroutine take turns, so nothing depends on chance. Every second key lies
// on another node. `old` begins first.
class Pair {
 public:
  Pair(txn::Table& table, Transaction& old, Transaction& young)
      : table_(table), old_(old), young_(young) {}

  void Begin() {
    old_.Begin();
    young_.Begin();
  }
  Transaction& old() { return old_; }
  Transaction& young() { return young_; }
  // Null: the transaction was aborted. The value 0: there is no record.
  Access* Read(Transaction& transaction, Key key) { return transaction.Read(table_, key); }
  Access* Write(Transaction& transaction, Key key) { return transaction.Write(table_, key); }
  bool Put(Transaction& transaction, Key key, std::uint64_t value) {
    Access* const access = Write(transaction, key);
    if (access == nullptr) return false;
    access->Put(value);
    return true;
  }
  static std::uint64_t ValueOf(const Access* access) {
    return access->exists() ? access->Get<std::uint64_t>() : 0;
  }
  // Stores a value before the scene.
  void Load(Key key, std::uint64_t value) {
    old_.Begin();
    ASSERT_TRUE(Set(old_, key, value));
  }
  // Commits one write.
  bool Set(Transaction& transaction, Key key, std::uint64_t value) {
    return Put(transaction, key, value) && transaction.Commit();
  }
  std::uint64_t Now(Key key) {
    old_.Begin();
    const std::uint64_t value = ValueOf(old_.Read(table_, key));
    EXPECT_TRUE(old_.Commit());
    return value;
  }

 private:
  txn::Table& table_;
  Transaction& old_;
  Transaction& young_;
};

using Scene = std::function<void(Pair&, Isolation)>;

// Plays a scene under each protocol with locks, at each level, and in each form of reads and locks,
// on keys of the own node and of another. Each time the scene begins on empty tables.
void Play(const Scene& scene) {
  for (const char* const name : kLockingProtocols) {
    for (const Isolation level : kLevels) {
      for (const char* const stages : {"rpc", "one-sided", "01111", "10000"}) {
        SCOPED_TRACE(fmt::format("{} at {}, {}", name, txn::IsolationName(level), stages));
        OnTxnJob({.protocol = name, .stages = stages, .nodes = 2, .compute = 1},
                 [&](Cluster& cluster) {
                   const auto protocol =
                       *txn::MakeProtocol(name, {.isolation = level, .lock_timeout_ns = kSoonNs});
                   txn::EngineOptions options;
                   options.passive = false;  // what has committed has released its locks
                   options.stages = *txn::StageCode::Parse(stages, name, protocol->stages());
                   const auto engine = *txn::Engine::Make(cluster, *protocol, options);
                   txn::Table* const table = *engine->tables().Add({"t", 8, 100});
                   EXPECT_TRUE(engine->Run([&](Transaction& one) {
                     Transaction other(*engine, one.task(), 0);
                     Pair pair(*table, one, other);
                     scene(pair, level);
                   }));
                 });
      }
    }
  }
}

TEST(Isolation, NoLevelAdmitsDirtyWrites) {
  Play([](Pair& pair, Isolation) {
    for (const Key key : {0, 1}) {
      pair.Begin();
      ASSERT_TRUE(pair.Put(pair.old(), key, 1));
      EXPECT_FALSE(pair.Put(pair.young(), key, 2));
      EXPECT_TRUE(pair.old().Commit());
      EXPECT_EQ(pair.Now(key), 1u);
    }
  });
}

TEST(Isolation, NoLevelAdmitsDirtyReads) {
  Play([](Pair& pair, Isolation) {
    for (const Key key : {0, 1}) {
      pair.Begin();
      ASSERT_TRUE(pair.Put(pair.old(), key, 1));
      EXPECT_EQ(pair.Read(pair.young(), key), nullptr) << "it was written, but not committed";
      pair.old().Abort();
      pair.young().Begin();
      Access* const access = pair.Read(pair.young(), key);
      ASSERT_NE(access, nullptr);
      EXPECT_EQ(Pair::ValueOf(access), 0u);
      EXPECT_TRUE(pair.young().Commit());
    }
  });
}

TEST(Isolation, OnlyReadCommittedAdmitsReadsOfTwoTimes) {
  Play([](Pair& pair, Isolation level) {
    for (const Key key : {0, 1}) {
      pair.Load(key, 1);
      pair.Load(key + 2, 1);
      pair.Begin();
      Access* const first = pair.Read(pair.old(), key);
      ASSERT_NE(first, nullptr);
      const std::uint64_t value = Pair::ValueOf(first);
      const bool changed = pair.Put(pair.young(), key, 2) && pair.Put(pair.young(), key + 2, 2) &&
                           pair.young().Commit();
      EXPECT_EQ(changed, level == Isolation::kReadCommitted);
      Access* const second = pair.Read(pair.old(), key + 2);
      ASSERT_NE(second, nullptr);
      EXPECT_EQ(Pair::ValueOf(second) != value, level == Isolation::kReadCommitted);
      EXPECT_TRUE(pair.old().Commit());
    }
  });
}

// A record that is written after it was read is read again, and then stays.
TEST(Isolation, NoLevelLosesUpdatesOfWhatIsReadForWriting) {
  Play([](Pair& pair, Isolation level) {
    for (const Key key : {0, 1}) {
      pair.Load(key, 10);
      pair.Begin();
      ASSERT_NE(pair.Read(pair.old(), key), nullptr);
      const bool between = pair.Set(pair.young(), key, 20);
      EXPECT_EQ(between, level == Isolation::kReadCommitted);
      Access* const access = pair.Read(pair.old(), key);
      ASSERT_EQ(Pair::ValueOf(access), 10u) << "it was read before";
      if (!pair.Put(pair.old(), key, 0)) FAIL() << "nobody holds the lock";
      access->Put(std::uint64_t{1} + (between ? 20 : 10));
      pair.young().Begin();
      EXPECT_FALSE(pair.Put(pair.young(), key, 30)) << "the lock is held from here on";
      EXPECT_TRUE(pair.old().Commit());
      EXPECT_EQ(pair.Now(key), between ? 21u : 11u);
    }
  });
}

TEST(Isolation, AWriteAfterAReadSeesWhatWasCommittedBetween) {
  Play([](Pair& pair, Isolation level) {
    if (level != Isolation::kReadCommitted) return;
    for (const Key key : {0, 1}) {
      pair.Load(key, 10);
      pair.Begin();
      Access* const access = pair.Read(pair.old(), key);
      ASSERT_NE(access, nullptr);
      ASSERT_TRUE(pair.Set(pair.young(), key, 20));
      ASSERT_TRUE(pair.Put(pair.old(), key + 2, 5));
      EXPECT_EQ(Pair::ValueOf(access), 10u) << "another record is written";
      EXPECT_EQ(Pair::ValueOf(pair.Write(pair.old(), key)), 20u);
      access->Put(Pair::ValueOf(access) + 1);
      EXPECT_TRUE(pair.old().Commit());
      EXPECT_EQ(pair.Now(key), 21u);
    }
  });
}

TEST(Isolation, OnlyReadCommittedAdmitsWriteSkew) {
  Play([](Pair& pair, Isolation level) {
    for (const Key key : {0, 1}) {
      pair.Load(key, 1);
      pair.Load(key + 2, 1);
      pair.Begin();
      // Each sets one record to 2 if the other is 1. One after the other, only one would.
      ASSERT_NE(pair.Read(pair.old(), key), nullptr);
      const bool reads = pair.Read(pair.young(), key + 2) != nullptr;
      const bool young = reads && pair.Put(pair.young(), key, 2) && pair.young().Commit();
      const bool old = pair.Put(pair.old(), key + 2, 2) && pair.old().Commit();
      EXPECT_EQ(old && young, level == Isolation::kReadCommitted);
      EXPECT_TRUE(old || young);
    }
  });
}

TEST(Isolation, OnlySerializabilityForbidsPhantoms) {
  Play([](Pair& pair, Isolation level) {
    for (const Key key : {0, 1}) {
      pair.Begin();
      // Each inserts a record if it does not find the other's.
      Access* const absent = pair.Read(pair.old(), key);
      ASSERT_NE(absent, nullptr);
      EXPECT_EQ(Pair::ValueOf(absent), 0u);
      const bool reads = pair.Read(pair.young(), key + 2) != nullptr;
      const bool young = reads && pair.Put(pair.young(), key, 2) && pair.young().Commit();
      const bool old = pair.Put(pair.old(), key + 2, 2) && pair.old().Commit();
      EXPECT_EQ(old && young, level != Isolation::kSerializable);
      EXPECT_TRUE(old || young);
    }
  });
}

// Whoever has found no record and then inserts one does not overwrite another's insertion.
TEST(Isolation, NoLevelInsertsARecordTwice) {
  Play([](Pair& pair, Isolation level) {
    for (const Key key : {0, 1}) {
      pair.Begin();
      ASSERT_NE(pair.Read(pair.old(), key), nullptr);
      const bool young = pair.Set(pair.young(), key, 2);
      EXPECT_EQ(young, level != Isolation::kSerializable);
      EXPECT_EQ(pair.Put(pair.old(), key, 1) && pair.old().Commit(), !young);
      EXPECT_EQ(pair.Now(key), young ? 2u : 1u);
    }
  });
}

Level LevelOf(Isolation isolation) {
  return isolation == Isolation::kReadCommitted    ? Level::kReadCommitted
         : isolation == Isolation::kRepeatableRead ? Level::kRepeatableRead
                                                   : Level::kStrictSerializable;
}

void ExpectHistoryOf(Isolation level, const TxnSetting& setting) {
  SCOPED_TRACE(txn::IsolationName(level));
  const auto protocol = *txn::MakeProtocol(
      setting.protocol, {.isolation = level, .lock_timeout_ns = kBriefWaits.lock_timeout_ns});
  OnTxnJob(setting, [&](Cluster& cluster) {
    DriveSetting(cluster, setting, *protocol,
                 [&](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult& result) {
                   const auto lines = Lines(engine, workload, result);
                   EXPECT_GT(result.figures.committed, 20u);
                   if (engine.self() != 0) return;
                   EXPECT_EQ(CheckListAppend(lines, LevelOf(level)), "");
                 });
  });
}

TEST(Isolation, HistoriesAreThoseOfTheirLevel) {
  std::mt19937_64 random(TestSeed());
  for (const char* const name : kLockingProtocols) {
    for (const Isolation level : {Isolation::kRepeatableRead, Isolation::kReadCommitted}) {
      for (const std::string& stages :
           {std::string("rpc"), std::string("one-sided"), RandomStages(name, random)}) {
        TxnSetting setting{.protocol = name,
                           .stages = stages,
                           .transport = random() % 2 == 0 ? "shm" : "tcp",
                           .coroutines = random() % 4 == 0 ? 1u : 8u,
                           .delay_us = random() % 2 == 0 ? 0u : 20u};
        setting.work.seed = random();
        ExpectHistoryOf(level, setting);
      }
    }
  }
}

TEST(VerbsIsolation, HistoriesAreThoseOfTheirLevel) {
  if (RdmaDevices().empty()) GTEST_SKIP() << "no RDMA device";
  for (const char* const name : {"nowait", "boundedwait"}) {
    for (const Isolation level : {Isolation::kRepeatableRead, Isolation::kReadCommitted}) {
      TxnSetting setting{.protocol = name, .transport = "verbs", .transactions = 60};
      setting.work.seed = TestSeed();
      ExpectHistoryOf(level, setting);
    }
  }
}

// The level shows in histories: sooner or later one is not serializable.
TEST(Isolation, HistoriesUnderReadCommittedAreNotSerializable) {
  constexpr std::uint64_t kMostRuns = 50;
  const std::uint64_t seed = TestSeed();
  const auto protocol = *txn::MakeProtocol("nowait", {.isolation = Isolation::kReadCommitted});
  const SharedNumber rejected;
  std::uint64_t runs = 0;
  for (; runs < kMostRuns && *rejected == 0; ++runs) {
    TxnSetting setting{.protocol = "nowait", .stages = "rpc", .transactions = 300, .delay_us = 20};
    setting.work.seed = seed + runs;
    setting.work.rows = 4;
    OnTxnJob(setting, [&](Cluster& cluster) {
      DriveSetting(
          cluster, setting, *protocol,
          [&](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult& result) {
            const auto lines = Lines(engine, workload, result);
            if (engine.self() != 0) return;
            *rejected = CheckListAppend(lines, Level::kSerializable).empty() ? 0 : 1;
          });
    });
  }
  EXPECT_LT(runs, kMostRuns);
}

// Under each protocol with locks, at one of the weaker levels.
TEST(Isolation, WorkloadsKeepTheirData) {
  std::mt19937_64 random(TestSeed());
  for (const char* const workload : {"smallbank", "ycsb", "tpcc-neworder"}) {
    for (const char* const name : kLockingProtocols) {
      const Isolation level =
          random() % 2 == 0 ? Isolation::kRepeatableRead : Isolation::kReadCommitted;
      TxnSetting setting{.protocol = name,
                         .stages = RandomStages(name, random),
                         .workload = workload,
                         .transactions = 60};
      setting.work.rows = workload == std::string("tpcc-neworder") ? 2 : 40;
      SCOPED_TRACE(txn::IsolationName(level));
      const auto protocol = *txn::MakeProtocol(
          name, {.isolation = level, .lock_timeout_ns = kBriefWaits.lock_timeout_ns});
      OnTxnJob(setting, [&](Cluster& cluster) {
        DriveSetting(cluster, setting, *protocol,
                     [](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
                       EXPECT_GT(result.figures.committed, 0u);
                     });
      });
    }
  }
}

TEST(Isolation, IsOnlyForProtocolsWithLocks) {
  for (const std::string& name : AllProtocols()) {
    const bool locks = std::find(std::begin(kLockingProtocols), std::end(kLockingProtocols),
                                 name) != std::end(kLockingProtocols);
    const auto made = txn::MakeProtocol(name, {.isolation = Isolation::kReadCommitted});
    ASSERT_EQ(made.has_value(), locks) << name;
    if (locks) continue;
    EXPECT_EQ(
        made.error().message,
        fmt::format("--isolation read-committed needs a protocol with locks, nowait, waitdie, "
                    "boundedwait; not {}",
                    name));
  }
}

}  // namespace
}  // namespace slimgraph::test
