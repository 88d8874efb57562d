// Lists of the base that need many messages: their neighbours, marks and records.
#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {
namespace {

using txn::GraphTransaction;

// Each node reads the list of the hub, which is on one of them.
TEST(BaseReads, BringLongListsByMessage) {
  const txn::GraphShape shape{8, 16, false, WeightType::kInt32};
  const std::string path = WriteRandomGraph(30'000, 1000, TestSeed(), shape);
  const auto protocol = txn::MakeProtocol("occ");
  ASSERT_TRUE(protocol);
  for (const char* const stages : {"rpc", "one-sided"}) {
    SCOPED_TRACE(stages);
    const TxnSetting setting{
        .protocol = "occ", .stages = stages, .nodes = 2, .compute = 2, .coroutines = 2};
    OnTxnJob(setting, [&](Cluster& cluster) {
      const FileSource source(path);
      GraphOnNode made;
      MakeGraph(cluster, setting, **protocol, source, {.shape = shape}, made);
      if (::testing::Test::HasFatalFailure()) return;
      const GraphOracle oracle(source, shape);
      const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
        GraphTransaction work(*made.graph, transaction);
        for (int i = 0; i < 5; ++i) {
          std::map<txn::VertexName, GraphOracle::Properties> found;
          const txn::Verdict verdict = work.Run([&](GraphTransaction& g) {
            txn::NeighbourList list;
            found.clear();
            const auto answer = g.Neighbours(0, {.properties = true}, list);
            if (answer != txn::Answer::kYes) return answer;
            list.ForEach([&](const txn::StoredEdge& edge, const std::byte* properties) {
              auto& own = found[edge.neighbour];
              own.resize(shape.edge_bytes);
              if (properties != nullptr) std::memcpy(own.data(), properties, own.size());
            });
            return answer;
          });
          ASSERT_EQ(verdict.end, txn::Answer::kYes) << verdict.cause;
          ASSERT_EQ(found, oracle.edges(0));
        }
      });
      EXPECT_TRUE(ran);
    });
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace slimgraph::test
