// The tree in which nodes find tuples of tables that ask for one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <vector>

#include "slimgraph/base/sync.h"
#include "tests/support/seed.h"
#include "txnlayer/internal/store/key_tree.h"

namespace slimgraph::test {
namespace {

using txn::KeyTree;

// In ascending, descending and random order, from one key to as many as take five levels.
TEST(KeyTree, AgreesWithAMap) {
  std::mt19937_64 random(TestSeed());
  KeyTree tree;
  for (int round = 0; round < 60; ++round) {
    tree.Clear();
    EXPECT_EQ(tree.Find(0), 0U);
    std::vector<std::uint64_t> keys(1 + random() % (std::uint64_t{1} << (2 + round % 16)));
    const std::uint64_t below = round % 3 == 0 ? 4 * keys.size() : ~std::uint64_t{0};
    for (std::uint64_t& key : keys) key = random() % below;
    if (round % 5 == 0) keys[0] = 0;
    if (round % 5 == 1) keys[0] = ~std::uint64_t{0};
    if (round % 4 == 0) std::ranges::sort(keys);
    if (round % 4 == 1) std::ranges::sort(keys, std::greater<>());
    std::map<std::uint64_t, std::uint64_t> placed;
    for (const std::uint64_t key : keys) {
      if (!placed.emplace(key, placed.size() + 1).second) continue;
      tree.Insert(key, placed[key]);
      ASSERT_EQ(tree.Find(key), placed[key]) << key << " in round " << round;
    }
    for (const auto& [key, value] : placed) {
      ASSERT_EQ(tree.Find(key), value) << key << " in round " << round;
      for (const std::uint64_t near : {key - 1, key + 1}) {
        const auto found = placed.find(near);
        ASSERT_EQ(tree.Find(near), found == placed.end() ? 0 : found->second) << near;
      }
    }
  }
}

// Lookups beside insertions find all keys that had been inserted before they began.
TEST(KeyTree, IsSearchedWhileItGrows) {
  std::mt19937_64 random(TestSeed());
  std::vector<std::uint64_t> keys(200'000);
  for (std::uint64_t& key : keys) key = random();
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::ranges::shuffle(keys, random);
  KeyTree tree;
  std::atomic<std::uint64_t> inserted = 0;
  std::atomic<std::uint64_t> wrong = 0;
  {
    std::vector<Thread> threads;
    for (std::uint64_t seed : {random(), random()}) {
      threads.emplace_back([&, seed] {
        std::mt19937_64 mine(seed);
        for (std::uint64_t count = 0; count < keys.size();) {
          count = inserted;
          if (count == 0) continue;
          const std::uint64_t i = mine() % count;
          if (tree.Find(keys[i]) != i + 1) ++wrong;
        }
      });
    }
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
      tree.Insert(keys[i], i + 1);
      inserted = i + 1;
    }
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace slimgraph::test
