// Ordered tables: the directory, single operations against a serial map, and
// that no key appears in a range, or vanishes from it, while a transaction looks.
#include "txnlayer/ordered/ordered_table.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "slimgraph/cluster/gather.h"
#include "tests/txnlayer/pairs_workload.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/ordered/internal/first_leaves.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Directory;
using txn::Key;
using txn::OrderedTable;
using txn::StepwiseFetch;
using txn::Transaction;

TEST(Directory, AgreesWithASet) {
  std::mt19937_64 random(TestSeed());
  Directory directory;
  std::set<Key> lows = {0};
  std::uint64_t trained = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (step % 5000 == 0) {
      lows = {0};
      while (lows.size() < 1000) lows.insert(random() % 100'000);
      directory.Learn({lows.begin(), lows.end()});
    }
    const Key key = 1 + random() % 100'000;
    if (random() % 3 == 0) {
      directory.Remove(key);
      lows.erase(key);
    } else {
      directory.Add(key);
      lows.insert(key);
    }
    const Key wanted = random() % 110'000;
    const auto above = lows.upper_bound(wanted);
    const Key low = *std::prev(above);
    ASSERT_EQ(directory.Find(wanted), low);
    std::vector<Key> following;
    directory.Following(low, ~txn::Key{0}, 10, following);
    std::vector<Key> expected;
    for (auto at = above; at != lows.end() && expected.size() < 10; ++at) expected.push_back(*at);
    ASSERT_EQ(following, expected);
    ASSERT_EQ(directory.leaves(), lows.size());
    trained = directory.trained();
  }
  EXPECT_GT(trained, 10u);
}

// What threads add while one of them trains is not lost.
TEST(Directory, KeepsWhatIsAddedWhileItIsTrained) {
  Directory directory;
  constexpr Key kThreads = 4;
  constexpr Key kEach = 5000;
  {
    std::vector<Thread> threads;
    for (Key thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&directory, thread] {
        for (Key i = 0; i < kEach; ++i) {
          const Key low = 1 + i * kThreads + thread;
          directory.Add(low);
          if (i % 4 == 0) directory.Remove(low);
        }
      });
    }
  }
  EXPECT_EQ(directory.leaves(), 1 + kThreads * kEach * 3 / 4);
  for (Key low = 1; low <= kThreads * kEach; ++low) {
    const bool removed = (low - 1) / kThreads % 4 == 0;
    EXPECT_EQ(directory.Find(low) == low, !removed) << low;
  }
}

TEST(Leaf, KeepsItsKeysInOrderWhenItIsSplit) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 1000; ++round) {
    txn::Leaf leaf{.low = 100, .high = round % 2 == 0 ? 0u : 10'000u};
    while (!leaf.full()) {
      const Key key = 100 + random() % 1000;
      if (!leaf.Has(key)) leaf.Add(key);
    }
    const txn::Leaf before = leaf;
    Key key = 100;
    while (leaf.Has(key)) key = 100 + random() % 1200;
    txn::Leaf next = leaf.SplitFor(key);
    EXPECT_EQ(next.high, before.high);
    EXPECT_EQ(leaf.high, next.low);
    EXPECT_GT(next.low, leaf.low);
    EXPECT_EQ(leaf.count + next.count, txn::Leaf::kSlots);
    txn::Leaf& half = key < next.low ? leaf : next;
    ASSERT_FALSE(half.full());
    half.Add(key);
    for (const txn::Leaf& one : {leaf, next}) {
      for (std::uint64_t slot = 0; slot < one.count; ++slot) {
        EXPECT_TRUE(one.Covers(one.keys[slot]));
        EXPECT_TRUE(slot == 0 || one.keys[slot - 1] < one.keys[slot]);
        EXPECT_TRUE(one.keys[slot] == key || before.Has(one.keys[slot]));
      }
    }
  }
}

// `leaves` and `keys`: those of all nodes' parts, in the order of the parts. The leaves follow from
// the keys alone, so they are the same for any number of nodes.
void CheckLeaves(std::span<const txn::Leaf> leaves, std::span<const Key> keys) {
  ASSERT_FALSE(leaves.empty());
  std::vector<Key> found;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const txn::Leaf& leaf = leaves[i];
    EXPECT_EQ(leaf.low, i == 0 ? 0 : leaves[i - 1].high);
    EXPECT_EQ(leaf.last(), i + 1 == leaves.size());
    ASSERT_EQ(leaf.count, leaf.last() ? keys.size() - found.size() : txn::kLoadedKeys);
    ASSERT_LE(leaf.count, txn::kLoadedKeys);
    EXPECT_TRUE(leaf.count > 0 || keys.empty());
    for (const Key key : std::span(leaf.keys, leaf.count)) EXPECT_TRUE(leaf.Covers(key));
    found.insert(found.end(), leaf.keys, leaf.keys + leaf.count);
  }
  EXPECT_EQ(found, std::vector<Key>(keys.begin(), keys.end()));
}

// Whichever nodes bring the keys.
TEST(FirstLeaves, HaveAllKeysInOrderInEqualParts) {
  const std::uint64_t seed = TestSeed();
  for (const NodeId nodes : {1, 2, 5}) {
    ExpectNodesRun(nodes, [&](Job& job) {
      auto cluster = Cluster::Start(job, {});
      ASSERT_TRUE(cluster);
      Collectives& all = (*cluster)->all();
      std::mt19937_64 random(seed);
      for (const std::size_t count : {0, 1, 3, 12, 30, 100, 20'000}) {
        for (const char* const who : {"any", "one", "in order", "all but one"}) {
          std::set<Key> keys;
          const Key top = random() % 2 == 0 ? ~Key{0} : 4 * count;
          while (keys.size() < count) keys.insert(1 + random() % top);
          const NodeId one = static_cast<NodeId>(random() % nodes);
          std::vector<Key> mine;
          std::size_t number = 0;
          for (const Key key : keys) {
            NodeId owner = static_cast<NodeId>(random() % nodes);
            if (who == std::string("one")) owner = one;
            if (who == std::string("in order")) owner = static_cast<NodeId>(number * nodes / count);
            if (who == std::string("all but one") && owner == one) owner = (one + 1) % nodes;
            if (owner == job.self()) mine.push_back(key);
            ++number;
          }
          std::shuffle(mine.begin(), mine.end(), std::mt19937_64(seed));
          const auto part = txn::SortAcross(all, mine);
          ASSERT_TRUE(part);
          EXPECT_LE(part->size(), 64 + count * 3 / 2 / nodes) << who;
          const auto parts = GatherList<Key>(all, *part);
          EXPECT_EQ(*parts, std::vector<Key>(keys.begin(), keys.end())) << who;
          const auto leaves = txn::LeavesAcross(all, *part);
          ASSERT_TRUE(leaves);
          CheckLeaves(*GatherList<txn::Leaf>(all, *leaves), *parts);
        }
      }
      ASSERT_TRUE((*cluster)->Stop());
    });
  }
}

struct OnEngine {
  std::unique_ptr<txn::Protocol> protocol;
  std::unique_ptr<txn::Engine> engine;

  OnEngine(Cluster& cluster, const TxnSetting& setting) {
    protocol = *txn::MakeProtocol(setting.protocol, kBriefWaits);
    txn::EngineOptions options;
    options.coroutines = setting.coroutines;
    options.stages = *txn::StageCode::Parse(setting.stages, protocol->name(), protocol->stages());
    engine = *txn::Engine::Make(cluster, *protocol, options);
  }
};

// An engine with an ordered table of these keys, each of whose records is its key.
struct OnTable : OnEngine {
  std::unique_ptr<OrderedTable> table;

  OnTable(Cluster& cluster, const TxnSetting& setting, const std::vector<Key>& keys)
      : OnEngine(cluster, setting) {
    table = *OrderedTable::Make(*engine, {"rows", 8, 256});
    std::vector<Key> mine;
    for (std::size_t i = engine->self(); i < keys.size(); i += cluster.topology().nodes()) {
      mine.push_back(keys[i]);
    }
    EXPECT_TRUE(table->Load(std::move(mine), [](Key key, std::byte* record) {
      std::memcpy(record, &key, sizeof key);
    }));
  }

  // Repeats `work` until it has committed.
  void Commit(Transaction& transaction, const std::function<bool(StepwiseFetch&)>& work) const {
    StepwiseFetch steps(*protocol, StepwiseFetch::Unnamed::kAbort);
    for (std::uint32_t tries = 1;; ++tries) {
      transaction.Begin(tries > 1);
      steps.Begin();
      if (work(steps) && transaction.Commit()) return;
      ASSERT_FALSE(txn::IsRefusal(transaction.reason()));
      transaction.BackOff(std::min<std::uint32_t>(tries, 8));
    }
  }
};

class Ordered : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Ordered, ::testing::ValuesIn(AllProtocols()),
                         [](const auto& one) { return one.param; });

// On the first node, with all memory sides.
TEST_P(Ordered, TablesAgreeWithAMap) {
  const std::uint64_t seed = TestSeed();
  for (const auto& [nodes, compute] : {std::pair<NodeId, NodeId>{1, 1}, {3, 1}, {2, 2}}) {
    for (const char* const stages : {"one-sided", "rpc"}) {
      const TxnSetting setting{.protocol = GetParam(),
                               .stages = stages,
                               .nodes = nodes,
                               .compute = compute,
                               .coroutines = 1};
      OnTxnJob(setting, [&](Cluster& cluster) {
        std::mt19937_64 random(seed);
        std::map<Key, Key> expected;
        const std::uint64_t loaded = random() % 2 == 0 ? 0 : random() % 300;
        for (std::uint64_t i = 0; i < loaded; ++i) {
          const Key key = random() % 1000;
          expected[key] = key;
        }
        std::vector<Key> keys;
        for (const auto& [key, value] : expected) keys.push_back(key);
        const OnTable on(cluster, setting, keys);
        ASSERT_TRUE(on.engine->Run([&](Transaction& transaction) {
          if (on.engine->self() != 0) return;
          for (int step = 0; step < 400; ++step) {
            const Key key = random() % 1000;
            const auto what = random() % 5;
            on.Commit(transaction, [&](StepwiseFetch& steps) {
              if (what == 0 && !on.table->Erase(transaction, steps, key)) return false;
              if (what == 1 || what == 2) {
                Access* row = nullptr;
                if (!on.table->Insert(transaction, steps, key, &row)) return false;
                EXPECT_EQ(row->exists(), expected.contains(key));
                row->Put(Key{static_cast<Key>(step)});
              }
              if (what == 3) {
                Access* row = nullptr;
                if (!on.table->ReadByLeaf(transaction, steps, key, false, &row)) return false;
                EXPECT_EQ(row != nullptr, expected.contains(key));
                if (row != nullptr) {
                  EXPECT_EQ(row->Get<Key>(), expected[key]);
                }
              }
              std::vector<Access*> found;
              const std::size_t most = random() % 60;
              const Key last = random() % 2 == 0 ? ~Key{0} : key + random() % 200;
              if (what == 4) {
                if (!on.table->Scan(transaction, steps, key, last, most, found)) return false;
                auto at = expected.lower_bound(key);
                const auto end = last == ~Key{0} ? expected.end() : expected.upper_bound(last);
                for (const Access* const row : found) {
                  EXPECT_TRUE(at != end && row->key == at->first && row->Get<Key>() == at->second);
                  if (at != end) ++at;
                }
                EXPECT_TRUE(found.size() == most || at == end);
              }
              return true;
            });
            if (what == 0) expected.erase(key);
            if (what == 1 || what == 2) expected[key] = static_cast<Key>(step);
          }
        }));
        const auto checked = on.table->Check();
        EXPECT_TRUE(checked) << checked.error().message;
      });
    }
  }
}

TEST_P(Ordered, ScansSeeNoPhantoms) {
  std::mt19937_64 random(TestSeed());
  for (const std::string& stages :
       {std::string("one-sided"), std::string("rpc"), RandomStages(GetParam(), random)}) {
    const TxnSetting setting{.protocol = GetParam(),
                             .stages = stages,
                             .transport = random() % 2 == 0 ? "shm" : "tcp",
                             .nodes = 3,
                             .compute = 2,
                             .coroutines = 4};
    const std::uint64_t seed = random();
    OnTxnJob(setting, [&](Cluster& cluster) {
      const OnEngine on(cluster, setting);
      PairsWorkload pairs(60, seed);
      ASSERT_TRUE(pairs.Load(*on.engine));
      const auto driven = txn::Drive(*on.engine, pairs, {.seconds = 20, .transactions = 40});
      ASSERT_TRUE(driven) << driven.error().message;
      EXPECT_GT(pairs.scans(), 50u);
    });
  }
}

TEST_P(Ordered, WorkloadsKeepTheirData) {
  std::mt19937_64 random(TestSeed());
  const NodeId nodes[][2] = {{1, 1}, {3, 1}, {2, 2}};
  for (const char* const workload : {"ycsb-a", "ycsb-d", "ycsb-e", "ycsb-f"}) {
    const auto& side = nodes[random() % 3];
    TxnSetting setting{.protocol = GetParam(),
                       .stages = RandomStages(GetParam(), random),
                       .workload = workload,
                       .transport = random() % 2 == 0 ? "shm" : "tcp",
                       .nodes = side[0],
                       .compute = side[1],
                       .coroutines = 4,
                       .transactions = 60};
    setting.work.rows = 1 + random() % 2000;
    setting.work.write_share = 0.5;
    setting.work.operations = 1 + static_cast<std::uint32_t>(random() % 3);
    setting.work.scan_length = 30;
    setting.work.lookup = static_cast<txn::Lookup>(random() % 3);
    if (setting.work.lookup == txn::Lookup::kTree) setting.stages = "rpc";
    setting.work.seed = TestSeed();
    RunSetting(setting, [&](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
      EXPECT_EQ(result.figures.committed, 60u * 4 * side[1]);
    });
  }
}

// As in a queue: keys are added at the end and erased at the front.
TEST_P(Ordered, LeavesGoWithTheirKeys) {
  const TxnSetting setting{.protocol = GetParam(), .nodes = 2, .coroutines = 1};
  OnTxnJob(setting, [&](Cluster& cluster) {
    constexpr Key kFirst = 1000;
    std::vector<Key> keys;
    for (Key key = kFirst; key < kFirst + 200; ++key) keys.push_back(key);
    const OnTable on(cluster, setting, keys);
    const auto leaves = [&] {
      std::uint64_t count = 0;
      on.engine->tables().ForEachRecord(on.table->leaves(), [&](Key, const std::byte* record) {
        count += record == nullptr ? 0 : 1;
      });
      return *on.engine->cluster().all().AllSum(count);
    };
    EXPECT_LE(leaves(), 18u);  // of twelve keys, but the last one of each node's part
    // The nodes take turns, so that each meets what the other has removed.
    for (Key turn = 0; turn < 6; ++turn) {
      ASSERT_TRUE(on.engine->Run([&](Transaction& transaction) {
        if (on.engine->self() != turn % 2) return;
        for (Key step = 0; step < 60; ++step) {
          const Key front = kFirst + turn * 60 + step;
          on.Commit(transaction, [&](StepwiseFetch& steps) {
            std::vector<Access*> found;
            if (!on.table->Scan(transaction, steps, 0, ~Key{0}, 1, found)) return false;
            EXPECT_EQ(found.at(0)->key, front);
            if (!on.table->Erase(transaction, steps, front)) return false;
            Access* row = nullptr;
            if (!on.table->Insert(transaction, steps, front + 200, &row)) return false;
            row->Put(front + 200);
            return true;
          });
        }
      }));
      EXPECT_LT(leaves(), 20u);
      const auto checked = on.table->Check();
      ASSERT_TRUE(checked) << checked.error().message;
    }
  });
}

TEST(OrderedTables, SurviveTheDeathOfANode) {
  const std::pair<const char*, txn::Lookup> points[] = {
      {"occ", txn::Lookup::kHash}, {"waitdie", txn::Lookup::kHash}, {"occ", txn::Lookup::kTree}};
  for (const auto& [protocol, lookup] : points) {
    TxnSetting setting{.protocol = protocol,
                       .stages = lookup == txn::Lookup::kTree ? "rpc" : "one-sided",
                       .workload = "ycsb-e",
                       .transactions = 200,
                       .replicas = 2,
                       .death = {1, txn::Stage::kCommit, 100}};
    setting.work.rows = 1000;
    setting.work.write_share = 0.7;
    setting.work.scan_length = 20;
    setting.work.lookup = lookup;
    setting.work.seed = TestSeed();
    RunSetting(setting, [](txn::Engine&, txn::Workload&, const txn::DriveResult& result) {
      EXPECT_EQ(result.lost, std::vector<NodeId>{1});
    });
  }
}

TEST(OrderedTables, NoticeLeavesThatAreWrong) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    std::vector<Key> keys;
    for (Key key = 0; key < 100; ++key) keys.push_back(3 * key);
    const OnTable on(cluster, {.protocol = "occ"}, keys);
    EXPECT_TRUE(on.table->Check());
    const auto expect_found = [&](const char* what, const std::function<void(txn::Leaf&)>& damage) {
      txn::Table& leaves = on.table->leaves();
      std::byte* const record =
          leaves.memory() + leaves.TupleOffset(3) + leaves.version_at(0) + txn::kWordBytes;
      txn::Leaf leaf;
      std::memcpy(&leaf, record, sizeof leaf);
      const txn::Leaf before = leaf;
      damage(leaf);
      std::memcpy(record, &leaf, sizeof leaf);
      const auto checked = on.table->Check();
      EXPECT_FALSE(checked) << what;
      if (!checked) {
        EXPECT_NE(checked.error().message.find(what), std::string::npos) << checked.error().message;
      }
      std::memcpy(record, &before, sizeof before);
    };
    expect_found("out of order", [](txn::Leaf& leaf) { std::swap(leaf.keys[0], leaf.keys[1]); });
    expect_found("out of order", [](txn::Leaf& leaf) { leaf.keys[0] = leaf.high; });
    expect_found("no chain", [](txn::Leaf& leaf) { ++leaf.high; });
    expect_found("not those", [](txn::Leaf& leaf) { leaf.Remove(leaf.keys[5]); });
    expect_found("not those", [](txn::Leaf& leaf) { ++leaf.keys[11]; });
    EXPECT_TRUE(on.table->Check());
  });
}

}  // namespace
}  // namespace slimgraph::test
