// Read timestamps (stages/read_at.h): read-only transactions read the state of one moment, without
// aborts, beside transactions that write.
#include <map>

#include "slimgraph/base/clock.h"

#include "tests/support/list_append_checker.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/turns.h"
#include "txnlayer/internal/store/old_versions.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Timestamps;
using txn::Transaction;

class ReadTimes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ReadTimes, ::testing::ValuesIn(kTimed),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(ReadTimes, AreForSomeProtocolsAndForSerializability) {
  EXPECT_TRUE(txn::MakeProtocol(GetParam(), Timed()));
  for (const char* const other : {"to", "sundial", "calvin"}) {
    const auto made = txn::MakeProtocol(other, Timed());
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              "--timestamps dst needs nowait, waitdie, boundedwait, occ or mvcc; not " +
                  std::string(other));
  }
  txn::ProtocolOptions counted = Timed();
  counted.timestamps = Timestamps::kGlobal;
  EXPECT_EQ(txn::MakeProtocol("mvcc", counted).error().message,
            "--timestamps global needs nowait, waitdie, boundedwait or occ; not mvcc");
  txn::ProtocolOptions weaker = Timed();
  weaker.isolation = txn::Isolation::kReadCommitted;
  const auto made = txn::MakeProtocol(GetParam(), weaker);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "--timestamps dst needs --isolation serializable, not read-committed");
}

// --- histories

void ExpectSerializable(TxnSetting setting) {
  if (setting.timestamps == Timestamps::kNone) setting.timestamps = Timestamps::kDst;
  setting.work.seed = TestSeed();
  RunSetting(setting, [&](txn::Engine& engine, txn::Workload& workload, const txn::DriveResult& r) {
    const auto lines = Lines(engine, workload, r);
    EXPECT_GT(r.figures.read_only, 0u) << NameOf(setting);
    EXPECT_EQ(r.figures.read_only_aborts, 0u)
        << NameOf(setting) << ::testing::PrintToString(r.figures.aborted);
    if (engine.self() != 0) return;
    EXPECT_EQ(CheckListAppend(lines, Level::kSerializable), "") << NameOf(setting);
    EXPECT_EQ(AskAdya(lines, false), "") << NameOf(setting);
  });
}

TEST_P(ReadTimes, KeepHistoriesSerializableInBothFormsOfAllStages) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    for (const char* const transport : {"shm", "tcp"}) {
      ExpectSerializable({.protocol = GetParam(), .stages = stages, .transport = transport});
    }
  }
}

TEST_P(ReadTimes, KeepHistoriesSerializableWithMixedForms) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 4; ++i) {
    ExpectSerializable({.protocol = GetParam(),
                        .stages = RandomStages(GetParam(), random),
                        .mix_stages = random() % 2 == 0,
                        .transport = random() % 2 == 0 ? "shm" : "tcp",
                        .compute = random() % 2 == 0 ? 0u : 2u,
                        .threads = static_cast<std::uint32_t>(1 + random() % 2),
                        .transactions = 100,
                        .delay_us = random() % 2 == 0 ? 0u : 50u,
                        .without = std::array{"", "outstanding,doorbells,passive,cache",
                                              "own-home"}[random() % 3]});
  }
}

TEST_P(ReadTimes, OfCountersKeepHistoriesSerializable) {
  if (GetParam() == std::string("mvcc")) return;
  std::mt19937_64 random(TestSeed());
  for (const Timestamps timestamps : {Timestamps::kGlobal, Timestamps::kVector}) {
    for (const char* const stages : {"rpc", "one-sided"}) {
      for (const char* const transport : {"shm", "tcp"}) {
        ExpectSerializable({.protocol = GetParam(),
                            .stages = stages,
                            .mix_stages = random() % 4 == 0,
                            .transport = transport,
                            .threads = static_cast<std::uint32_t>(1 + random() % 2),
                            .transactions = 100,
                            .timestamps = timestamps});
      }
    }
  }
}

TEST_P(ReadTimes, KeepHistoriesOfGraphsSerializableDuringFolds) {
  TxnSetting setting{.protocol = GetParam(), .workload = "graph-append", .transactions = 300};
  setting.work.fold_share = 0.01;
  setting.work.rows = 60;
  ExpectSerializable(setting);
  setting.workload = "index-append";
  setting.stages = "rpc";
  setting.transport = "tcp";
  ExpectSerializable(setting);
}

TEST_P(ReadTimes, KeepHistoriesSerializableWhenNodesDie) {
  std::mt19937_64 random(TestSeed());
  for (const char* const workload : {"list-append", "graph-append", "index-append"}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .workload = workload,
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .transactions = 100,
                       .replicas = 2,
                       .timestamps = Timestamps::kDst};
    setting.death = {.node = 1 + random() % 2,
                     .stage = random() % 2 == 0 ? txn::Stage::kCommit : txn::Stage::kLock,
                     .times = 1 + random() % 60};
    setting.work.seed = random();
    RunSetting(setting, [&](txn::Engine& engine, txn::Workload& work, const txn::DriveResult& r) {
      const auto lines = Lines(engine, work, r);
      if (engine.self() != 0) return;
      EXPECT_EQ(CheckListAppend(lines, Level::kSerializable), "") << NameOf(setting);
    });
  }
}

// Every workload verifies what its transactions have seen.
TEST_P(ReadTimes, ServeAllWorkloads) {
  std::mt19937_64 random(TestSeed());
  for (const char* const workload : {"smallbank", "ycsb", "ycsb-a", "ycsb-d", "ycsb-e", "tpcc"}) {
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .workload = workload,
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .compute = 2,
                       .transactions = 60,
                       .timestamps = Timestamps::kDst};
    const bool full = workload == std::string("tpcc");
    setting.work.rows = full ? 3 : 200;
    if (full) setting.work.population = 0.02;
    if (workload[0] == 'y') setting.work.record_bytes = 2000;
    RunSetting(setting, [&](txn::Engine&, txn::Workload&, const txn::DriveResult& r) {
      EXPECT_GT(r.figures.committed, 0u) << NameOf(setting);
      EXPECT_EQ(r.figures.read_only_aborts, 0u) << NameOf(setting);
    });
  }
}

// --- single steps

TEST_P(ReadTimes, ShowTheStateOfOneMoment) {
  WithTurns(GetParam(), 8, [](const Turns& turns) {
    const std::vector<Key> keys = {1, 2, 3, 4};
    turns.Write(keys, 1);
    turns.BeginReading();
    EXPECT_EQ(turns.Read(1), 1u);
    for (std::uint64_t value = 2; value < 100; ++value) turns.Write(keys, value);
    for (const Key key : keys) EXPECT_EQ(turns.Read(key), 1u);
    EXPECT_EQ(turns.Read(1), 1u);
    EXPECT_TRUE(turns.reader.Commit());
    // The next one sees what this thread has committed.
    for (std::uint64_t value = 100; value < 120; ++value) {
      turns.Write(keys, value);
      turns.BeginReading();
      for (const Key key : keys) EXPECT_EQ(turns.Read(key), value);
      EXPECT_TRUE(turns.reader.Commit());
    }
  });
}

TEST_P(ReadTimes, ShowThatRecordsWereAbsent) {
  WithTurns(GetParam(), 8, [](const Turns& turns) {
    turns.BeginReading();
    EXPECT_EQ(turns.Read(1), 0u);  // has never existed
    turns.Write({1, 2}, 7);
    EXPECT_EQ(turns.Read(2), 0u);
    EXPECT_EQ(turns.Read(1), 0u);
    EXPECT_TRUE(turns.reader.Commit());
    turns.BeginReading();
    EXPECT_EQ(turns.Read(1), 7u);
    turns.writer.Begin();
    for (const Key key : {1, 2}) {
      Access* const access = turns.writer.Write(turns.table, key);
      ASSERT_NE(access, nullptr);
      Transaction::Delete(*access);
    }
    EXPECT_TRUE(turns.writer.Commit());
    EXPECT_EQ(turns.Read(2), 7u);
    EXPECT_TRUE(turns.reader.Commit());
    turns.BeginReading();
    EXPECT_EQ(turns.Read(2), 0u);
    EXPECT_TRUE(turns.reader.Commit());
    turns.BeginReading();
    EXPECT_EQ(turns.Read(3), 0u);
    turns.Write(3, 1);  // its first version is later than this reader
    turns.Write(3, 2);
    turns.Write(4, 2);
    EXPECT_EQ(turns.Read(4), 0u);
    EXPECT_TRUE(turns.reader.AbortIfConsistent());
  });
}

// Versions are kept until the reader has ended, or until there is no room. Then the reader is
// aborted, and sees the new state when it is tried again.
TEST_P(ReadTimes, EndWhenVersionsHaveNoRoom) {
  constexpr std::uint64_t kFits = 50;  // versions of records of 2,000 bytes in kRoomOfTurns
  WithTurns(GetParam(), 2000, [](const Turns& turns) {
    for (const Key key : {1, 2}) {
      turns.Write(key, 1);
      turns.BeginReading();
      std::uint64_t value = 2;
      for (; value < kFits; ++value) turns.Write(key, value);
      EXPECT_EQ(turns.Read(key), 1u);
      EXPECT_TRUE(turns.reader.Commit());
      // That room is free again, and used again, while nobody reads.
      for (const std::uint64_t end = value + 3 * kFits; value < end; ++value)
        turns.Write(key, value);
      turns.BeginReading();
      for (const std::uint64_t end = value + 2 * kFits; value < end; ++value)
        turns.Write(key, value);
      EXPECT_EQ(turns.reader.Read(turns.table, key), nullptr);
      EXPECT_EQ(turns.reader.reason(), txn::AbortReason::kNoVersion);
      EXPECT_EQ(turns.reader.figures().read_only_aborts, key);
      turns.reader.Begin(true, NowNs(), true);
      EXPECT_EQ(turns.Read(key), value - 1);
      EXPECT_TRUE(turns.reader.Commit());
    }
  });
}

// A reader claims its time on what it reads, so a transaction that writes it later must not commit
// before that time, even if it is older. Under protocols that commit at timestamps, it is aborted.
TEST_P(ReadTimes, AreNotOvertakenByOlderWriters) {
  WithTurns(GetParam(), 8, [](const Turns& turns) {
    turns.Write({1, 2}, 1);
    turns.writer.Begin();
    turns.BeginReading();
    EXPECT_EQ(turns.Read(1), 1u);
    const auto writes = [&](Key key) {
      Access* const access = turns.writer.Write(turns.table, key);
      if (access == nullptr) return false;
      access->Put(std::uint64_t{2});
      return true;
    };
    if (turns.writer.engine().protocol().commits_at_timestamp()) {
      EXPECT_FALSE(writes(1));
      EXPECT_EQ(turns.writer.reason(), txn::AbortReason::kTooLate);
    } else {
      EXPECT_TRUE(writes(1) && writes(2) && turns.writer.Commit());
    }
    EXPECT_EQ(turns.Read(2), 1u);
    EXPECT_TRUE(turns.reader.Commit());
  });
}

// The record's kept version was overwritten by one of another table, with the same key, time and
// count of writes.
TEST(KeptVersions, AreNotTakenForThoseOfAnotherTable) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    constexpr Key kKey = 7;
    const auto protocol = Unwrap(txn::MakeProtocol("occ", Timed()));
    const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, {}));
    txn::Table* const table = Unwrap(engine->tables().Add({"t", 8, 1000}));
    txn::Table* const other = Unwrap(engine->tables().Add({"u", 8, 1000}));
    EXPECT_TRUE(engine->Run([&](Transaction& writer) {
      Transaction reader(*engine, writer.task(), 0);
      const auto write = [&](std::uint64_t value) {
        writer.Begin();
        Access* const in_table = writer.Write(*table, kKey);
        Access* const in_other = writer.Write(*other, kKey);
        in_table->Put(value);
        in_other->Put(value + 100);
        EXPECT_TRUE(writer.Commit());
        return std::pair{*in_table, *in_other};
      };
      write(1);
      reader.Begin(false, NowNs(), true);
      const auto [mine, others] = write(2);
      const std::uint64_t bytes = txn::OldVersions::KeptBytes(table->image_bytes());
      std::byte* const memory = table->old_versions()->memory();
      const txn::KeptVersion kept{memory + mine.kept_at};
      const txn::KeptVersion wrong{memory + others.kept_at};
      ASSERT_EQ(kept.written(), wrong.written());
      std::memcpy(kept.bytes, wrong.bytes, bytes);
      kept.Seal(bytes, wrong.written(), wrong.older(), {other->id(), mine.kept_at});
      EXPECT_EQ(reader.Read(*table, kKey), nullptr);
      reader.Drain();
    }));
  });
}

// --- the room for replaced versions

TEST(KeptRoom, IsNotGivenTwiceWhileItIsNeeded) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    std::mt19937_64 random(TestSeed());
    const auto all = Unwrap(txn::OldVersions::Make(cluster.fabric(), 2, 4 << 20));
    txn::KeptRoom room(*all, 0, 1, 1);
    const txn::VersionLink first = all->RoomOf(0, 1);
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> taken;  // begin: end, until
    std::uint64_t refused = 0;
    std::uint64_t horizon = 0;
    for (std::uint64_t time = 1; time < 200'000; ++time) {
      const std::uint64_t bytes = 8 * (1 + random() % 250);
      const txn::VersionLink at = room.Take(0, bytes, time);
      if (at == txn::kNotKept) {
        ++refused;
        EXPECT_TRUE(room.crowded());
      } else {
        ASSERT_GE(at, first);
        ASSERT_LE(at + bytes, first + all->room_bytes());
        const auto next = taken.lower_bound(at);
        ASSERT_TRUE(next == taken.end() || at + bytes <= next->first);
        ASSERT_TRUE(next == taken.begin() || std::prev(next)->second.first <= at);
        taken[at] = {at + bytes, time};
      }
      if (random() % 3000 != 0) continue;
      horizon = std::max(horizon, time - std::min(time, random() % 6000));
      room.SetHorizon(horizon);
      std::erase_if(taken, [&](const auto& one) { return one.second.second < horizon; });
    }
    EXPECT_GT(refused, 0u);
    EXPECT_LT(refused, 150'000u);
  });
}

}  // namespace
}  // namespace slimgraph::test
