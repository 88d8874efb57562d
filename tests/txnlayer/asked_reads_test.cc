// Reads of a stage code that asks for tuples (DrTM+H): by message where the location is not known,
// one-sided afterwards.
#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Transaction;

struct Sent {
  std::uint64_t reads;
  std::uint64_t messages;
};

// What this node has sent since `before`. Some messages belong to the run and not to transactions.
Sent SentSince(Cluster& cluster, const Sent& before) {
  const Traffic traffic = cluster.fabric().traffic();
  return {traffic.OfKind(TrafficKind::kRead).operations - before.reads,
          traffic.OfKind(TrafficKind::kMessage).operations - before.messages};
}

TEST(AskedReads, FindTheLocationForLaterReads) {
  OnNodeZero("occ", "drtm-h",
             [](txn::Engine& engine, txn::Table& table, Key key, Transaction& one) {
               Cluster& cluster = engine.cluster();
               // There is no such tuple yet: its home inserts it.
               one.Begin();
               Sent before = SentSince(cluster, {});
               ASSERT_NE(one.Write(table, key), nullptr);
               Sent sent = SentSince(cluster, before);
               EXPECT_EQ(sent.reads, 0u);
               EXPECT_GE(sent.messages, 1u);
               one.Write(table, key)->Put(std::uint64_t{7});
               ASSERT_TRUE(one.Commit());
               // Now its location is known.
               one.Begin();
               before = SentSince(cluster, {});
               Access* const access = one.Read(table, key);
               ASSERT_NE(access, nullptr);
               EXPECT_EQ(access->Get<std::uint64_t>(), 7u);
               sent = SentSince(cluster, before);
               EXPECT_GT(sent.reads, 0u);
               EXPECT_TRUE(one.Commit());
             });
}

TEST(AskedReads, TellThatARecordIsAbsent) {
  OnNodeZero("occ", "drtm-h",
             [](txn::Engine& engine, txn::Table& table, Key key, Transaction& one) {
               Cluster& cluster = engine.cluster();
               one.Begin();
               const Sent before = SentSince(cluster, {});
               Access* const access = one.Read(table, key);
               ASSERT_NE(access, nullptr);
               EXPECT_TRUE(access->absent);
               const Sent sent = SentSince(cluster, before);
               EXPECT_EQ(sent.reads, 0u);
               EXPECT_GE(sent.messages, 1u);
               // Its absence is validated one-sided.
               EXPECT_TRUE(one.Commit());
               EXPECT_EQ(SentSince(cluster, before).reads, 1u);
             });
}

TEST(AskedReads, AreNotMadeByOtherCodes) {
  OnNodeZero("occ", "drtm-r",
             [](txn::Engine& engine, txn::Table& table, Key key, Transaction& one) {
               Cluster& cluster = engine.cluster();
               one.Begin();
               const Sent before = SentSince(cluster, {});
               ASSERT_NE(one.Read(table, key), nullptr);
               const Sent sent = SentSince(cluster, before);
               EXPECT_GT(sent.reads, 0u);
               EXPECT_TRUE(one.Commit());
             });
}

}  // namespace
}  // namespace slimgraph::test
