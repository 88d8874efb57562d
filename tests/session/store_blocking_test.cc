// Bodies of transactions that block: they wait for other transactions, or for the caller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/session/store_support.h"

namespace slimgraph::test {
namespace {

class BlockedBodies : public ::testing::TestWithParam<const char*> {
 protected:
  GraphStore NewStore(Session& session, std::uint32_t attempts = RetryOptions().attempts) const {
    const std::string path = folder_ / "store";
    EXPECT_OK(MakePath(session, path));
    StoreOptions options;
    options.protocol = GetParam();
    options.retry.attempts = attempts;
    return StoreOf(session, path, options);
  }

 private:
  ScratchFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(All, BlockedBodies,
                         ::testing::Values("nowait", "waitdie", "boundedwait", "occ", "to", "mvcc",
                                           "sundial", "calvin"),
                         [](const auto& one) { return std::string(one.param); });

// The body of one transaction waits for another that changes what the first has read.
TEST_P(BlockedBodies, MayWaitForOtherTransactions) {
  Session session = SessionOf(1);
  GraphStore store = NewStore(session, 4);
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
    EXPECT_THAT(GetParam(), ::testing::AnyOf("to", "mvcc", "sundial"));
  }
  EXPECT_EQ(EdgesOf(store), cause.empty() ? 10U : 9U);
  ASSERT_OK(session.Close());
}

// The body of one transaction waits for another that wants what the first has written.
TEST_P(BlockedBodies, DoNotWaitForEachOtherForever) {
  Session session = SessionOf(1);
  GraphStore store = NewStore(session, 4);
  std::future<TransactionOutcome> second;
  std::atomic<bool> ready{false};
  auto first = store.Submit([&](WriteTransaction& t) -> Status {
    SLIM_TRY(t.SetVertex(3, {}));
    if (!second.valid()) {
      second = store.Submit([](WriteTransaction& other) { return other.SetVertex(3, {}); });
      ready = second.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    }
    return {};
  });
  EXPECT_NE(first.get().end, End::kUnknown);
  EXPECT_TRUE(ready);
  EXPECT_NE(second.get().end, End::kUnknown);
  ASSERT_OK(session.Close());
}

// A body is blocked, and holds locks if the protocol has any, while snapshots are taken. They do
// not have what it commits later, and other transactions go on. Until it commits, its locks are
// those of a reader, which a snapshot does not wait for.
TEST_P(BlockedBodies, HoldUpNoSnapshot) {
  Session session = SessionOf(2);
  GraphStore store = NewStore(session);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<bool> blocked{false};
  auto blocking = store.Submit([&](WriteTransaction& t) -> Status {
    SLIM_TRY(t.AddEdge(0, 9));
    blocked = true;
    released.wait();
    return t.AddEdge(1, 9);
  });
  while (!blocked) SleepFor(std::chrono::milliseconds(1));
  EXPECT_EQ(EdgesOf(store), 9U);
  auto other = store.Submit([](WriteTransaction& t) { return t.AddEdge(5, 7); });
  EXPECT_TRUE(other.get().committed());
  EXPECT_EQ(EdgesOf(store), 10U);
  release.set_value();
  const TransactionOutcome outcome = blocking.get();
  EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
  const std::set<std::string> hold_up_nobody = {"occ", "nowait", "waitdie", "boundedwait"};
  EXPECT_EQ(outcome.attempts == 1, hold_up_nobody.contains(GetParam())) << outcome.attempts;
  EXPECT_EQ(EdgesOf(store), 12U);
  ASSERT_OK(session.Close());
}

// A body takes longer than a snapshot, and one snapshot follows the other. Under some protocols
// each of them makes the body run again, but soon they wait for it.
TEST_P(BlockedBodies, CommitBesideEndlessSnapshots) {
  Session session = SessionOf(2);
  GraphStore store = NewStore(session, 12);
  auto slow = store.Submit([](WriteTransaction& t) -> Status {
    SLIM_TRY(t.AddEdge(0, 9));
    SleepFor(std::chrono::milliseconds(40));
    return t.AddEdge(1, 9);
  });
  while (slow.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    EXPECT_THAT(EdgesOf(store), ::testing::AnyOf(9U, 11U));
  }
  const TransactionOutcome outcome = slow.get();
  EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
  EXPECT_EQ(EdgesOf(store), 11U);
  ASSERT_OK(session.Close());
}

// A body that reads at a time is blocked while others change what it has read and what it reads
// later, while a snapshot is taken, and longer than bodies with locks may be.
TEST(BodiesThatReadAtATime, SeeOneMomentAndHoldUpNobody) {
  constexpr std::uint64_t kEdges = 20'000;  // so many that the changes are not folded
  const ScratchFolder folder;
  for (const char* const protocol : {"nowait", "waitdie", "boundedwait", "occ", "mvcc"}) {
    Session session = SessionOf(2);
    const std::string path = folder / protocol;
    ASSERT_OK(MakePath(session, path, {}, kEdges));
    StoreOptions options;
    options.protocol = protocol;
    options.reads_at_a_time = true;
    GraphStore store = StoreOf(session, path, options);
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    std::atomic<bool> blocked{false};
    auto reader = store.SubmitReadOnly([&](ReadTransaction& t) -> Status {
      SLIM_ASSIGN(const std::uint64_t before, t.Degree(3));
      blocked = true;
      released.wait();
      SLIM_ASSIGN(const std::uint64_t other, t.Degree(7));
      SLIM_ASSIGN(const bool edge, t.HasEdge(3, 7));
      SLIM_ASSIGN(const std::uint64_t after, t.Degree(3));
      EXPECT_EQ(before, 2U);
      EXPECT_EQ(other, 2U);
      EXPECT_FALSE(edge);
      EXPECT_EQ(after, 2U);
      return {};
    });
    while (!blocked) SleepFor(std::chrono::milliseconds(1));
    for (const std::uint64_t other : {7, 8}) {
      auto writer = store.Submit([other](WriteTransaction& t) { return t.AddEdge(3, other); });
      EXPECT_TRUE(writer.get().committed());
      // What begins now sees it.
      auto now = store.SubmitReadOnly([other](ReadTransaction& t) -> Status {
        SLIM_ASSIGN(const bool edge, t.HasEdge(3, other));
        EXPECT_TRUE(edge);
        return {};
      });
      EXPECT_EQ(now.get().attempts, 1U);
    }
    EXPECT_EQ(EdgesOf(store), kEdges + 2);
    SleepFor(std::chrono::milliseconds(150));
    release.set_value();
    const TransactionOutcome outcome = reader.get();
    EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
    EXPECT_EQ(outcome.attempts, 1U);
    ASSERT_OK(session.Close());
  }
  Session session = SessionOf(1);
  StoreOptions options;
  options.protocol = "to";
  options.reads_at_a_time = true;
  const auto refused = GraphStore::Open(session, folder / "occ", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "StoreOptions.reads_at_a_time needs nowait, waitdie, boundedwait, occ or mvcc; not to");
}

// More bodies block than there are engine threads, and hold locks. Snapshots, folds, for which all
// transactions come to rest, and other transactions do not wait for them.
TEST(BlockingBodies, HoldUpNoFolds) {
  const ScratchFolder folder;
  for (const char* const protocol : {"occ", "waitdie", "boundedwait"}) {
    Session session = SessionOf(2);
    const std::string path = folder / protocol;
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
      EXPECT_GE(outcome.attempts, 2U);  // all were stopped while it was blocked
    }
    auto now = store.Snapshot();
    ASSERT_OK(now);
    EXPECT_EQ(now->edges(), 412U);
    EXPECT_EQ(now->vertices(), 413U);
    ASSERT_OK(session.Close());
  }
}

}  // namespace
}  // namespace slimgraph::test
