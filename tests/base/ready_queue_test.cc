#include "slimgraph/base/sim/ready_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace slimgraph::sim {
namespace {

struct Runner {
  std::size_t number = 0;
  std::size_t ready_place = ReadyQueue<Runner>::kNowhere;
};

// Random additions and removals, compared with a sorted set. Times are few, so that ties decide.
TEST(ReadyQueue, HasTheEarliestThreadFirstAndLetsAnyLeave) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::vector<Runner> runners(1 + random() % 100);
    for (std::size_t i = 0; i < runners.size(); ++i) runners[i].number = i;
    ReadyQueue<Runner> queue;
    std::set<std::pair<ReadyKey, std::size_t>> expected;
    for (int step = 0; step < 2000; ++step) {
      Runner& runner = runners[random() % runners.size()];
      if (runner.ready_place == ReadyQueue<Runner>::kNowhere) {
        const ReadyKey key{random() % 8, random()};
        queue.Add(runner, key);
        expected.emplace(key, runner.number);
      } else {
        Runner& left = random() % 2 == 0 ? runner : queue.first();
        expected.erase({queue.key_of(left), left.number});
        queue.Remove(left);
      }
      ASSERT_EQ(queue.empty(), expected.empty());
      if (expected.empty()) continue;
      ASSERT_EQ(queue.first_key(), expected.begin()->first);
      ASSERT_EQ(queue.first().number, expected.begin()->second);
    }
  }
}

}  // namespace
}  // namespace slimgraph::sim
