// Stores of sessions in this process. store_launched_test.cc has those of several compute nodes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>

#include "tests/session/store_checks.h"
#include "tests/session/store_support.h"

namespace slimgraph::test {
namespace {

class Protocols : public ::testing::TestWithParam<const char*> {
 protected:
  ScratchFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(All, Protocols,
                         ::testing::Values("nowait", "waitdie", "boundedwait", "occ", "to", "mvcc",
                                           "sundial", "calvin"),
                         [](const auto& one) { return std::string(one.param); });

// Each on a fresh session, with both kinds of memory nodes.
TEST_P(Protocols, CommitWhatASerialOrderCommits) {
  std::mt19937_64 random = SeededRandom();
  for (const NodeId nodes : {NodeId{1}, NodeId{4}}) {
    for (const MemorySide side : {MemorySide::kServe, MemorySide::kStrict}) {
      const std::uint64_t seed = random();
      {
        Session session = SessionOf(nodes, side);
        CheckChanges(session, folder_.path(), GetParam(), seed);
        ASSERT_OK(session.Close());
      }
      Session session = SessionOf(nodes, side);
      CheckHistory(session, folder_.path(), GetParam(), seed);
      CheckInvariants(session, folder_.path(), GetParam(), seed);
      ASSERT_OK(session.Close());
    }
  }
}

class Stores : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  std::string path_ = folder_ / "store";
};

TEST_F(Stores, GiveSnapshotsForAllPrograms) {
  std::mt19937_64 random = SeededRandom();
  for (const NodeId nodes : {NodeId{1}, NodeId{4}}) {
    for (const MemorySide side : {MemorySide::kServe, MemorySide::kStrict}) {
      Session session = SessionOf(nodes, side);
      const std::uint64_t seed = random();
      CheckSnapshots(session, folder_.path(), seed);
      CheckSnapshots(session, folder_.path(), seed ^ 1);
      ASSERT_OK(session.Close());
    }
  }
}

// A body that makes no operations learns that the session is over, and Close() does not wait for it
// forever.
TEST_F(Stores, TellBodiesThatTheSessionIsOver) {
  for (const NodeId nodes : {NodeId{1}, NodeId{3}}) {
    Session session = SessionOf(nodes);
    const std::string path = path_ + std::to_string(nodes);
    ASSERT_OK(MakePath(session, path));
    GraphStore store = StoreOf(session, path);
    std::atomic<bool> runs{false};
    auto loops = store.Submit([&](WriteTransaction& t) -> Status {
      EXPECT_FALSE(t.Over());
      SLIM_TRY(t.AddEdge(0, 5));
      runs = true;
      runs.notify_all();
      while (!t.Over()) SleepFor(std::chrono::milliseconds(1));
      return t.AddEdge(0, 6);
    });
    runs.wait(false);
    session.Cancel();
    static_cast<void>(store.Close());  // which may come before the nodes learn of it
    const TransactionOutcome outcome = loops.get();
    EXPECT_EQ(outcome.end, End::kAborted);
    EXPECT_THAT(outcome.cause.message, ::testing::HasSubstr("cancelled"));
  }
}

TEST_F(Stores, ReportWhatBodiesReturnAndThrow) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  GraphStore store = StoreOf(session, path_);
  const auto error =
      store.Submit([](WriteTransaction&) -> Status { return InputError("nothing to do"); }).get();
  EXPECT_EQ(error.end, End::kAborted);
  EXPECT_EQ(error.cause.message, "nothing to do");
  EXPECT_EQ(error.cause.kind, ErrorKind::kInput);
  EXPECT_EQ(error.attempts, 1U);
  const auto after_write = store
                               .Submit([](WriteTransaction& t) -> Status {
                                 SLIM_TRY(t.AddEdge(0, 5));
                                 SLIM_TRY(t.RemoveVertex(9));
                                 return UsageError("not so");
                               })
                               .get();
  EXPECT_EQ(after_write.cause.message, "not so");
  auto thrown = store.Submit([](WriteTransaction& t) -> Status {
    SLIM_TRY(t.AddEdge(0, 6));
    throw std::runtime_error("thrown");
  });
  EXPECT_THROW(thrown.get(), std::runtime_error);
  EXPECT_EQ(EdgesOf(store), 9U);
  // The lane of a body that has thrown serves others.
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(
        store.Submit([](WriteTransaction& t) { return t.AddEdge(0, 6); }).get().committed());
  }
  EXPECT_EQ(EdgesOf(store), 10U);
  ASSERT_OK(session.Close());
  EXPECT_EQ(store.Submit([](WriteTransaction&) -> Status { return {}; }).get().cause.message,
            "Submit: the store is closed");
  EXPECT_OK(store.Close());
}

TEST_F(Stores, CommitTimesAscend) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  GraphStore store = StoreOf(session, path_);
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    const auto outcome = store.Submit([](WriteTransaction& t) { return t.AddEdge(0, 5); }).get();
    ASSERT_TRUE(outcome.committed());
    EXPECT_GT(outcome.time, last);
    last = outcome.time;
    std::uint64_t seen = 0;
    const auto read = store
                          .SubmitReadOnly([&](ReadTransaction& t) -> Status {
                            SLIM_ASSIGN(const auto list, t.NeighboursWithData(0));
                            for (const auto& one : list) seen = std::max(seen, one.time);
                            return {};
                          })
                          .get();
    EXPECT_GE(read.time, last);
    EXPECT_EQ(seen, last);
  }
  ASSERT_OK(session.Close());
}

TEST_F(Stores, RefuseWhatDoesNotFit) {
  Session session = SessionOf(1);
  const std::vector<std::uint64_t> src = {1}, dst = {2};
  const std::vector<double> weights = {3};
  ASSERT_OK(GraphStore::Create(session, path_, {src, dst, weights, true},
                               {.vertex_bytes = 4, .edge_bytes = 2}));
  GraphStore store = StoreOf(session, path_);
  std::vector<std::string> messages;
  const std::vector<std::byte> three(3);
  const auto body = [&](WriteTransaction& t) -> Status {
    messages = {MessageOf(t.HasVertex(~std::uint64_t{0})),
                MessageOf(t.AddVertex(7, three)),
                MessageOf(t.SetVertex(1, three)),
                MessageOf(t.AddEdge(1, 2, {1, three})),
                MessageOf(t.AddEdge(1, 2, {0.5, {}})),
                MessageOf(t.AddEdge(1, 2, {1e10, {}})),
                MessageOf(t.AddEdge(1, 8)),
                MessageOf(t.AddEdge(8, 1)),
                MessageOf(t.Edge(2, 1)),
                MessageOf(t.Degree(5)),
                MessageOf(t.Neighbours(5)),
                MessageOf(t.VertexProperties(5)),
                MessageOf(t.SetVertex(5, {}))};
    return t.AddEdge(2, 1, {-7, {}});
  };
  EXPECT_TRUE(store.Submit(body).get().committed());
  EXPECT_EQ(messages,
            (std::vector<std::string>{
                "vertex 18446744073709551615 is out of range: the ids of this store are at most "
                "549755813887",
                "3 bytes of properties for a vertex: this store gives each vertex 4",
                "3 bytes of properties for a vertex: this store gives each vertex 4",
                "3 bytes of properties for an edge: this store gives each edge 2",
                "weight 0.5 does not fit: the weights of this store are int32",
                "weight 10000000000 does not fit: the weights of this store are int32",
                "vertex 8 does not exist", "vertex 8 does not exist",
                "the edge from 2 to 1 does not exist", "vertex 5 does not exist",
                "vertex 5 does not exist", "vertex 5 does not exist", "vertex 5 does not exist"}));
  ASSERT_OK(session.Close());
}

TEST_F(Stores, RefuseOptionsThatCannotWork) {
  Session session = SessionOf(2);
  const auto message = [&](const auto& change) {
    StoreOptions options;
    change(options);
    return MessageOf(GraphStore::Open(session, path_, options));
  };
  EXPECT_EQ(message([](auto&) {}),
            path_ + ": there is no such store; `slimgraph store create` makes one");
  EXPECT_THAT(message([](auto& o) { o.protocol = "two-phase"; }),
              ::testing::HasSubstr("two-phase"));
  EXPECT_EQ(message([](auto& o) { o.body_threads = 0; }),
            "StoreOptions.body_threads is 0: give 1 to 256");
  EXPECT_THAT(message([](auto& o) { o.retry.attempts = 0; }), ::testing::HasSubstr("attempts"));
  ASSERT_OK(MakePath(session, path_));
  EXPECT_EQ(MessageOf(MakePath(session, path_)), path_ + ": it is there already");
  EXPECT_THAT(MessageOf(MakePath(session, folder_ / "other", {.vertex_bytes = 300})),
              ::testing::HasSubstr("300"));
  // The session goes on.
  GraphStore store = StoreOf(session, path_);
  EXPECT_EQ(EdgesOf(store), 9U);
  ASSERT_OK(session.Close());
  EXPECT_EQ(MessageOf(GraphStore::Open(session, path_)),
            "GraphStore::Open(" + path_ + "): the session is closed");
  EXPECT_THAT(MessageOf(store.Snapshot()), ::testing::HasSubstr("closed"));
}

TEST_F(Stores, GiveUpAfterTheAttempts) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  StoreOptions options;
  options.retry.attempts = 3;
  GraphStore store = StoreOf(session, path_, options);
  // In each attempt, another transaction changes what this one has read.
  auto outcome = store
                     .Submit([&](WriteTransaction& t) -> Status {
                       SLIM_TRY(t.Degree(3));
                       auto other = store.Submit([](WriteTransaction& u) -> Status {
                         SLIM_ASSIGN(const bool removed, u.RemoveEdge(3, 9));
                         return removed ? Status() : u.AddEdge(3, 9);
                       });
                       EXPECT_TRUE(other.get().committed());
                       return t.AddEdge(3, 8);
                     })
                     .get();
  EXPECT_EQ(outcome.end, End::kAborted);
  EXPECT_EQ(outcome.attempts, 3U);
  EXPECT_THAT(outcome.cause.message, ::testing::StartsWith("given up after 3 attempts: "));
  // The last attempt of the other has added its edge.
  EXPECT_EQ(EdgesOf(store), 10U);
  ASSERT_OK(session.Close());
}

TEST_F(Stores, AreOpenOnce) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  const std::string refusal = path_ +
                              ": a GraphStore has this store open already, in this process or in "
                              "another: close that one first";
  {
    GraphStore store = StoreOf(session, path_);
    EXPECT_EQ(MessageOf(GraphStore::Open(session, path_)), refusal);
    Session other = SessionOf(2);
    EXPECT_EQ(MessageOf(GraphStore::Open(other, path_)), refusal);
    ASSERT_OK(other.Close());
    WriteFile(folder_ / "updates", "+ 0 5\n");
    const CommandEnd apply = RunSlimgraph({"store", "apply", path_, "--from", folder_ / "updates"});
    EXPECT_NE(apply.code, 0);
    EXPECT_THAT(apply.err, ::testing::HasSubstr("another process is using this store"));
  }
  // The destructor has closed it.
  GraphStore again = StoreOf(session, path_);
  ASSERT_OK(again.Close());
  ASSERT_OK(again.Close());
  const CommandEnd apply = RunSlimgraph({"store", "apply", path_, "--from", folder_ / "updates"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  GraphStore third = StoreOf(session, path_);
  EXPECT_EQ(EdgesOf(third), 10U);
  ASSERT_OK(session.Close());
}

TEST_F(Stores, BeginWithVerticesAloneAndGetEdgesOfAnyWeight) {
  for (const bool weighted : {false, true}) {
    Session session = SessionOf(2);
    const std::vector<std::uint64_t> vertices = {7, 5, 9};
    EdgeArrays alone;
    alone.vertices = vertices;
    const std::string path = folder_ / (weighted ? "weighted" : "plain");
    ASSERT_OK(GraphStore::Create(session, path, alone, {.weighted = weighted}));
    for (const bool first : {true, false}) {
      GraphStore store = StoreOf(session, path);
      auto graph = store.Snapshot();
      ASSERT_TRUE(graph) << graph.error().message;
      EXPECT_EQ(graph->vertices(), 3U);
      EXPECT_EQ(graph->edges(), first ? 0U : 1U);
      EXPECT_EQ(graph->weighted(), weighted);
      const double weight = weighted ? 2.625 : 1;
      if (!first && weighted) {
        const auto paths = ShortestPaths(*graph, 5);
        ASSERT_TRUE(paths) << paths.error().message;
        EXPECT_THAT(paths->values(), ::testing::ElementsAre(0, INFINITY, weight));
      }
      const auto add = [&](WriteTransaction& t) { return t.AddEdge(9, 5, {.weight = weight}); };
      EXPECT_EQ(store.Submit(add).get().cause.message, "");
      ASSERT_OK(store.Close());
    }
    ASSERT_OK(session.Close());
  }
}

// Edges that the store had before come last. Those of one transaction are in ascending order.
TEST_F(Stores, GiveNeighboursByTime) {
  Session session = SessionOf(2);
  const std::vector<std::uint64_t> src = {1, 1}, dst = {2, 9};
  ASSERT_OK(GraphStore::Create(session, path_, {src, dst, {}, true}));
  GraphStore store = StoreOf(session, path_);
  std::vector<std::uint64_t> times;
  for (const std::uint64_t first : {7, 3, 5}) {
    const TransactionOutcome outcome = store
                                           .Submit([first](WriteTransaction& t) -> Status {
                                             for (const std::uint64_t to : {first, first + 1}) {
                                               SLIM_TRY(t.AddVertex(to));
                                               SLIM_TRY(t.AddEdge(1, to));
                                             }
                                             return {};
                                           })
                                           .get();
    ASSERT_TRUE(outcome.committed()) << outcome.cause.message;
    times.push_back(outcome.time);
  }
  const auto ids = [&](std::uint64_t vertex, const NeighbourChoice& choice) {
    std::vector<std::uint64_t> found;
    const auto body = [&](ReadTransaction& t) -> Status {
      SLIM_ASSIGN(const auto neighbours, t.NeighboursWithData(vertex, choice));
      found.clear();
      for (const StoredNeighbour& one : neighbours) found.push_back(one.id);
      return {};
    };
    EXPECT_TRUE(store.SubmitReadOnly(body).get().committed());
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(ids(1, {}), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(ids(1, {.most = 3}), ElementsAre(2, 3, 4));
  EXPECT_THAT(ids(1, {.newest_first = true}), ElementsAre(5, 6, 3, 4, 7, 8, 2, 9));
  EXPECT_THAT(ids(1, {.newest_first = true, .most = 3}), ElementsAre(5, 6, 3));
  EXPECT_THAT(ids(1, {.from = times[1]}), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(ids(1, {.from = times[0], .to = times[1]}), ElementsAre(3, 4, 7, 8));
  EXPECT_THAT(ids(1, {.to = times[0] - 1}), ElementsAre(2, 9));
  EXPECT_THAT(ids(4, {.side = EdgeSide::kIncoming, .newest_first = true}), ElementsAre(1));
  ASSERT_OK(store.Close());
}

TEST_F(Stores, RefuseIndexesThatAreWrong) {
  Session session = SessionOf(1);
  const auto create = [&](std::vector<std::string> indexes) {
    return MessageOf(
        GraphStore::Create(session, path_, {}, {.vertex_bytes = 8, .indexes = std::move(indexes)}));
  };
  EXPECT_THAT(create({"age"}), ::testing::HasSubstr("it must be NAME=OFFSET:TYPE"));
  EXPECT_THAT(create({"age=5:u32"}), ::testing::HasSubstr("vertices have only 8 bytes"));
  EXPECT_THAT(create({"age=0:u8", "age=1:u8"}), ::testing::HasSubstr("another one has this name"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_OK(GraphStore::Create(session, path_, {}, {.vertex_bytes = 8, .indexes = {"age=4:u32"}}));
  GraphStore store = StoreOf(session, path_);
  const auto missing = [](ReadTransaction& t) -> Status {
    SLIM_TRY(t.FindVertices("size", 0, 1));
    return {};
  };
  EXPECT_EQ(store.SubmitReadOnly(missing).get().cause.message, "the store has no index size");
  ASSERT_OK(store.Close());
}

TEST_F(Stores, BeginWithNothing) {
  Session session = SessionOf(2);
  ASSERT_OK(GraphStore::Create(session, path_, {}));
  GraphStore store = StoreOf(session, path_);
  EXPECT_EQ(MessageOf(store.Snapshot()),
            path_ + ": the store has no vertices, and a graph needs at least one");
  EXPECT_TRUE(store
                  .Submit([](WriteTransaction& t) -> Status {
                    SLIM_TRY(t.AddVertex(5));
                    SLIM_TRY(t.AddVertex(6));
                    return t.AddEdge(5, 6);
                  })
                  .get()
                  .committed());
  EXPECT_EQ(EdgesOf(store), 1U);
  ASSERT_OK(session.Close());
}

}  // namespace
}  // namespace slimgraph::test
