// Read timestamps (stages/read_at.h): read-only transactions read the state of one moment, without
// aborts, beside transactions that write.
#include <map>

#include "slimgraph/base/clock.h"

#include "tests/support/list_append_checker.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/internal/store/old_versions.h"
#include "txnlayer/transaction.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Timestamps;
using txn::Transaction;

txn::ProtocolOptions Timed() {
  txn::ProtocolOptions options = kBriefWaits;
  options.timestamps = Timestamps::kDst;
  return options;
}

constexpr const char* kTimed[] = {"nowait", "waitdie", "boundedwait", "occ"};

class ReadTimes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ReadTimes, ::testing::ValuesIn(kTimed),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(ReadTimes, AreForProtocolsWithOneLockWordAndForSerializability) {
  EXPECT_TRUE(txn::MakeProtocol(GetParam(), Timed()));
  for (const char* const other : {"to", "mvcc", "sundial", "calvin"}) {
    const auto made = txn::MakeProtocol(other, Timed());
    ASSERT_FALSE(made);
    EXPECT_EQ(
        made.error().message,
        "--timestamps dst needs nowait, waitdie, boundedwait or occ; not " + std::string(other));
  }
  txn::ProtocolOptions weaker = Timed();
  weaker.isolation = txn::Isolation::kReadCommitted;
  const auto made = txn::MakeProtocol(GetParam(), weaker);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "--timestamps dst needs --isolation serializable, not read-committed");
}

// --- histories

void ExpectSerializable(TxnSetting setting) {
  setting.timestamps = Timestamps::kDst;
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
                        .without = random() % 2 == 0 ? "" : "outstanding,doorbells,passive,cache"});
  }
}

TEST_P(ReadTimes, KeepHistoriesOfGraphsSerializableDuringFolds) {
  TxnSetting setting{.protocol = GetParam(), .workload = "graph-append", .transactions = 300};
  setting.work.fold_share = 0.01;
  setting.work.rows = 60;
  ExpectSerializable(setting);
  setting.stages = "rpc";
  setting.transport = "tcp";
  ExpectSerializable(setting);
}

TEST_P(ReadTimes, KeepHistoriesSerializableWhenNodesDie) {
  std::mt19937_64 random(TestSeed());
  for (const char* const workload : {"list-append", "graph-append"}) {
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

// Two transactions of one coroutine take turns, on tables whose keys are on another node (odd ones)
// or on this one.
struct Turns {
  txn::Table& table;
  Transaction& writer;
  Transaction& reader;

  void Write(Key key, std::uint64_t value) const { Write(std::vector<Key>{key}, value); }
  // Another transaction's locks may not be free yet although it has committed.
  void Write(const std::vector<Key>& keys, std::uint64_t value) const {
    for (int tries = 1; !TryToWrite(keys, value, tries > 1); ++tries) ASSERT_LT(tries, 1000);
  }
  bool TryToWrite(const std::vector<Key>& keys, std::uint64_t value, bool again) const {
    writer.Begin(again);
    for (const Key key : keys) {
      Access* const access = writer.Write(table, key);
      if (access == nullptr) return false;
      access->Put(value);
    }
    return writer.Commit();
  }
  // 0: there is no record.
  std::uint64_t Read(Key key) const {
    const Access* const access = reader.Read(table, key);
    EXPECT_NE(access, nullptr);
    return access == nullptr || !access->exists() ? 0 : access->Get<std::uint64_t>();
  }
  void BeginReading() const { reader.Begin(false, NowNs(), true); }
};

void WithTurns(const std::string& protocol_name, std::uint32_t record_bytes,
               const std::function<void(const Turns&)>& body) {
  for (const bool one_sided : {false, true}) {
    OnTxnJob({.protocol = protocol_name, .nodes = 2, .compute = 1}, [&](Cluster& cluster) {
      const auto protocol = Unwrap(txn::MakeProtocol(protocol_name, Timed()));
      txn::EngineOptions options;
      options.stages = txn::StageCode::All(one_sided);
      const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
      txn::Table* const table = Unwrap(engine->tables().Add({"t", record_bytes, 1000}));
      EXPECT_TRUE(engine->Run([&](Transaction& one) {
        Transaction other(*engine, one.task(), 0);
        body({*table, one, other});
        other.Drain();
      }));
    });
  }
}

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
  constexpr std::uint32_t kBytes = 2000;
  WithTurns(GetParam(), kBytes, [](const Turns& turns) {
    const std::uint64_t fits = (4 << 20) / (kBytes + 40);
    for (const Key key : {1, 2}) {
      turns.Write(key, 1);
      turns.BeginReading();
      std::uint64_t value = 2;
      for (; value < fits; ++value) turns.Write(key, value);
      EXPECT_EQ(turns.Read(key), 1u);
      EXPECT_TRUE(turns.reader.Commit());
      // That room is free again, and used again, while nobody reads.
      for (const std::uint64_t end = value + 3 * fits; value < end; ++value)
        turns.Write(key, value);
      turns.BeginReading();
      for (const std::uint64_t end = value + 2 * fits; value < end; ++value)
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
// before that time, even if it is older.
TEST_P(ReadTimes, AreNotOvertakenByOlderWriters) {
  WithTurns(GetParam(), 8, [](const Turns& turns) {
    turns.Write({1, 2}, 1);
    turns.writer.Begin();
    turns.BeginReading();
    EXPECT_EQ(turns.Read(1), 1u);
    for (const Key key : {1, 2}) {
      Access* const access = turns.writer.Write(turns.table, key);
      ASSERT_NE(access, nullptr);
      access->Put(std::uint64_t{2});
    }
    EXPECT_TRUE(turns.writer.Commit());
    EXPECT_EQ(turns.Read(2), 1u);
    EXPECT_TRUE(turns.reader.Commit());
  });
}

// Two nodes, of which the first has a clock that is a second ahead. `first` and `second` run on
// one each and call Await() and Tell().
struct OnTwoClocks {
  const Turns turns;
  const SharedNumber& step;

  void Await(std::uint64_t wanted) const {
    while ((*step).load() < wanted) turns.reader.IdleUntil(NowNs() + 100'000);
  }
  void Tell(std::uint64_t reached) const { *step = reached; }
};
void WithTwoClocks(const std::string& protocol_name, bool one_sided,
                   const std::function<void(const OnTwoClocks&)>& first,
                   const std::function<void(const OnTwoClocks&)>& second) {
  const SharedNumber step;
  OnTxnJob({.protocol = protocol_name, .nodes = 2}, [&](Cluster& cluster) {
    const auto protocol = Unwrap(txn::MakeProtocol(protocol_name, Timed()));
    txn::EngineOptions options;
    options.stages = txn::StageCode::All(one_sided);
    options.clock_ahead_us = cluster.self() == 0 ? 1'000'000 : 0;
    const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
    txn::Table* const table = Unwrap(engine->tables().Add({"t", 8, 100}));
    EXPECT_TRUE(engine->Run([&](Transaction& one) {
      (cluster.self() == 0 ? first : second)({{*table, one, one}, step});
    }));
  });
}

// On both nodes: keys that are there, and keys that are not.
constexpr Key kFirstAbsent = 20;
constexpr Key kKeys[] = {1, 2, 21, 22};
constexpr Key kOthers[] = {41, 42};

// A writer learns the time of a reader only from what the reader has left in a record that it has
// read, or for a key that it has found absent. The writer changes that together with another
// record, which the reader reads later.
TEST_P(ReadTimes, OfReadersAreKeptByWritersWhoseClocksAreBehind) {
  for (const bool one_sided : {false, true}) {
    for (const Key key : kKeys) {
      const std::uint64_t before = key < kFirstAbsent ? 1 : 0;
      WithTwoClocks(
          GetParam(), one_sided,
          [&](const OnTwoClocks& reader) {
            reader.Await(1);
            reader.turns.BeginReading();
            EXPECT_EQ(reader.turns.Read(key), before);
            reader.Tell(2);
            reader.Await(3);
            EXPECT_EQ(reader.turns.Read(kOthers[0]), before);
            EXPECT_TRUE(reader.turns.reader.Commit());
          },
          [&](const OnTwoClocks& writer) {
            if (before != 0) writer.turns.Write({key, kOthers[0]}, before);
            writer.Tell(1);
            writer.Await(2);
            writer.turns.Write({key, kOthers[0]}, 2);
            writer.Tell(3);
          });
    }
  }
}

// The same for a transaction that reads one record, and writes another. A reader that sees what
// the second transaction has written sees that, too.
TEST_P(ReadTimes, OfWritersAreKeptByWritersWhoseClocksAreBehind) {
  for (const bool one_sided : {false, true}) {
    for (const Key key : kKeys) {
      WithTwoClocks(
          GetParam(), one_sided,
          [&](const OnTwoClocks& first) {
            Transaction& one = first.turns.writer;
            if (key < kFirstAbsent) first.turns.Write(key, 1);
            one.Begin();
            EXPECT_NE(one.Read(first.turns.table, key), nullptr);
            Access* const written = one.Write(first.turns.table, kOthers[0]);
            ASSERT_NE(written, nullptr);
            written->Put(std::uint64_t{5});
            EXPECT_TRUE(one.Commit());
            first.Tell(1);
          },
          [&](const OnTwoClocks& second) {
            second.Await(1);
            second.turns.Write({key, kOthers[1]}, 6);
            second.turns.BeginReading();
            EXPECT_EQ(second.turns.Read(kOthers[1]), 6u);
            EXPECT_EQ(second.turns.Read(kOthers[0]), 5u);
            EXPECT_TRUE(second.turns.reader.Commit());
          });
    }
  }
}

// A record is deleted, and a sweep removes its tuple. A reader that finds nothing also sees what
// the deleting transaction has written.
TEST_P(ReadTimes, OfRemovedTuplesAreNotForgotten) {
  for (const Key key : {1, 2}) {
    WithTwoClocks(
        GetParam(), true,
        [&](const OnTwoClocks& first) {
          Transaction& one = first.turns.writer;
          first.turns.Write({key, kOthers[0]}, 1);
          one.Begin();
          Access* const gone = one.Write(first.turns.table, key);
          Access* const written = one.Write(first.turns.table, kOthers[0]);
          ASSERT_TRUE(gone != nullptr && written != nullptr);
          Transaction::Delete(*gone);
          written->Put(std::uint64_t{5});
          EXPECT_TRUE(one.Commit());
          // One of these finds no room at first.
          for (Key more = 1000; one.engine().sweeps() == 0 && more < 1200; ++more) {
            first.turns.Write(more, 1);
          }
          EXPECT_GT(one.engine().sweeps(), 0u);
          first.Tell(1);
        },
        [&](const OnTwoClocks& second) {
          second.Await(1);
          second.turns.BeginReading();
          EXPECT_EQ(second.turns.Read(key), 0u);
          EXPECT_EQ(second.turns.Read(kOthers[0]), 5u);
          EXPECT_TRUE(second.turns.reader.Commit());
        });
  }
}

// --- the rings of replaced versions

TEST(KeptRings, GiveNoRoomTwiceWhileItIsNeeded) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    std::mt19937_64 random(TestSeed());
    const auto all = Unwrap(txn::OldVersions::Make(cluster.fabric(), 2));
    txn::KeptRings rings(*all, 0, 1, 1);
    const txn::VersionLink first = all->RingOf(0, 1);
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> taken;  // begin: end, until
    std::uint64_t refused = 0;
    std::uint64_t horizon = 0;
    for (std::uint64_t time = 1; time < 200'000; ++time) {
      const std::uint64_t bytes = 8 * (1 + random() % 250);
      const txn::VersionLink at = rings.Take(0, bytes, time);
      if (at == txn::kNotKept) {
        ++refused;
        EXPECT_TRUE(rings.crowded());
      } else {
        ASSERT_GE(at, first);
        ASSERT_LE(at + bytes, first + all->ring_bytes());
        const auto next = taken.lower_bound(at);
        ASSERT_TRUE(next == taken.end() || at + bytes <= next->first);
        ASSERT_TRUE(next == taken.begin() || std::prev(next)->second.first <= at);
        taken[at] = {at + bytes, time};
      }
      if (random() % 3000 != 0) continue;
      horizon = std::max(horizon, time - std::min(time, random() % 6000));
      rings.SetHorizon(horizon);
      std::erase_if(taken, [&](const auto& one) { return one.second.second < horizon; });
    }
    EXPECT_GT(refused, 0u);
    EXPECT_LT(refused, 150'000u);
  });
}

}  // namespace
}  // namespace slimgraph::test
