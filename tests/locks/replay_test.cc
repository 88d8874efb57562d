// Replays of traces: the requests that they lead to, times computed by hand, and random traces,
// which Replay() verifies.
#include "txnlayer/replay/replay.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/support/seed.h"
#include "tests/support/unwrap.h"
#include "txnlayer/replay/internal/order_check.h"

namespace slimgraph::test {
namespace {

using ::testing::HasSubstr;
using txn::AccessTrace;
using txn::Isolation;
using txn::LockMode;
using txn::LockPlanOptions;
using txn::ReplayOptions;
using txn::ReplayProtocol;
using txn::ReplayResult;

constexpr ReplayProtocol kProtocols[] = {ReplayProtocol::kNoWait, ReplayProtocol::kWaitDie,
                                         ReplayProtocol::kBoundedWait,
                                         ReplayProtocol::kTimestampOrder};

// Rows 0 to 9 are of partition 0, and so on by tens. The even ones are of one part of a table, and
// the odd ones of another.
constexpr std::uint32_t kRowsOfPartition = 10;
struct Touch {
  std::uint32_t row;
  bool write;
};

AccessTrace TraceOf(std::uint32_t partitions,
                    const std::vector<std::pair<std::uint32_t, std::vector<Touch>>>& all) {
  AccessTrace trace;
  trace.partitions = partitions;
  trace.num_rows = partitions * kRowsOfPartition;
  trace.kinds = {"any"};
  for (std::uint32_t row = 0; row < trace.num_rows; ++row) {
    trace.places.push_back(row % kRowsOfPartition * (0xFFFF'FFFF / kRowsOfPartition));
  }
  for (std::uint32_t part = 0; part < 2 * partitions; ++part) trace.places.push_back(0);
  for (const auto& [home, touches] : all) {
    auto rows = std::make_unique<txn::TracedRow[]>(touches.size());
    for (std::size_t i = 0; i < touches.size(); ++i) {
      const std::uint32_t partition = touches[i].row / kRowsOfPartition;
      rows[i] = {touches[i].row, 2 * partition + touches[i].row % 2, partition, touches[i].write};
    }
    trace.transactions.push_back({home, 0, {rows.get(), touches.size()}});
    trace.memory.push_back(std::move(rows));
  }
  return trace;
}

using Locks = std::vector<std::pair<std::uint32_t, LockMode>>;

Locks LocksOf(const std::vector<Touch>& touches, const LockPlanOptions& options) {
  const AccessTrace trace = TraceOf(1, {{0, touches}});
  const auto plan = txn::PlanLocks(trace, options);
  Locks locks;
  for (const txn::PlannedLock& one : plan[0].locks) locks.emplace_back(one.what, one.mode);
  return locks;
}

// Of the part with the even rows, and of that with the odd ones.
constexpr std::uint32_t kEven = kRowsOfPartition;
constexpr std::uint32_t kOdd = kRowsOfPartition + 1;

TEST(LockPlan, IntentionsComeBeforeRows) {
  EXPECT_EQ(LocksOf({{0, false}, {2, false}, {4, true}, {1, true}}, {}),
            (Locks{{kEven, LockMode::kIS},
                   {0, LockMode::kS},
                   {2, LockMode::kS},
                   {kEven, LockMode::kIX},
                   {4, LockMode::kX},
                   {kOdd, LockMode::kIX},
                   {1, LockMode::kX}}));
  EXPECT_EQ(LocksOf({{0, false}, {4, true}}, {.intentions = false}),
            (Locks{{0, LockMode::kS}, {4, LockMode::kX}}));
}

TEST(LockPlan, ReadCommittedLocksWhatIsWritten) {
  EXPECT_EQ(LocksOf({{0, false}, {4, true}, {1, false}}, {.isolation = Isolation::kReadCommitted}),
            (Locks{{kEven, LockMode::kIX}, {4, LockMode::kX}}));
}

TEST(LockPlan, ManyRowsOfAPartLockIt) {
  const LockPlanOptions from_three{.escalate = 2};
  EXPECT_EQ(LocksOf({{0, false}, {2, false}, {4, false}, {1, false}}, from_three),
            (Locks{{kEven, LockMode::kS}, {kOdd, LockMode::kIS}, {1, LockMode::kS}}));
  EXPECT_EQ(LocksOf({{0, false}, {2, true}, {4, false}}, from_three),
            (Locks{{kEven, LockMode::kSIX}, {2, LockMode::kX}}));
  EXPECT_EQ(LocksOf({{0, true}, {2, true}, {4, true}}, from_three), (Locks{{kEven, LockMode::kX}}));
}

ReplayOptions With(ReplayProtocol protocol) {
  ReplayOptions options;
  options.protocol = protocol;
  options.cores = 2;
  options.seconds = 0.001;
  return options;
}

// Two locks, one after the other: each takes a message to the server, its work, and the answer.
TEST(Replay, TakesTheTimesOfItsMessages) {
  const AccessTrace trace = TraceOf(1, {{0, {{0, true}}}});
  ReplayOptions options = With(ReplayProtocol::kBoundedWait);
  options.costs = {.local_ns = 10, .server_ns = 100, .row_ns = 1000, .send_ns = 7};
  const ReplayResult result = Unwrap(txn::Replay(trace, options));
  ASSERT_GT(result.committed, 100u);
  EXPECT_EQ(result.requests / result.committed, 2u) << "the part and the row";
  EXPECT_EQ(result.row_ns, result.committed * 1000);
  EXPECT_EQ(result.end_ns, result.committed * 7);
  EXPECT_EQ(result.vote_ns, 0u) << "one server has all that was written";
  EXPECT_EQ(result.waits + result.aborted, 0u);
  // The first request of a transaction waits until the server has handled the end of the one
  // before.
  EXPECT_EQ(result.lock_ns / result.committed, 2 * (10 + 100 + 10) + 100 - 7 + 7);
  options.plan.intentions = false;
  const ReplayResult without = Unwrap(txn::Replay(trace, options));
  EXPECT_EQ(without.requests / without.committed, 1u);
}

// Partition 1 is on another node. Both of its and the own rows are written, so both servers vote.
TEST(Replay, VotesAcrossNodes) {
  const AccessTrace trace = TraceOf(2, {{0, {{0, true}, {10, true}}}, {1, {{11, false}}}});
  ReplayOptions options = With(ReplayProtocol::kBoundedWait);
  options.cores = 4;
  options.cores_per_node = 2;
  options.plan.intentions = false;
  options.costs = {
      .local_ns = 0, .remote_ns = 1000, .delay_ns = 500, .server_ns = 1, .row_ns = 1, .send_ns = 0};
  const ReplayResult result = Unwrap(txn::Replay(trace, options));
  ASSERT_GT(result.votes, 10u);
  EXPECT_NEAR(static_cast<double>(result.vote_ns) / static_cast<double>(result.votes), 3001, 10)
      << "the far server's vote";
  EXPECT_LT(result.votes, result.committed) << "the reader asks for none";
}

TEST(Replay, SeparateServersAreRemote) {
  const AccessTrace trace = TraceOf(1, {{0, {{0, true}}}});
  ReplayOptions options = With(ReplayProtocol::kBoundedWait);
  options.plan.intentions = false;
  options.separate_servers = true;
  options.costs = {.local_ns = 1, .remote_ns = 1000, .server_ns = 10, .row_ns = 1, .send_ns = 0};
  const ReplayResult result = Unwrap(txn::Replay(trace, options));
  ASSERT_GT(result.committed, 10u);
  EXPECT_NEAR(static_cast<double>(result.lock_ns) / static_cast<double>(result.committed),
              2 * 1000 + 2 * 10, 10)
      << "the server handles the end of the transaction before, too";
}

TEST(Replay, BoundsWaits) {
  // Two agents lock two rows in opposite orders.
  const AccessTrace trace = TraceOf(1, {{0, {{0, true}, {1, true}}}, {0, {{1, true}, {0, true}}}});
  ReplayOptions options = With(ReplayProtocol::kBoundedWait);
  options.cores = 4;
  options.lock_timeout_ns = 20'000;
  const ReplayResult result = Unwrap(txn::Replay(trace, options));
  EXPECT_GT(result.aborted, 0u) << "they deadlock";
  EXPECT_GT(result.committed, 0u);
}

// Few rows and many agents, so that all kinds of conflicts arise.
AccessTrace RandomTrace(std::mt19937_64& random, std::uint32_t partitions) {
  std::vector<std::pair<std::uint32_t, std::vector<Touch>>> all;
  for (std::uint32_t i = 0; i < 40 * partitions; ++i) {
    std::vector<Touch> touches;
    std::vector<bool> touched(partitions * kRowsOfPartition);
    const std::uint32_t home = i % partitions;
    const std::uint64_t count = 1 + random() % 8;
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t partition = random() % 4 == 0 ? random() % partitions : home;
      const auto row =
          static_cast<std::uint32_t>(partition * kRowsOfPartition + random() % kRowsOfPartition);
      if (touched[row]) continue;
      touched[row] = true;
      touches.push_back({row, random() % 2 == 0});
    }
    all.emplace_back(home, std::move(touches));
  }
  return TraceOf(partitions, all);
}

TEST(Replay, IsolatesRandomTransactions) {
  const std::uint64_t seed = TestSeed();
  for (std::uint64_t run = 0; run < 60; ++run) {
    std::mt19937_64 random(seed * 1000 + run);
    const auto partitions = static_cast<std::uint32_t>(1 + random() % 4);
    const AccessTrace trace = RandomTrace(random, partitions);
    for (const ReplayProtocol protocol : kProtocols) {
      ReplayOptions options = With(protocol);
      options.cores = static_cast<std::uint32_t>(2 + 2 * (random() % 12));
      options.cores_per_node = static_cast<std::uint32_t>(2 + 2 * (random() % 4));
      options.copies = static_cast<std::uint32_t>(1 + random() % 3);
      options.lock_timeout_ns = 50'000;
      options.costs.retry_ns = 20'000;
      options.plan.intentions = random() % 2 == 0;
      const bool locks = options.plan.intentions && protocol != ReplayProtocol::kTimestampOrder;
      if (locks && random() % 2 == 0) {
        options.plan.escalate = static_cast<std::uint32_t>(1 + random() % 3);
      }
      if (random() % 3 == 0) options.plan.isolation = Isolation::kReadCommitted;
      SCOPED_TRACE(::testing::Message() << "run " << run << ", protocol " << int(protocol));
      const ReplayResult result = Unwrap(txn::Replay(trace, options));
      EXPECT_GT(result.committed, 0u);
      const ReplayResult again = Unwrap(txn::Replay(trace, options));
      EXPECT_EQ(result.committed, again.committed) << "a replay is deterministic";
      EXPECT_EQ(result.requests, again.requests);
    }
  }
}

TEST(Replay, SaysWhatIsWrong) {
  const AccessTrace trace = TraceOf(2, {{0, {{0, true}}}});
  const auto error = [&](const ReplayOptions& options) {
    const auto result = txn::Replay(trace, options);
    return result ? "" : result.error().message;
  };
  EXPECT_THAT(error(With(ReplayProtocol::kNoWait)), HasSubstr("no transaction for partition 1"));
  ReplayOptions odd = With(ReplayProtocol::kNoWait);
  odd.cores = 3;
  EXPECT_THAT(error(odd), HasSubstr("--cores 3: an even number"));
  ReplayOptions escalating = With(ReplayProtocol::kTimestampOrder);
  escalating.plan.escalate = 3;
  EXPECT_THAT(error(escalating), HasSubstr("--escalate is for locks"));
  ReplayOptions timeless = With(ReplayProtocol::kNoWait);
  timeless.costs.row_ns = 0;
  EXPECT_THAT(error(timeless), HasSubstr("at least 1"));
  escalating.protocol = ReplayProtocol::kNoWait;
  escalating.plan.intentions = false;
  EXPECT_THAT(error(escalating), HasSubstr("--escalate needs intention locks"));
}

TEST(OrderCheck, FindsALostUpdate) {
  txn::OrderCheck check(/*by_timestamps=*/false);
  std::vector<txn::OrderCheck::Seen> one;
  std::vector<txn::OrderCheck::Seen> other;
  check.Access(1, 7, true, 0, one);
  check.Access(2, 7, true, 0, other);
  EXPECT_TRUE(check.Commit(1, one));
  EXPECT_FALSE(check.Commit(2, other));
}

TEST(OrderCheck, FindsWhatTimestampsForbid) {
  txn::OrderCheck check(/*by_timestamps=*/true);
  std::vector<txn::OrderCheck::Seen> early;
  std::vector<txn::OrderCheck::Seen> late;
  std::vector<txn::OrderCheck::Seen> reader;
  check.Access(5, 7, true, 0, late);
  check.Access(3, 7, true, 0, early);
  EXPECT_TRUE(check.Commit(3, early));
  EXPECT_FALSE(check.Install(3, 0)) << "5 has read the row before 3 wrote it";
  EXPECT_TRUE(check.Commit(5, late));
  EXPECT_TRUE(check.Install(5, 0));
  check.Access(4, 7, false, 0, reader);
  EXPECT_FALSE(check.Commit(4, reader)) << "it has read what 5 wrote";
}

}  // namespace
}  // namespace slimgraph::test
