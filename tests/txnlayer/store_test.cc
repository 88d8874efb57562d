// Unit tests of tables, location caches, stage codes, timestamps and coroutines.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/txnlayer/support.h"
#include "txnlayer/internal/execution/timestamp.h"
#include "txnlayer/internal/store/location_cache.h"

namespace slimgraph::test {
namespace {

using txn::Key;

TEST(Table, FindsPlacedKeysAndReportsWhenFull) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    constexpr std::uint64_t kTuples = 5000;
    auto table = txn::Table::Make(cluster.fabric(), 0, {"t", 40, kTuples}, {.metadata_words = 1});
    ASSERT_TRUE(table);
    std::mt19937_64 random(TestSeed());
    std::map<Key, std::uint64_t> placed;
    while (placed.size() < kTuples) {
      const Key key = random() % 20 == 0 ? random() : random() % 10'000;
      const std::uint64_t offset = (*table)->FindOrInsert(key);
      ASSERT_NE(offset, 0u);
      const auto [known, fresh] = placed.emplace(key, offset);
      EXPECT_EQ(known->second, offset);
    }
    std::set<std::uint64_t> offsets;
    for (const auto& [key, offset] : placed) {
      EXPECT_EQ((*table)->Find(key), offset);
      EXPECT_TRUE(offsets.insert(offset).second);
    }
    EXPECT_EQ((*table)->Find(~Key{0} - 1), 0u);
    EXPECT_EQ((*table)->FindOrInsert(~Key{0} - 1), 0u) << "the table is full";
  });
}

// Whether keys fit is known before they are inserted, also where too many share few buckets.
TEST(Table, KnowsWhichKeysFit) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    std::mt19937_64 random(TestSeed());
    for (txn::TableId id = 0; id < 12; ++id) {
      const std::uint64_t tuples = 1000 + random() % 2000;
      auto table = txn::Table::Make(cluster.fabric(), id, {"t", 40, tuples}, {.metadata_words = 1});
      ASSERT_TRUE(table);
      const std::uint64_t most_buckets = 1 + random() % (tuples / 100);
      std::vector<Key> keys;
      while (true) {
        const Key key = random();
        if (id % 2 == 0 && (*table)->BucketOf(key) / sizeof(txn::Bucket) >= most_buckets) continue;
        keys.push_back(key);
        if ((*table)->FindOrInsert(key) == 0) break;
      }
      EXPECT_FALSE((*table)->TakesAll(keys)) << keys.size() << " of " << tuples;
      if (id % 2 == 0) {
        EXPECT_LE(keys.size(), tuples) << "not enough share a bucket";
      }
      keys.pop_back();
      EXPECT_TRUE((*table)->TakesAll(keys)) << keys.size() << " of " << tuples;
    }
  });
}

// Like orders of TPC-C: ten consecutive keys at a time, in any of ten districts.
TEST(Table, NeighbouringKeysHaveNearbyBuckets) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    constexpr unsigned kBits = 6;
    constexpr std::uint64_t kTuples = 50'000;
    constexpr std::uint64_t kAtOnce = 10;
    const txn::TableSpec spec{.name = "t",
                              .record_bytes = 40,
                              .tuples_per_node = kTuples,
                              .neighbour_bits = kBits,
                              .prefaulted_tuples = 1000};
    auto table = txn::Table::Make(cluster.fabric(), 0, spec, {.metadata_words = 1});
    ASSERT_TRUE(table);
    std::mt19937_64 random(TestSeed());
    std::vector<Key> last(10);
    std::map<Key, std::uint64_t> placed;
    while (placed.size() < kTuples) {
      const std::uint64_t district = random() % last.size();
      for (std::uint64_t i = 0; i < kAtOnce; ++i) {
        const Key key = (district << 32) | last[district]++;
        placed[key] = (*table)->FindOrInsert(key);
        ASSERT_NE(placed[key], 0u);
        const std::uint64_t first = (*table)->BucketOf(key >> kBits << kBits);
        EXPECT_GE((*table)->BucketOf(key), first);
        EXPECT_LT((*table)->BucketOf(key), first + (sizeof(txn::Bucket) << kBits) / 4);
      }
    }
    std::set<std::uint64_t> offsets;
    for (const auto& [key, offset] : placed) {
      EXPECT_EQ((*table)->Find(key), offset);
      EXPECT_TRUE(offsets.insert(offset).second);
    }
    EXPECT_EQ((*table)->FindOrInsert(~Key{0}), 0u) << "the table is full";
  });
}

TEST(Table, ASweepTouchesOnlyUsedMemory) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    constexpr std::uint64_t kTuples = 1'000'000;
    constexpr std::uint64_t kFewPages = 64 * 4096;
    auto table = txn::Table::Make(cluster.fabric(), 0, {"t", 40, kTuples}, {.metadata_words = 1});
    ASSERT_TRUE(table);
    const std::vector<Key> keys = {1, 77, 4711};
    for (const Key key : keys) ASSERT_NE((*table)->FindOrInsert(key), 0u);
    const std::uint64_t fresh[txn::kMaxMetadataWords] = {};
    EXPECT_EQ((*table)->Sweep(
                  0, [](const std::byte*) { return true; }, fresh, 0),
              0u);
    EXPECT_LE((*table)->resident_bytes(), kFewPages);
    for (const Key key : keys) EXPECT_NE((*table)->Find(key), 0u) << key;
  });
}

TEST(Table, RefusesARecordThatIsTooLong) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    const auto table =
        txn::Table::Make(cluster.fabric(), 0, {"t", txn::kMaxRecordBytes + 1, 1}, {});
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().kind, ErrorKind::kUsage);
  });
}

TEST(Engine, RefusesMoreCoroutinesThanTimestampsCanName) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("occ");
    txn::EngineOptions options;
    options.coroutines = txn::kMaxCoroutines + 1;
    const auto engine = txn::Engine::Make(cluster, *protocol, options);
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().kind, ErrorKind::kUsage);
  });
}

// Inserts, changes, deletes and inserts a remote record again, with both forms of all stages.
TEST(Transactions, InsertAndDelete) {
  for (const std::string_view name : txn::ProtocolNames()) {
    OnTxnJob({.protocol = std::string(name), .nodes = 2}, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol(name);
      for (const bool one_sided : {false, true}) {
        txn::EngineOptions options;
        options.stages = txn::StageCode::All(one_sided);
        const auto engine = *txn::Engine::Make(cluster, *protocol, options);
        txn::Table* const table = *engine->tables().Add({"t", 24, 100});
        ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
          const Key key = 2 * transaction.process() + 1 - engine->self();  // of the other node
          bool exists = false;
          std::uint64_t value = 0;
          for (std::uint64_t step = 0; step < 8;) {
            transaction.Begin();
            txn::Access* const access = transaction.Write(*table, key);
            if (access == nullptr) continue;
            EXPECT_EQ(access->exists(), exists);
            EXPECT_EQ(exists ? access->Get<std::uint64_t>() : value, value);
            const bool remove = step % 3 == 2;
            if (remove) {
              txn::Transaction::Delete(*access);
            } else {
              access->Put(step + 10);
            }
            if (!transaction.Commit()) continue;
            exists = !remove;
            value = step + 10;
            ++step;
          }
        }));
      }
    });
  }
}

// Under a protocol that validates its reads, looking for an absent key creates no tuple. A
// transaction that found a key absent must still abort if the key is inserted before it commits.
TEST(Transactions, ReadsOfAbsentKeysCreateNoTupleAndAreValidated) {
  constexpr Key kKeys = 20;  // alternately on both nodes
  for (const bool one_sided : {false, true}) {
    OnTxnJob({.protocol = "occ", .nodes = 2}, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol("occ");
      txn::EngineOptions options;
      options.stages = txn::StageCode::All(one_sided);
      options.coroutines = 2;
      const auto engine = *txn::Engine::Make(cluster, *protocol, options);
      txn::Table* const table = *engine->tables().Add({"t", 8, 100});
      const auto tuples = [&] { return *cluster.all().AllSum(table->tuples()); };
      ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
        transaction.Begin();
        for (Key key = 0; key < kKeys; ++key) EXPECT_FALSE(transaction.Read(*table, key)->exists());
        EXPECT_TRUE(transaction.Commit());
      }));
      EXPECT_EQ(tuples(), 0u);
      // One coroutine of node 0 reads, the second inserts, then the first tries to commit.
      std::uint64_t turn = 0;
      ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
        if (engine->self() != 0) return;
        const auto await = [&](std::uint64_t wanted) {
          while (turn != wanted) transaction.task().Yield();
        };
        for (Key key = 0; key < kKeys; ++key) {
          if (transaction.process() == 0) {
            await(2 * key);
            transaction.Begin();
            EXPECT_FALSE(transaction.Read(*table, key)->exists());
            turn = 2 * key + 1;
            await(2 * key + 2);
            EXPECT_FALSE(transaction.Commit());
            EXPECT_EQ(transaction.reason(), txn::AbortReason::kChanged);
            continue;
          }
          await(2 * key + 1);
          transaction.Begin();
          // Asks twice for the key. Only the second request creates the tuple.
          const txn::Want read{table, key, false};
          const txn::Want write{table, key, true};
          txn::Access* found[2];
          ASSERT_TRUE(transaction.StartFetch({&read, 1}, found));
          if (key % 4 < 2) {
            ASSERT_TRUE(transaction.FinishFetch());
          }
          ASSERT_TRUE(transaction.StartFetch({&write, 1}, found + 1) && transaction.FinishFetch());
          EXPECT_EQ(found[0], found[1]);
          EXPECT_FALSE(found[0]->exists());
          found[0]->Put(key + 1);
          EXPECT_TRUE(transaction.Commit());
          transaction.Drain();
          turn = 2 * key + 2;
        }
      }));
      EXPECT_EQ(tuples(), kKeys);
      ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
        transaction.Begin();
        for (Key key = 0; key < kKeys; ++key) {
          EXPECT_EQ(transaction.Read(*table, key)->Get<std::uint64_t>(), key + 1);
        }
        EXPECT_TRUE(transaction.Commit());
      }));
    });
  }
}

// Requests that are asked for one after the other travel concurrently. A transaction that gives up
// leaves no lock.
TEST(Transactions, ContinueBeforeRequestsArrive) {
  constexpr auto kCrossing = std::chrono::milliseconds(4);
  constexpr Key kKeys = 12;
  for (const std::string_view name : txn::ProtocolNames()) {
    const auto protocol = *txn::MakeProtocol(name);
    if (protocol->fetches_once()) continue;
    OnTxnJob({.protocol = std::string(name), .nodes = 2}, [&](Cluster& cluster) {
      for (const std::string_view code : {"rpc", "one-sided"}) {
        txn::EngineOptions options;
        options.stages = *txn::StageCode::Parse(code, name, protocol->stages());
        const auto engine = *txn::Engine::Make(cluster, *protocol, options);
        txn::Table* const table = *engine->tables().Add({"t", 8, 100});
        for (const NodeId node : {0u, 1u}) {
          if (node != cluster.self()) cluster.fabric().endpoint(0).faults().Delay(node, kCrossing);
        }
        ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
          if (engine->self() != 0) return;
          // The first call also caches the locations.
          const auto work = [&](bool ahead, bool give_up) {
            txn::Access* found[kKeys];
            transaction.Begin();
            for (Key key = 0; key < kKeys; ++key) {
              const txn::Want want{table, 2 * key + 1, true};
              ASSERT_TRUE(ahead ? transaction.StartFetch({&want, 1}, &found[key])
                                : transaction.Fetch({&want, 1}, &found[key]));
            }
            // All requests are under way, or all have completed.
            for (const txn::Access* const access : found) EXPECT_EQ(access->begun, ahead);
            if (give_up) return transaction.Abort();
            ASSERT_TRUE(transaction.FinishFetch());
            for (txn::Access* const access : found) {
              EXPECT_EQ(access->exists(), access->Get<std::uint64_t>() != 0);
              access->Put(access->Get<std::uint64_t>() + 1);
            }
            ASSERT_TRUE(transaction.Commit());
            transaction.Drain();
          };
          work(false, false);
          work(true, true);
          work(true, false);
          txn::Access* last = nullptr;
          transaction.Begin();
          ASSERT_NE(last = transaction.Read(*table, 1), nullptr);
          EXPECT_EQ(last->Get<std::uint64_t>(), 2u);
          EXPECT_TRUE(transaction.Commit());
        }));
        engine->tables().ForEachTuple(*table, [&](const std::byte* tuple) {
          EXPECT_TRUE(protocol->LocksFree(reinterpret_cast<const std::uint64_t*>(tuple)));
        });
      }
    });
  }
}

// Far more keys are inserted and deleted than there is room for at a time.
TEST(Transactions, ReuseTheRoomOfDeletedRecords) {
  constexpr std::uint64_t kKeys = 120;  // per coroutine
  constexpr std::uint64_t kAtATime = 6;
  std::mt19937_64 random(TestSeed());
  for (const std::string_view name : txn::ProtocolNames()) {
    const auto protocol = *txn::MakeProtocol(name);
    for (const std::uint32_t replicas : {1u, 2u}) {
      OnTxnJob({.protocol = std::string(name), .nodes = 2}, [&](Cluster& cluster) {
        txn::EngineOptions options;
        const std::string code = RandomStages(std::string(name), random);
        options.stages = *txn::StageCode::Parse(code, name, protocol->stages());
        options.coroutines = 2;
        options.replicas = replicas;
        const auto engine = *txn::Engine::Make(cluster, *protocol, options);
        txn::Table* const table = *engine->tables().Add({"t", 24, 60});
        const Status status = engine->Run([&](txn::Transaction& transaction) {
          const auto key = [&](std::uint64_t i) { return 4 * i + transaction.process(); };
          for (std::uint64_t i = kAtATime; i < kKeys && !engine->over();) {
            const txn::Want wants[] = {{table, key(i), true},
                                       {table, key(i - kAtATime), true},
                                       {table, key(i - 1), false}};
            txn::Access* found[3];
            transaction.Begin();
            if (!transaction.Fetch(wants, found)) continue;
            EXPECT_FALSE(found[0]->exists()) << i;
            EXPECT_EQ(found[1]->exists(), i >= 2 * kAtATime) << i;
            EXPECT_EQ(found[2]->exists(), i > kAtATime) << i;
            EXPECT_EQ(found[2]->Get<std::uint64_t>(), i > kAtATime ? i - 1 : 0);
            found[0]->Put(i);
            txn::Transaction::Delete(*found[1]);
            if (transaction.Commit()) ++i;
          }
        });
        ASSERT_TRUE(status) << status.error().message;
        EXPECT_GT(engine->sweeps(), 1u);
        EXPECT_GT(engine->swept(), kKeys);
        std::uint64_t records = 0;
        engine->tables().ForEachTuple(*table, [&](const std::byte* tuple) {
          const txn::TupleView view(*table, tuple);
          EXPECT_TRUE(protocol->LocksFree(view.metadata()));
          records += txn::WordOfVersion(protocol->LatestVersion(view)) & txn::kExistsBit;
        });
        EXPECT_EQ(*cluster.all().AllSum(records), 4 * kAtATime);
        EXPECT_TRUE(replicas == 1 || engine->replication()->CheckCopies());
      });
    }
  }
}

TEST(LocationCache, StaysWithinItsBudgetAndForgetsTheOldest) {
  txn::LocationCache cache(4096);
  EXPECT_LE(cache.bytes(), 4096u);
  for (Key key = 1; key <= 10'000; ++key) cache.Insert(3, key, key * 64);
  std::size_t kept = 0;
  for (Key key = 1; key <= 10'000; ++key) {
    const std::uint64_t offset = cache.Find(3, key);
    EXPECT_TRUE(offset == 0 || offset == key * 64);
    kept += offset != 0 ? 1 : 0;
    EXPECT_EQ(cache.Find(4, key), 0u) << "of another table";
  }
  EXPECT_GT(kept, 50u);
  EXPECT_NE(cache.Find(3, 10'000), 0u);
  // Keys of only one of two nodes: all would fit.
  txn::LocationCache half(1 << 20);
  for (Key key = 1; key <= 10'000; key += 2) half.Insert(3, key, key * 64);
  std::size_t found = 0;
  for (Key key = 1; key <= 10'000; key += 2) found += half.Find(3, key) != 0 ? 1 : 0;
  EXPECT_GT(found, 4'800u);
  txn::LocationCache none(0);
  none.Insert(1, 1, 64);
  EXPECT_EQ(none.Find(1, 1), 0u);
}

TEST(Timestamps, AreUniqueAscendingAndAdvancePastSeenOnes) {
  txn::TimestampSource clock;
  txn::Timestamp last = 0;
  EXPECT_LT(txn::ClockOf(clock.NextTimestamp(0)), std::uint64_t{1} << txn::kAgeBits)
      << "ages have wrapped";
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const txn::Timestamp next =
        clock.NextTimestamp(txn::OwnerOf(1, 2, static_cast<std::uint32_t>(i % 8)));
    EXPECT_GT(next, last);
    last = next;
  }
  const txn::Timestamp far = last + (std::uint64_t{1} << 50);
  clock.AdvancePast(far);
  EXPECT_GT(clock.NextTimestamp(0), far);
}

// Ages compare correctly for hours, so no transaction may keep one for longer than an hour.
TEST(Timestamps, AreTooOldAfterAnHour) {
  txn::TimestampSource clock;
  const std::uint64_t now_ns = NowNs();
  const txn::Timestamp first = clock.NextTimestamp(0, now_ns);
  EXPECT_FALSE(clock.IsTooOld(first, now_ns + std::uint64_t{3590} * 1'000'000'000));
  EXPECT_TRUE(clock.IsTooOld(first, now_ns + std::uint64_t{3610} * 1'000'000'000));
  EXPECT_FALSE(clock.IsTooOld(first + txn::TimestampOf(1000, 0), now_ns)) << "from another clock";
}

TEST(StageCode, TakesCodesOfTheRightLengthAndSaysWhatIsWrongWithOthers) {
  const auto occ = *txn::MakeProtocol("occ");
  const auto parse = [&](std::string_view text, std::string_view protocol = "occ") {
    return txn::StageCode::Parse(text, protocol, occ->stages());
  };
  EXPECT_EQ(parse("101101")->Digits(occ->stages()), "101101");
  EXPECT_EQ(parse("rpc")->Digits(occ->stages()), "000000");
  EXPECT_EQ(parse("one-sided")->Digits(occ->stages()), "111111");
  EXPECT_EQ(parse("farm")->Digits(occ->stages()), "101100");
  EXPECT_EQ(parse("fasst")->Digits(occ->stages()), "000000");
  EXPECT_EQ(parse("drtm-r")->Digits(occ->stages()), "111111");
  EXPECT_FALSE(parse("drtm-r")->asks());
  EXPECT_EQ(parse("drtm-h")->Digits(occ->stages()), "111111");
  EXPECT_TRUE(parse("drtm-h")->asks());
  for (const char* const wrong : {"", "1011", "1011011", "10112a", "rpcs"}) {
    EXPECT_FALSE(parse(wrong)) << wrong;
  }
  EXPECT_FALSE(parse("farm", "nowait"));
  EXPECT_FALSE(txn::MakeProtocol("2pl"));
  EXPECT_FALSE(txn::MakeWorkload("tpch", {}));
}

}  // namespace
}  // namespace slimgraph::test
