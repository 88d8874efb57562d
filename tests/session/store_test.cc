// Stores of sessions in this process. store_launched_test.cc has those of several compute nodes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/graph_store.h"
#include "tests/session/store_checks.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

using End = TransactionOutcome::End;

Session SessionOf(NodeId nodes, MemorySide side = MemorySide::kServe) {
  SessionOptions options;
  options.nodes = nodes;
  options.memory_node_program = CommandPath();
  options.cache.side = side;
  auto session = Session::Open(options);
  if (!session) throw std::runtime_error(session.error().message);
  return *std::move(session);
}

GraphStore StoreOf(Session& session, const std::string& path, const StoreOptions& options = {}) {
  auto store = GraphStore::Open(session, path, options);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

// A path 0 - 1 - … - 9.
Status MakePath(Session& session, const std::string& path, const CreateOptions& options = {}) {
  std::vector<std::uint64_t> src, dst;
  for (std::uint64_t v = 0; v < 9; ++v) {
    src.push_back(v);
    dst.push_back(v + 1);
  }
  return GraphStore::Create(session, path, {src, dst, {}, false}, options);
}

std::uint64_t EdgesOf(GraphStore& store) {
  auto now = store.Snapshot();
  EXPECT_OK(now);
  return now ? now->edges() : 0;
}

class Protocols : public ::testing::TestWithParam<const char*> {
 protected:
  ScratchFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(All, Protocols,
                         ::testing::Values("nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"),
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

// The body of one transaction waits for another that changes what the first has read.
TEST_P(Protocols, MayWaitForOtherTransactions) {
  Session session = SessionOf(1);
  const std::string path = folder_ / "waits";
  ASSERT_OK(MakePath(session, path));
  StoreOptions options;
  options.protocol = GetParam();
  options.retry.attempts = 4;
  GraphStore store = StoreOf(session, path, options);
  std::atomic<int> runs{0};
  std::string cause;
  auto first = store.Submit([&](WriteTransaction& t) -> Status {
    SLIM_ASSIGN(const std::uint64_t degree, t.Degree(3));
    // CALVIN runs a body several times until it knows what the body needs.
    if (runs++ == 0) {
      auto second =
          store.Submit([](WriteTransaction& other) -> Status { return other.AddEdge(3, 7); });
      cause = second.get().cause.message;
    }
    return t.AddEdge(3, 20 - degree);  // 18 and 17 do not exist
  });
  const TransactionOutcome outcome = first.get();
  EXPECT_EQ(outcome.end, End::kAborted);
  // Either the second has given up, or it was committed. Then the first comes before it, or has
  // run again.
  const bool before = outcome.cause.message == "vertex 18 does not exist";
  if (!cause.empty()) {
    EXPECT_THAT(cause, ::testing::StartsWith("given up after 4 attempts: "));
    EXPECT_TRUE(before) << outcome.cause.message;
  } else if (!before) {
    EXPECT_EQ(outcome.cause.message, "vertex 17 does not exist");
    EXPECT_GE(outcome.attempts, 2U);
  } else {
    EXPECT_THAT(GetParam(), ::testing::AnyOf("mvcc", "sundial"));
  }
  EXPECT_EQ(EdgesOf(store), cause.empty() ? 10U : 9U);
  ASSERT_OK(session.Close());
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

// More bodies block than there are engine threads, and hold locks. Snapshots and folds, for which
// all transactions come to rest, and other transactions do not wait for them.
TEST_F(Stores, GoOnWhileBodiesBlock) {
  for (const char* const protocol : {"occ", "waitdie"}) {
    Session session = SessionOf(2);
    const std::string path = path_ + protocol;
    ASSERT_OK(MakePath(session, path));
    StoreOptions options;
    options.protocol = protocol;
    options.body_threads = 4;
    GraphStore store = StoreOf(session, path, options);
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    std::atomic<int> blocked{0};
    std::vector<std::future<TransactionOutcome>> blocking;
    for (std::uint64_t v = 0; v < 3; ++v) {
      blocking.push_back(store.Submit([&, v](WriteTransaction& t) -> Status {
        SLIM_TRY(t.AddEdge(2 * v, 2 * v + 1));
        SLIM_TRY(t.AddEdge(2 * v, 2 * v));
        ++blocked;
        released.wait();
        return t.AddVertex(100 + v).map([](bool) {});
      }));
    }
    while (blocked < 3) SleepFor(std::chrono::milliseconds(1));
    EXPECT_EQ(EdgesOf(store), 9U);
    // The graph grows many times, so it is folded.
    for (std::uint64_t i = 0; i < 20; ++i) {
      auto grown = store.Submit([i](WriteTransaction& t) -> Status {
        for (std::uint64_t v = 1000 + 20 * i; v < 1020 + 20 * i; ++v) {
          SLIM_TRY(t.AddVertex(v));
          SLIM_TRY(t.AddEdge(9, v));
        }
        return {};
      });
      EXPECT_TRUE(grown.get().committed());
    }
    EXPECT_EQ(EdgesOf(store), 409U);
    release.set_value();
    for (auto& one : blocking) {
      const TransactionOutcome outcome = one.get();
      EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
      EXPECT_GE(outcome.attempts, 2U);  // a snapshot was taken while it was blocked
    }
    auto now = store.Snapshot();
    ASSERT_OK(now);
    EXPECT_EQ(now->edges(), 412U);
    EXPECT_EQ(now->vertices(), 413U);
    ASSERT_OK(session.Close());
  }
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

// What other processes do, which this test starts from its own program.
constexpr const char* kStoreVariable = "TEST_STORE_PATH";

CommandEnd RunSelf(const std::string& test, const std::string& path) {
  RunningCommand command({std::filesystem::read_symlink("/proc/self/exe").string(),
                          "--gtest_also_run_disabled_tests", "--gtest_filter=" + test},
                         {kStoreVariable + ("=" + path)});
  return command.Wait(std::chrono::seconds(60));
}

TEST(DISABLED_Process, DiesAfterCommits) {
  Session session = SessionOf(3);
  GraphStore store = StoreOf(session, std::getenv(kStoreVariable));
  for (std::uint64_t v = 0; v < 8; ++v) {
    const auto outcome = store.Submit([v](WriteTransaction& t) { return t.AddEdge(v, v + 2); });
    if (!const_cast<std::future<TransactionOutcome>&>(outcome).get().committed()) std::_Exit(1);
  }
  std::_Exit(7);
}

TEST_F(Stores, KeepCommitsOfAProcessThatDied) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  EXPECT_EQ(RunSelf("DISABLED_Process.DiesAfterCommits", path_).code, 7);
  {
    GraphStore store = StoreOf(session, path_);
    EXPECT_EQ(EdgesOf(store), 17U);
  }
  const CommandEnd exported = RunSlimgraph({"store", "export", path_, "-o", folder_ / "out.slim"});
  EXPECT_THAT(exported.out, ::testing::HasSubstr("17 edges")) << exported.err;
  ASSERT_OK(session.Close());
}

// A device that is always full takes the place of the log.
TEST(DISABLED_Process, CannotWriteTheLog) {
  Session session = SessionOf(1);
  GraphStore store = StoreOf(session, std::getenv(kStoreVariable));
  const auto link = [&](std::uint64_t u) {
    return store.Submit([u](WriteTransaction& t) { return t.AddEdge(u, u + 2); }).get();
  };
  EXPECT_TRUE(link(1).committed());
  const int full = ::open("/dev/full", O_RDWR);
  ASSERT_GE(full, 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string file = std::filesystem::read_symlink(entry.path(), gone).string();
    if (file.find("/commits.") != std::string::npos) {
      ASSERT_GE(::dup2(full, std::stoi(entry.path().filename().string())), 0);
    }
  }
  const TransactionOutcome lost = link(2);
  EXPECT_EQ(lost.end, End::kUnknown);
  EXPECT_THAT(lost.cause.message, ::testing::HasSubstr("No space left"));
  const TransactionOutcome after = link(3);
  EXPECT_EQ(after.end, End::kAborted);
  EXPECT_EQ(after.cause.message, lost.cause.message);
  EXPECT_EQ(MessageOf(store.Snapshot()), lost.cause.message);
  EXPECT_EQ(MessageOf(store.Close()), lost.cause.message);
  EXPECT_OK(session.Close());
}

TEST_F(Stores, SayThatTheLogCannotBeWritten) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  const CommandEnd end = RunSelf("DISABLED_Process.CannotWriteTheLog", path_);
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  GraphStore store = StoreOf(session, path_);
  EXPECT_EQ(EdgesOf(store), 10U);
  ASSERT_OK(session.Close());
}

// The processes that this one has started.
std::vector<pid_t> MemoryNodes() {
  std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return {std::istream_iterator<pid_t>(in), {}};
}

TEST_P(Protocols, SurviveTheDeathOfAMemoryNode) {
  const std::string path = folder_ / "store";
  std::mt19937_64 random = SeededRandom();
  std::set<std::uint64_t> certain, possible;
  {
    Session session = SessionOf(3);
    ASSERT_OK(MakePath(session, path));
    StoreOptions options;
    options.protocol = GetParam();
    GraphStore store = StoreOf(session, path, options);
    std::vector<std::future<TransactionOutcome>> ends;
    const std::uint64_t killed_at = 20 + random() % 200;
    for (std::uint64_t i = 0; i < 400; ++i) {
      ends.push_back(store.Submit([i](WriteTransaction& t) -> Status {
        SLIM_TRY(t.AddVertex(100 + i));
        return t.AddEdge(i % 10, 100 + i);
      }));
      if (i == killed_at) {
        ends[random() % 20].wait();
        ::kill(MemoryNodes()[0], SIGKILL);
      }
    }
    std::string line;
    for (std::uint64_t i = 0; i < ends.size(); ++i) {
      const TransactionOutcome outcome = ends[i].get();
      if (outcome.committed()) certain.insert(100 + i);
      if (outcome.end == End::kUnknown) possible.insert(100 + i);
      if (outcome.end == End::kAborted) line = outcome.cause.message;
    }
    EXPECT_THAT(line, ::testing::HasSubstr("node ")) << GetParam();
    EXPECT_EQ(MessageOf(store.Snapshot()), line);
    EXPECT_EQ(MessageOf(store.Close()), line);
    EXPECT_EQ(MessageOf(session.Close()), line);
  }
  EXPECT_TRUE(MemoryNodes().empty());
  Session session = SessionOf(1);
  GraphStore store = StoreOf(session, path);
  std::set<std::uint64_t> found;
  EXPECT_TRUE(store
                  .SubmitReadOnly([&](ReadTransaction& t) -> Status {
                    found.clear();
                    for (std::uint64_t v = 100; v < 500; ++v) {
                      SLIM_ASSIGN(const bool exists, t.HasVertex(v));
                      if (exists) found.insert(v);
                    }
                    return {};
                  })
                  .get()
                  .committed());
  for (const std::uint64_t v : certain) EXPECT_TRUE(found.contains(v)) << v;
  for (const std::uint64_t v : found) {
    EXPECT_TRUE(certain.contains(v) || possible.contains(v)) << v;
  }
  EXPECT_EQ(EdgesOf(store), 9 + found.size());
  ASSERT_OK(session.Close());
}

}  // namespace
}  // namespace slimgraph::test
