#include "slimgraph/base/learned_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace slimgraph {
namespace {

// Different gaps between keys, from none to very uneven ones.
std::vector<std::uint64_t> RisingKeys(std::mt19937_64& random, std::size_t count) {
  const unsigned most_shift = static_cast<unsigned>(random() % 50);
  std::vector<std::uint64_t> keys = {random() % 3 == 0 ? 0 : random() >> 40};
  while (keys.size() < count) {
    const unsigned shift = most_shift == 0 ? 0 : static_cast<unsigned>(random() % most_shift);
    const std::uint64_t next = keys.back() + 1 + (random() & ((std::uint64_t{1} << shift) - 1));
    if (next <= keys.back()) break;
    keys.push_back(next);
  }
  return keys;
}

TEST(LearnedSearch, FindsWhatABinarySearchFinds) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    const auto keys = RisingKeys(random, 1 + random() % 5000);
    const LearnedSearch learned(keys);
    const auto expect = [&](std::uint64_t key) {
      const auto above = std::upper_bound(keys.begin(), keys.end(), key);
      ASSERT_EQ(learned.Find(keys, key), static_cast<std::size_t>(above - keys.begin()) - 1) << key;
    };
    for (const std::uint64_t key : keys) {
      expect(key);
      expect(key + 1);
      if (key > keys.front()) expect(key - 1);
    }
    for (int i = 0; i < 1000; ++i)
      expect(keys.front() + random() % (~std::uint64_t{0} - keys.front()));
    expect(~std::uint64_t{0});
  }
}

TEST(LearnedSearch, LooksAtFewKeys) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> keys(100'000);
  for (std::uint64_t& key : keys) key = random();
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const LearnedSearch learned(keys);
  EXPECT_LT(learned.MeanWindow(keys), 40);
  EXPECT_LT(learned.bytes(), keys.size());
}

}  // namespace
}  // namespace slimgraph
