// Where transactions on a graph meet, and where they do not.
#include <cstdio>

#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {
namespace {

using txn::Answer;
using txn::GraphTransaction;

// A conflict that does not end is reported, and says where it is.
TEST(GraphConflicts, AreReportedWithTheirPlace) {
  const auto protocol = txn::MakeProtocol("nowait");
  const TxnSetting setting{.protocol = "nowait", .nodes = 1, .coroutines = 2};
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource source("");
    GraphOnNode made;
    MakeGraph(cluster, setting, **protocol, source, {.most_tries = 5}, made);
    if (::testing::Test::HasFatalFailure()) return;
    bool held = false;
    bool told = false;
    const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
      GraphTransaction work(*made.graph, transaction);
      if (transaction.process() == 0) {
        work.Run([&](GraphTransaction& g) {
          const Answer answer = g.AddVertex(17, {});
          held = true;
          while (!told) transaction.task().Pause();
          return answer;
        });
        return;
      }
      while (!held) transaction.task().Pause();
      const txn::Verdict verdict =
          work.Run([](GraphTransaction& g) { return g.AddVertex(17, {}); });
      told = true;
      EXPECT_EQ(verdict.end, Answer::kAborted);
      EXPECT_EQ(verdict.tries, 5u);
      EXPECT_EQ(verdict.cause, "locked: vertex 17 (nowait, lock)");
    });
    EXPECT_TRUE(ran);
  });
}

// Edges of one vertex meet rarely: the protocol is one under which two in one block always do.
TEST(GraphConflicts, AreNoneOnDifferentEdgesOfAHub) {
  const auto protocol = txn::MakeProtocol("nowait");
  const TxnSetting setting{.protocol = "nowait", .nodes = 1, .coroutines = 2};
  const std::string path = WriteRandomGraph(1500, 10, TestSeed());
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource source(path);
    GraphOnNode made;
    MakeGraph(cluster, setting, **protocol, source, {.most_tries = 1}, made);
    if (::testing::Test::HasFatalFailure()) return;
    std::vector<std::uint64_t> others;  // in different blocks of vertex 0
    for (std::uint64_t v = 1; others.size() < 2; ++v) {
      if (others.empty() || txn::BlockOf(v, 1) != txn::BlockOf(others[0], 1)) others.push_back(v);
    }
    bool held = false;
    bool told = false;
    const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
      GraphTransaction work(*made.graph, transaction);
      const std::uint64_t mine = others[transaction.process()];
      while (transaction.process() == 1 && !held) transaction.task().Pause();
      const txn::Verdict verdict = work.Run([&](GraphTransaction& g) {
        const Answer answer = g.AddEdge(0, mine, {});
        held = true;
        while (transaction.process() == 0 && !told) transaction.task().Pause();
        return answer;
      });
      told = true;
      EXPECT_EQ(verdict.end, Answer::kYes) << verdict.cause;
    });
    EXPECT_TRUE(ran);
  });
  std::remove(path.c_str());
}

}  // namespace
}  // namespace slimgraph::test
