// The vertices and edges that a workload on a graph chooses.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "tests/txnlayer/graph_support.h"
#include "txnlayer/workload/internal/graph_workload.h"

namespace slimgraph::test {
namespace {

// Folds can remove every edge of a small graph while a workload runs.
TEST(Chooser, ChoosesFromAGraphWithoutEdges) {
  const txn::GraphShape shape{8, 8};
  EdgeList no_edges;
  no_edges.vertices = 10;
  const std::string path = ::testing::TempDir() + fmt::format("no-edges.{}.slim", ::getpid());
  ASSERT_TRUE(WriteSlimFile(no_edges, path));
  const TxnSetting setting{.protocol = "occ", .nodes = 2, .compute = 2};
  const auto protocol = txn::MakeProtocol(setting.protocol);
  ASSERT_TRUE(protocol);
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource source(path);
    GraphOnNode made;
    MakeGraph(cluster, setting, **protocol, source,
              {.shape = shape, .room_vertices = 10, .room_edges = 10}, made);
    if (::testing::Test::HasFatalFailure()) return;
    const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
      txn::Chooser chooser(*made.graph, transaction, TestSeed(), 2);
      for (int i = 0; i < 100; ++i) {
        EXPECT_LT(chooser.ByDegree(), 10u);
        const auto edge = chooser.Edge();
        EXPECT_LT(edge.first, 10u);
        EXPECT_EQ(edge.first, edge.second);
      }
    });
    EXPECT_TRUE(ran) << ran.error().message;
  });
  std::remove(path.c_str());
}

}  // namespace
}  // namespace slimgraph::test
