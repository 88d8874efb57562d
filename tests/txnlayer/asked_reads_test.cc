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

// What this node has sent since `before`.
Sent SentSince(Cluster& cluster, const Sent& before) {
  const Traffic traffic = cluster.fabric().traffic();
  return {traffic.OfKind(TrafficKind::kRead).operations - before.reads,
          traffic.OfKind(TrafficKind::kMessage).operations - before.messages};
}

// Calls body(table, key, transaction) on node 0, with a key whose tuple is on node 1.
void OnNodeZero(const std::string& stages,
                const std::function<void(txn::Table&, Key, Transaction&, Cluster&)>& body) {
  OnTxnJob({.protocol = "occ", .nodes = 2}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("occ");
    txn::EngineOptions options{.coroutines = 1};
    options.stages = *txn::StageCode::Parse(stages, "occ", protocol->stages());
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"t", 8, 10});
    EXPECT_TRUE(engine->Run([&](Transaction& transaction) {
      if (cluster.self() == 1) return;
      Key key = 1;
      while (table->Home(key) != 1) ++key;
      body(*table, key, transaction, cluster);
    }));
  });
}

TEST(AskedReads, FindTheLocationForLaterReads) {
  OnNodeZero("drtm-h", [](txn::Table& table, Key key, Transaction& one, Cluster& cluster) {
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
    EXPECT_EQ(sent.messages, 0u);
    EXPECT_TRUE(one.Commit());
  });
}

TEST(AskedReads, TellThatARecordIsAbsent) {
  OnNodeZero("drtm-h", [](txn::Table& table, Key key, Transaction& one, Cluster& cluster) {
    one.Begin();
    const Sent before = SentSince(cluster, {});
    Access* const access = one.Read(table, key);
    ASSERT_NE(access, nullptr);
    EXPECT_TRUE(access->absent);
    const Sent sent = SentSince(cluster, before);
    EXPECT_EQ(sent.reads, 0u);
    EXPECT_EQ(sent.messages, 1u);
    // Its absence is validated one-sided.
    EXPECT_TRUE(one.Commit());
    EXPECT_EQ(SentSince(cluster, before).reads, 1u);
  });
}

TEST(AskedReads, AreNotMadeByOtherCodes) {
  OnNodeZero("drtm-r", [](txn::Table& table, Key key, Transaction& one, Cluster& cluster) {
    one.Begin();
    const Sent before = SentSince(cluster, {});
    ASSERT_NE(one.Read(table, key), nullptr);
    const Sent sent = SentSince(cluster, before);
    EXPECT_GT(sent.reads, 0u);
    EXPECT_EQ(sent.messages, 0u);
    EXPECT_TRUE(one.Commit());
  });
}

}  // namespace
}  // namespace slimgraph::test
