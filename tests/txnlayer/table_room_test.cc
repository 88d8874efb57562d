// Tables that grow and shrink.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Key;

// Grown, filled, shrunk and swept in any order. Nothing of another size is left in its buckets.
TEST(Table, KeepsItsKeysInAnyRoom) {
  OnTxnJob({.protocol = "occ", .nodes = 1}, [](Cluster& cluster) {
    std::mt19937_64 random(TestSeed());
    for (const unsigned neighbour_bits : {0U, 3U, 4U}) {
      constexpr std::uint64_t kMost = 20'000;
      auto table = *txn::Table::Make(cluster.fabric(), static_cast<txn::TableId>(neighbour_bits),
                                     {.name = "t",
                                      .record_bytes = 40,
                                      .tuples_per_node = 100,
                                      .most_tuples = kMost,
                                      .neighbour_bits = neighbour_bits,
                                      .by_tree = neighbour_bits == 4},
                                     {.metadata_words = 1});
      std::set<Key> placed;
      const std::uint64_t fresh[txn::kMaxMetadataWords] = {};
      for (int step = 0; step < 40; ++step) {
        while (placed.size() < table->room()) {
          const Key key = random() % 50'000;
          ASSERT_NE(table->FindOrInsert(key), 0U);
          placed.insert(key);
        }
        EXPECT_EQ(table->FindOrInsert(60'000), 0U) << "the table is full";
        if (random() % 4 == 0) {
          table->AddRoom(std::min(kMost, table->room() + table->room() / 2));
          continue;
        }
        // Some keys go, so that those which stay fit.
        const std::uint64_t one_of = 1 + random() % 8;
        std::erase_if(placed, [&](Key key) { return txn::Mix(key + step) % one_of != 0; });
        const std::uint64_t least = std::max<std::uint64_t>(100, placed.size());
        table->SetRoom(least + random() % (kMost - least + 1) / (1 + random() % 50));
        table->Sweep(
            0,
            [&](const std::byte* tuple) {
              return placed.contains(txn::TupleView(*table, tuple).key());
            },
            fresh, 0);
        EXPECT_EQ(table->tuples(), placed.size());
        std::set<std::uint64_t> offsets;
        for (Key key = 0; key < 50'000; ++key) {
          const std::uint64_t offset = table->Find(key);
          ASSERT_EQ(offset != 0, placed.contains(key)) << key << " in step " << step;
          if (offset == 0) continue;
          EXPECT_TRUE(offsets.insert(offset).second);
          EXPECT_EQ(txn::TupleView(*table, table->memory() + offset).key(), key);
        }
      }
    }
  });
}

}  // namespace
}  // namespace slimgraph::test
