// CALVIN's lock queues against a map of lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "tests/txnlayer/support.h"
#include "txnlayer/protocol/calvin_queues.h"

namespace slimgraph::test {
namespace {

using txn::CalvinQueues;

// Requests are told apart by their numbers.
TEST(CalvinQueues, KeepTheOrderOfEachTuple) {
  OnTxnJob({.protocol = "calvin", .nodes = 1}, [](Cluster& cluster) {
    const auto tables = {
        *txn::Table::Make(cluster.fabric(), 0, {"a", 8, 8}, {.metadata_words = 1}),
        *txn::Table::Make(cluster.fabric(), 1, {"b", 8, 8}, {.metadata_words = 1})};
    std::mt19937_64 random(TestSeed());
    CalvinQueues queues;
    using Tuple = std::pair<txn::TableId, std::uint64_t>;
    std::map<Tuple, std::deque<std::uint64_t>> expected;
    std::map<std::uint64_t, CalvinQueues::Id> ids;
    for (std::uint64_t number = 1; number < 20'000; ++number) {
      // It grows to a few thousand requests, and becomes empty again.
      const bool adds = ids.empty() || random() % 20'000 > number;
      if (adds) {
        const auto& table = *(tables.begin() + static_cast<std::ptrdiff_t>(random() % 2));
        const CalvinQueues::Place place{table.get(), 0, random() % 300 * 64};
        CalvinQueues::Request request;
        request.place = place;
        request.number = number;
        ids[number] = queues.Add(request);
        expected[{table->id(), place.offset}].push_back(number);
        ASSERT_EQ(queues.at(queues.FirstOf(place)).number,
                  (expected[{table->id(), place.offset}].front()));
        continue;
      }
      auto taken = ids.lower_bound(random() % number);
      if (taken == ids.end()) taken = ids.begin();
      const CalvinQueues::Place place = queues.at(taken->second).place;
      auto& queue = expected[{place.table->id(), place.offset}];
      std::erase(queue, taken->first);
      CalvinQueues::Id id = queues.Remove(taken->second);
      ids.erase(taken);
      ASSERT_EQ(id, queues.FirstOf(place));
      for (const std::uint64_t waiting : queue) {
        ASSERT_NE(id, CalvinQueues::kNone);
        ASSERT_EQ(queues.at(id).number, waiting);
        id = queues.Next(id);
      }
      ASSERT_EQ(id, CalvinQueues::kNone);
      ASSERT_EQ(queues.empty(), ids.empty());
    }
    std::size_t left = 0;
    queues.ForEach([&](const CalvinQueues::Request& request) {
      EXPECT_TRUE(ids.contains(request.number));
      ++left;
    });
    EXPECT_EQ(left, ids.size());
    queues.Clear();
    EXPECT_TRUE(queues.empty());
  });
}

}  // namespace
}  // namespace slimgraph::test
