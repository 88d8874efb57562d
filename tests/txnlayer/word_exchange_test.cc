// Nodes exchange words: each gets exactly the words for it.
#include "txnlayer/internal/durability/word_exchange.h"

#include "tests/support/node_processes.h"
#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using Words = txn::WordExchange::Words;

// From one node to another in a round: mostly few words, sometimes none.
Words RandomWords(std::uint64_t seed, std::uint64_t round, NodeId from, NodeId to) {
  std::mt19937_64 random(seed + round * 64 + from * 8 + to);
  Words words(random() % 3 == 0 ? 0 : random() % 200);
  for (std::uint64_t& word : words) word = random();
  return words;
}

TEST(WordExchange, DeliversEachNodeItsWords) {
  const std::uint64_t seed = TestSeed();
  constexpr std::uint64_t kRounds = 20;
  for (const NodeId nodes : {1, 2, 3, 5}) {
    const NodesEnd end = RunNodes(nodes, OnLoss::kEndJob, [&](Job& job) {
      auto cluster = Cluster::Start(job, {.compute = nodes, .threads = 1, .transport = "shm"});
      ASSERT_TRUE(cluster) << cluster.error().message;
      auto exchange = txn::WordExchange::Make(**cluster, 200 * nodes);
      ASSERT_TRUE(exchange) << exchange.error().message;
      const NodeId self = job.self();
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        std::vector<Words> parts;
        bool any = false;
        for (NodeId to = 0; to < nodes; ++to) {
          parts.push_back(RandomWords(seed, round, self, to));
          for (NodeId from = 0; from < nodes; ++from) {
            any = any || !RandomWords(seed, round, from, to).empty();
          }
        }
        const auto received = exchange->Exchange(parts);
        ASSERT_TRUE(received) << received.error().message;
        ASSERT_EQ(received->has_value(), any);
        for (NodeId from = 0; any && from < nodes; ++from) {
          EXPECT_EQ((**received)[from], RandomWords(seed, round, from, self));
        }
      }
      const auto over = exchange->Exchange(std::vector<Words>(nodes));
      ASSERT_TRUE(over);
      EXPECT_FALSE(over->has_value()) << "no node had any words";
      EXPECT_TRUE((*cluster)->Stop());
    });
    EXPECT_TRUE(end.all_succeeded()) << end.output;
  }
}

}  // namespace
}  // namespace slimgraph::test
