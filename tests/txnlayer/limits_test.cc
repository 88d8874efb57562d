// Transactions at the limits of tables, messages and logs: a transaction that exceeds a limit is
// refused, and the others go on.
#include <atomic>
#include <cstring>

#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::AbortReason;
using txn::Access;
using txn::Key;
using txn::Transaction;

// The words of one read may arrive in any order. Here the slot of key 2 looks as a remote reader
// may see it during an insertion: with its tuple, but not yet with its key.
TEST(Limits, KeyZeroIsNotConfusedWithASlotBeingFilled) {
  for (const std::string_view name : txn::ProtocolNames()) {
    OnTxnJob({.protocol = std::string(name), .nodes = 2}, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol(name);
      txn::EngineOptions options;
      options.stages = txn::StageCode::All(true);
      const auto engine = *txn::Engine::Make(cluster, *protocol, options);
      txn::Table* const table = *engine->tables().Add({"one bucket", 8, 3});
      const auto slot = [&]() -> txn::Bucket::Slot& {
        return reinterpret_cast<txn::Bucket*>(table->memory())->slots[0];
      };
      const std::uint64_t two = 2;
      if (engine->self() == 0) {
        ASSERT_TRUE(table->Load(2, std::as_bytes(std::span(&two, 1))));
        slot().key = 0;
      }
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        if (engine->self() != 1) return;
        for (bool done = false; !done;) {
          transaction.Begin();
          Access* const access = transaction.Write(*table, 0);
          if (access == nullptr) continue;
          EXPECT_FALSE(access->exists()) << "found the record of key 2";
          access->Put(std::uint64_t{10});
          done = transaction.Commit();
        }
      }));
      if (engine->self() == 0) slot().key = 2;
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        const txn::Want wants[] = {{table, 0, false}, {table, 2, false}};
        Access* found[2];
        for (bool done = false; !done;) {
          transaction.Begin();
          if (!transaction.Fetch(wants, found)) continue;
          EXPECT_EQ(found[0]->Get<std::uint64_t>(), 10u);
          EXPECT_EQ(found[1]->Get<std::uint64_t>(), 2u);
          done = transaction.Commit();
        }
      }));
    });
  }
}

TEST(Limits, OfCoroutinesAreWhatWasAnnounced) {
  OnTxnJob({.protocol = "calvin", .nodes = 2}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("calvin");
    txn::EngineOptions options;
    options.coroutines = 2;
    options.most_coroutines = 5;
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    options.most_coroutines = 0;
    options.coroutines = 5;
    EXPECT_TRUE(engine->Configure(options));
    options.coroutines = 6;
    EXPECT_FALSE(engine->Configure(options));
    EXPECT_EQ(engine->options().coroutines, 5u);
  });
}

txn::EngineOptions OptionsOf(const std::string& stages, const txn::Protocol& protocol) {
  txn::EngineOptions options;
  options.stages = *txn::StageCode::Parse(stages, protocol.name(), protocol.stages());
  return options;
}

void ExpectNoLocks(txn::Engine& engine) {
  engine.tables().ForEachTuple([&](txn::Table&, std::byte* tuple) {
    EXPECT_TRUE(engine.protocol().LocksFree(reinterpret_cast<const std::uint64_t*>(tuple)));
  });
}

// Retries until the transaction has committed or was refused, or its thread has failed. Returns the
// reason.
AbortReason TryUntilTheEnd(Transaction& transaction, const std::function<bool()>& work) {
  for (bool again = false;; again = true) {
    transaction.Begin(again);
    if (work() && transaction.Commit()) return AbortReason::kNone;
    if (txn::IsRefusal(transaction.reason()) || transaction.task().worker().failed()) {
      return transaction.reason();
    }
    transaction.BackOff(1);
  }
}

class Refusals : public ::testing::TestWithParam<std::string> {
 protected:
  // With all stages as rpc, all one-sided, and a random code.
  void OnEngines(const TxnSetting& setting, txn::EngineOptions options,
                 const std::function<void(Cluster&, txn::Engine&)>& body) {
    std::mt19937_64 random(TestSeed());
    const auto protocol = *txn::MakeProtocol(GetParam());
    for (const std::string& stages :
         {std::string("rpc"), std::string("one-sided"), RandomStages(GetParam(), random)}) {
      options.stages = OptionsOf(stages, *protocol).stages;
      OnTxnJob(setting, [&](Cluster& cluster) {
        SCOPED_TRACE(stages);
        const auto engine = *txn::Engine::Make(cluster, *protocol, options);
        body(cluster, *engine);
        ExpectNoLocks(*engine);
        EXPECT_TRUE(options.replicas == 1 || engine->replication()->CheckCopies());
      });
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, Refusals, ::testing::ValuesIn(AllProtocols()),
                         [](const auto& one) { return one.param; });

// Every coroutine tries to insert a hundred keys, but there is room for twenty. Existing keys can
// still be changed.
TEST_P(Refusals, ForLackOfRoomAffectNoOtherTransaction) {
  constexpr std::uint64_t kRoom = 10;  // per node
  const txn::EngineOptions options{.coroutines = 2};
  OnEngines({.protocol = GetParam(), .nodes = 2}, options,
            [&](Cluster& cluster, txn::Engine& engine) {
              txn::Table* const table = *engine.tables().Add({"small", 8, kRoom});
              std::atomic<std::uint64_t> inserted{0};
              std::atomic<std::uint64_t> refused{0};
              const Status status = engine.Run([&](Transaction& transaction) {
                for (Key i = 0; i < 100; ++i) {
                  const Key key = 4 * i + transaction.process();
                  const AbortReason end = TryUntilTheEnd(transaction, [&] {
                    Access* const access = transaction.Write(*table, key);
                    if (access != nullptr) access->Put(std::uint64_t{1});
                    return access != nullptr;
                  });
                  EXPECT_TRUE(end == AbortReason::kNone || end == AbortReason::kNoRoom);
                  ++(end == AbortReason::kNone ? inserted : refused);
                  if (end != AbortReason::kNone) continue;
                  EXPECT_EQ(TryUntilTheEnd(transaction,
                                           [&] {
                                             Access* const access = transaction.Write(*table, key);
                                             if (access != nullptr) access->Put(key);
                                             return access != nullptr;
                                           }),
                            AbortReason::kNone);
                }
              });
              ASSERT_TRUE(status) << status.error().message;
              EXPECT_EQ(inserted + refused, 200u);
              EXPECT_EQ(*cluster.all().AllSum(inserted.load()), 2 * kRoom);
              EXPECT_GT(engine.figures().refused(), 0u);
            });
}

// As above, but the table may grow. Each coroutine's last transaction needs more tuples at once
// than there were at first.
TEST_P(Refusals, DoNotOccurWhileATableCanGrow) {
  constexpr std::uint64_t kRoom = 10;    // per node, at first
  constexpr std::uint64_t kAlone = 100;  // keys of a coroutine that are inserted one at a time
  constexpr std::uint64_t kKeys = 140;
  for (const std::uint32_t replicas : {1U, 2U}) {
    const txn::EngineOptions options{.coroutines = 2, .replicas = replicas};
    OnEngines({.protocol = GetParam(), .nodes = 2}, options,
              [&](Cluster& cluster, txn::Engine& engine) {
                txn::Table* const table = *engine.tables().Add({.name = "growing",
                                                                .record_bytes = 8,
                                                                .tuples_per_node = kRoom,
                                                                .most_tuples = txn::kAsManyAsFit});
                const auto put = [&](Transaction& transaction, Key first, Key end) {
                  std::vector<txn::Want> wants;
                  for (Key i = first; i < end; ++i) {
                    wants.push_back({table, 4 * i + transaction.process(), true});
                  }
                  std::vector<Access*> found(wants.size());
                  const auto work = [&] {
                    if (!transaction.Fetch(wants, found.data())) return false;
                    for (std::size_t i = 0; i < wants.size(); ++i) {
                      EXPECT_FALSE(found[i]->exists()) << wants[i].key;
                      found[i]->Put(wants[i].key);
                    }
                    return true;
                  };
                  EXPECT_EQ(TryUntilTheEnd(transaction, work), AbortReason::kNone);
                };
                const Status status = engine.Run([&](Transaction& transaction) {
                  for (Key i = 0; i < kAlone; ++i) put(transaction, i, i + 1);
                  put(transaction, kAlone, kKeys);
                });
                ASSERT_TRUE(status) << status.error().message;
                EXPECT_EQ(engine.figures().refused(), 0U);
                EXPECT_GE(engine.growths(), 4U);
                EXPECT_GE(table->room(), 4 * kKeys / 2 - table->room() / 8);
                std::uint64_t records = 0;
                engine.tables().ForEachRecord(*table, [&](Key key, const std::byte* record) {
                  if (record == nullptr) return;
                  ++records;
                  EXPECT_EQ(std::memcmp(record, &key, sizeof key), 0) << key;
                });
                EXPECT_EQ(*cluster.all().AllSum(records), 4 * kKeys);
                // Other nodes find the tuples in the buckets of the larger table.
                ASSERT_TRUE(engine.Run([&](Transaction& transaction) {
                  for (Key key = transaction.process(); key < 4 * kKeys; key += 37) {
                    const auto work = [&] {
                      Access* const access = transaction.Read(*table, key);
                      if (access == nullptr) return false;
                      EXPECT_EQ(access->Get<Key>(), key);
                      return true;
                    };
                    EXPECT_EQ(TryUntilTheEnd(transaction, work), AbortReason::kNone);
                  }
                }));
              });
  }
}

// A table cannot grow beyond the memory that it may take. Before, no transaction is refused.
TEST_P(Refusals, BeginWhenTheMemoryOfTablesEnds) {
  constexpr std::uint64_t kMostBytes = 100'000;
  std::atomic<std::uint64_t> inserted{0};  // on this node
  std::uint64_t inserted_when_told = 0;
  std::atomic<std::uint64_t> told{0};
  txn::EngineOptions options{.coroutines = 2, .table_bytes = kMostBytes};
  options.on_last_room = [&](const std::string& what) {
    EXPECT_EQ(what.rfind("table growing has room for", 0), 0U) << what;
    inserted_when_told = inserted;
    ++told;
  };
  OnEngines({.protocol = GetParam(), .nodes = 2}, options,
            [&](Cluster& cluster, txn::Engine& engine) {
              txn::Table* const table = *engine.tables().Add({.name = "growing",
                                                              .record_bytes = 8,
                                                              .tuples_per_node = 10,
                                                              .most_tuples = txn::kAsManyAsFit});
              const std::uint64_t fit = kMostBytes / table->tuple_bytes();  // per node
              std::atomic<std::uint64_t> refused{0};
              const Status status = engine.Run([&](Transaction& transaction) {
                for (Key i = 0; i < fit; ++i) {
                  const AbortReason end = TryUntilTheEnd(transaction, [&] {
                    Access* const access = transaction.Write(*table, 4 * i + transaction.process());
                    if (access != nullptr) access->Put(i);
                    return access != nullptr;
                  });
                  EXPECT_TRUE(end == AbortReason::kNone || end == AbortReason::kNoRoom);
                  EXPECT_TRUE(engine.self() != 0 || end == AbortReason::kNone || told == 1);
                  ++(end == AbortReason::kNone ? inserted : refused);
                }
              });
              ASSERT_TRUE(status) << status.error().message;
              EXPECT_GT(*cluster.all().AllSum(refused.load()), 0U);
              EXPECT_EQ(told, engine.self() == 0 ? 1U : 0U) << "node 0 is told once";
              EXPECT_TRUE(engine.self() != 0 || inserted_when_told < inserted);
              // The last sixteenth is not worth a sweep.
              EXPECT_GE(*cluster.all().AllSum(inserted.load()), 2 * fit * 15 / 16 - 2);
              EXPECT_LE(*cluster.all().AllSum(inserted.load()), 2 * fit);
              EXPECT_LE(table->used_bytes(), kMostBytes);
            });
}

// A table is full of records, and transactions look for far more absent keys than there is room for
// at a time. None is refused, and the records stay.
TEST_P(Refusals, DoNotHitReadersOfAFullTable) {
  constexpr std::uint64_t kRoom = 100;  // per node
  const txn::EngineOptions options{.coroutines = 2};
  OnEngines({.protocol = GetParam(), .nodes = 2}, options, [&](Cluster&, txn::Engine& engine) {
    txn::Table* const table = *engine.tables().Add({"full", 8, kRoom});
    for (Key i = 0; i < kRoom; ++i) {
      const Key key = 2 * i + engine.self();
      ASSERT_TRUE(table->Load(key, std::as_bytes(std::span(&key, 1))));
    }
    const Status status = engine.Run([&](Transaction& transaction) {
      for (Key i = 0; i < 100; ++i) {
        std::vector<txn::Want> wants;
        for (Key j = 0; j < 10; ++j) {
          wants.push_back({table, 1000 + 40 * i + 4 * j + transaction.process(), false});
        }
        wants.push_back({table, i, false});
        std::vector<Access*> found(wants.size());
        EXPECT_EQ(TryUntilTheEnd(transaction,
                                 [&] {
                                   if (!transaction.Fetch(wants, found.data())) return false;
                                   for (Key j = 0; j < 10; ++j) EXPECT_FALSE(found[j]->exists());
                                   EXPECT_EQ(found[10]->Get<Key>(), i);
                                   return true;
                                 }),
                  AbortReason::kNone);
      }
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(engine.figures().refused(), 0u);
  });
}

// A record in the log can have a quarter of 64 KiB. Twenty records of 1 KiB are more.
TEST_P(Refusals, OfTooLargeTransactionsChangeNothing) {
  constexpr Key kLarge = 20;
  const txn::EngineOptions options{.replicas = 2, .log_bytes = 64 << 10};
  OnEngines({.protocol = GetParam(), .nodes = 3}, options, [&](Cluster&, txn::Engine& engine) {
    txn::Table* const table = *engine.tables().Add({"t", 1024, 100});
    const Status status = engine.Run([&](Transaction& transaction) {
      const auto write = [&](Key count, std::uint64_t value) {
        std::vector<txn::Want> wants;
        for (Key i = 0; i < count; ++i) wants.push_back({table, 10 * i + engine.self(), true});
        std::vector<Access*> found(count);
        return TryUntilTheEnd(transaction, [&] {
          if (!transaction.Fetch(wants, found.data())) return false;
          for (Access* const access : found) {
            EXPECT_EQ(access->Get<std::uint64_t>(), access->exists() ? 1u : 0u);
            access->Put(value);
          }
          return true;
        });
      };
      EXPECT_EQ(write(5, 1), AbortReason::kNone);
      EXPECT_EQ(write(kLarge, 2), AbortReason::kTooLarge);
      EXPECT_EQ(write(5, 1), AbortReason::kNone);
    });
    ASSERT_TRUE(status) << status.error().message;
  });
}

// Records of several sizes from one server share a request and a reply as long as they fit.
TEST(Limits, RequestsAndRepliesOfTuplesOfSeveralSizesFitIntoMessages) {
  for (const std::string& name : AllProtocols()) {
    const auto protocol = *txn::MakeProtocol(name);
    if (protocol->fetches_once()) continue;
    OnTxnJob({.protocol = name, .nodes = 2}, [&](Cluster& cluster) {
      const auto engine = *txn::Engine::Make(cluster, *protocol, OptionsOf("rpc", *protocol));
      constexpr std::pair<std::uint32_t, Key> kTables[] = {{2048, 7}, {200, 60}, {8, 3000}};
      std::vector<txn::Want> wants;
      for (const auto& [bytes, count] : kTables) {
        txn::Table* const table = *engine->tables().Add({"t", bytes, 2 * count});
        for (Key key = 0; key < count; ++key) wants.push_back({table, 2 * key + 1, true});
      }
      ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
        if (engine->self() != 0) return;
        std::vector<Access*> found(wants.size());
        for (std::uint64_t round = 0; round < 3; ++round) {
          EXPECT_EQ(TryUntilTheEnd(transaction,
                                   [&] {
                                     if (!transaction.Fetch(wants, found.data())) return false;
                                     for (std::size_t i = 0; i < wants.size(); ++i) {
                                       const std::uint64_t before = round == 0 ? 0 : round + i;
                                       EXPECT_EQ(found[i]->Get<std::uint64_t>(), before);
                                       found[i]->Put(round + 1 + i);
                                     }
                                     return true;
                                   }),
                    AbortReason::kNone);
          transaction.Drain();
        }
      }));
      ExpectNoLocks(*engine);
    });
  }
}

TEST(RefusalsByCalvin, OfTuplesNamedLateAffectNoOtherTransaction) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    OnTxnJob({.protocol = "calvin", .nodes = 2}, [&](Cluster& cluster) {
      const auto protocol = *txn::MakeProtocol("calvin");
      const auto engine = *txn::Engine::Make(cluster, *protocol, OptionsOf(stages, *protocol));
      txn::Table* const table = *engine->tables().Add({"t", 8, 400});
      constexpr Key kMany = 640;
      const Status status = engine->Run([&](Transaction& transaction) {
        const auto name = [&](Key first, Key count, bool write) {
          std::vector<txn::Want> wants;
          for (Key key = first; key < first + count; ++key) wants.push_back({table, key, write});
          std::vector<Access*> found(count);
          if (!transaction.Fetch(wants, found.data())) return false;
          for (Access* const access : found) {
            if (write) access->Put(access->Get<std::uint64_t>() + 1);
          }
          return true;
        };
        const auto end = [&](const std::function<bool()>& work) {
          return TryUntilTheEnd(transaction, work);
        };
        EXPECT_EQ(end([&] { return name(0, 40, true) && name(40, 40, true); }),
                  AbortReason::kNamedLate);
        EXPECT_EQ(end([&] { return name(0, 40, false) && name(0, 1, true); }),
                  AbortReason::kNamedLate);
        EXPECT_EQ(end([&] { return name(0, kMany, true); }), AbortReason::kNone);
        transaction.Drain();
      });
      ASSERT_TRUE(status) << status.error().message;
      engine->tables().ForEachTuple(*table, [&](const std::byte* tuple) {
        Key key;
        std::uint64_t value;
        std::memcpy(&key, tuple + table->key_at(), sizeof key);
        std::memcpy(&value, tuple + table->version_at(0) + txn::kWordBytes, sizeof value);
        EXPECT_EQ(value, key < kMany ? 2u : 0u) << "key " << key;
      });
    });
  }
}

class RefusalsBySundial : public Refusals {};
INSTANTIATE_TEST_SUITE_P(All, RefusalsBySundial, ::testing::Values("sundial"));

// A tuple's word has no bits for a later time: they would overwrite its lock.
TEST_P(RefusalsBySundial, AtTheEndOfLogicalTimeAffectNoOtherTransaction) {
  OnEngines({.protocol = "sundial", .nodes = 2}, {}, [&](Cluster&, txn::Engine& engine) {
    txn::Table* const table = *engine.tables().Add({"t", 8, 10});
    constexpr Key kKeys = 4;  // keys 0 and 1 are near the end
    for (Key key = 0; key < kKeys; ++key) {
      const std::uint64_t zero = 0;
      if (table->Home(key) == engine.self()) {
        ASSERT_TRUE(table->Load(key, std::as_bytes(std::span(&zero, 1))));
      }
    }
    engine.tables().ForEachTuple([&](txn::Table&, std::byte* tuple) {
      Key key;
      std::memcpy(&key, tuple + table->key_at(), sizeof key);
      const std::uint64_t time = txn::lease_word::kLastTime - 3;
      const std::uint64_t word = txn::lease_word::Lease(time, time);
      if (key < 2) std::memcpy(tuple, &word, sizeof word);
    });
    const Status status = engine.Run([&](Transaction& transaction) {
      if (engine.self() != 0) return;
      std::uint64_t found = 0;
      const auto add = [&](Key key) {
        return TryUntilTheEnd(transaction, [&] {
          Access* const access = transaction.Write(*table, key);
          if (access == nullptr) return false;
          found = access->Get<std::uint64_t>();
          access->Put(found + 1);
          return true;
        });
      };
      for (Key key = 0; key < kKeys; ++key) {
        for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(add(key), AbortReason::kNone);
        ASSERT_EQ(add(key), key < 2 ? AbortReason::kTimeEnded : AbortReason::kNone);
        EXPECT_EQ(found, 3U);
      }
      transaction.Drain();
    });
    ASSERT_TRUE(status) << status.error().message;
  });
}

}  // namespace
}  // namespace slimgraph::test
