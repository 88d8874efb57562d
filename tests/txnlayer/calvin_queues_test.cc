// CALVIN's lock queues, compared with a map of lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "tests/txnlayer/support.h"
#include "txnlayer/protocol/internal/calvin_queues.h"

namespace slimgraph::test {
namespace {

using txn::CalvinQueues;

// Requests are identified by their numbers.
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
      // The pool grows to a few thousand requests, and becomes empty again.
      const bool adds = ids.empty() || random() % 20'000 > number;
      if (adds) {
        const auto& table = *(tables.begin() + static_cast<std::ptrdiff_t>(random() % 2));
        const CalvinQueues::TupleLocation location{table.get(), 0, random() % 300 * 64};
        CalvinQueues::Request request;
        request.location = location;
        request.number = number;
        ids[number] = queues.Add(request);
        expected[{table->id(), location.offset}].push_back(number);
        ASSERT_EQ(queues.at(queues.FirstOf(location)).number,
                  (expected[{table->id(), location.offset}].front()));
        continue;
      }
      auto taken = ids.lower_bound(random() % number);
      if (taken == ids.end()) taken = ids.begin();
      const CalvinQueues::TupleLocation location = queues.at(taken->second).location;
      auto& queue = expected[{location.table->id(), location.offset}];
      std::erase(queue, taken->first);
      CalvinQueues::Id id = queues.Remove(taken->second);
      ids.erase(taken);
      ASSERT_EQ(id, queues.FirstOf(location));
      for (const std::uint64_t waiting : queue) {
        ASSERT_NE(id, CalvinQueues::kNone);
        ASSERT_EQ(queues.at(id).number, waiting);
        id = queues.Behind(id);
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
