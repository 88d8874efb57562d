// Which transactions on a graph conflict, and which do not.
#include <cstdio>

#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {
namespace {

using txn::Answer;
using txn::GraphTransaction;

// A conflict that outlasts all tries is reported with its record.
TEST(GraphConflicts, AreReportedWithTheRecord) {
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
          while (!told) transaction.task().Yield();
          return answer;
        });
        return;
      }
      while (!held) transaction.task().Yield();
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

// Edges of one hub rarely conflict. Under this protocol, two edges in one block always do.
TEST(GraphConflicts, DoNotOccurOnDifferentEdgesOfAHub) {
  const auto protocol = txn::MakeProtocol("nowait");
  const TxnSetting setting{.protocol = "nowait", .nodes = 1, .coroutines = 2};
  const std::string path = WriteRandomGraph(1500, 10, TestSeed());
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource source(path);
    GraphOnNode made;
    MakeGraph(cluster, setting, **protocol, source, {.most_tries = 1}, made);
    if (::testing::Test::HasFatalFailure()) return;
    std::vector<std::uint64_t> others;  // neighbours in different blocks of vertex 0
    for (std::uint64_t v = 1; others.size() < 2; ++v) {
      if (others.empty() || txn::BlockOf(v, 1) != txn::BlockOf(others[0], 1)) others.push_back(v);
    }
    bool held = false;
    bool told = false;
    const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
      GraphTransaction work(*made.graph, transaction);
      const std::uint64_t mine = others[transaction.process()];
      while (transaction.process() == 1 && !held) transaction.task().Yield();
      const txn::Verdict verdict = work.Run([&](GraphTransaction& g) {
        const Answer answer = g.AddEdge(0, mine, {});
        held = true;
        while (transaction.process() == 0 && !told) transaction.task().Yield();
        return answer;
      });
      told = true;
      EXPECT_EQ(verdict.end, Answer::kYes) << verdict.cause;
    });
    EXPECT_TRUE(ran);
  });
  std::remove(path.c_str());
}

// A caller's mistake ends one transaction at its first try, and affects no other.
TEST(GraphRefusals, SayWhatIsWrongAndAffectNoOtherTransaction) {
  for (const char* const name : {"nowait", "occ", "calvin"}) {
    const auto protocol = txn::MakeProtocol(name);
    const TxnSetting setting{.protocol = name, .nodes = 2, .coroutines = 1};
    OnTxnJob(setting, [&](Cluster& cluster) {
      const FileSource source("");
      GraphOnNode made;
      MakeGraph(cluster, setting, **protocol, source, {.shape = {8, 8}}, made);
      if (::testing::Test::HasFatalFailure()) return;
      const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
        if (cluster.self() != 0) return;
        GraphTransaction work(*made.graph, transaction);
        const auto expect = [&](const std::string& cause, const GraphTransaction::Body& body) {
          const txn::Verdict verdict = work.Run(body);
          EXPECT_EQ(verdict.end, cause.empty() ? Answer::kYes : Answer::kAborted);
          EXPECT_EQ(verdict.cause, cause);
          EXPECT_TRUE(cause.empty() || verdict.tries == 1) << verdict.tries;
        };
        const std::vector<std::byte> right(8, std::byte{7});
        const std::vector<std::byte> long_ones(4096, std::byte{9});
        const auto wrong = [](std::size_t bytes, const std::string& what) {
          return fmt::format("{} bytes of properties were given for {}, which carries 8", bytes,
                             what);
        };
        const txn::VertexName beyond = txn::kMaxVertexName + 1;
        const std::string out_of_range = fmt::format(
            "vertex {} is out of range: names are at most {}", beyond, txn::kMaxVertexName);
        expect("", [&](GraphTransaction& g) { return g.AddVertex(1, right); });
        expect("", [&](GraphTransaction& g) { return g.AddVertex(2, {}); });
        expect(wrong(4096, "an edge"),
               [&](GraphTransaction& g) { return g.AddEdge(1, 2, long_ones); });
        expect(wrong(4096, "a vertex"),
               [&](GraphTransaction& g) { return g.SetVertex(1, long_ones); });
        expect(wrong(3, "a vertex"),
               [&](GraphTransaction& g) { return g.AddVertex(3, Bytes(long_ones).first(3)); });
        expect(out_of_range, [&](GraphTransaction& g) { return g.AddVertex(beyond, {}); });
        expect(out_of_range, [&](GraphTransaction& g) { return g.AddEdge(beyond, 1, {}); });
        std::uint64_t degree = 0;
        expect(out_of_range, [&](GraphTransaction& g) { return g.Degree(beyond, degree); });
        expect("", [&](GraphTransaction& g) { return g.AddEdge(1, 2, right); });
        expect("", [&](GraphTransaction& g) {
          txn::StoredEdge edge;
          std::vector<std::byte> found(8);
          const Answer answer = g.GetEdge(1, 2, edge, found);
          EXPECT_TRUE(answer != Answer::kYes || found == right);
          return answer;
        });
      });
      EXPECT_TRUE(ran);
      const auto census = made.graph->TakeCensus();
      ASSERT_TRUE(census);
      EXPECT_EQ(census->vertices, 2u);
      EXPECT_EQ(census->edges, 1u);
    });
  }
}

}  // namespace
}  // namespace slimgraph::test
