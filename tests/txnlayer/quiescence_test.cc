// When a round ends: two threads of one node, whose loops the test executes itself.
#include "txnlayer/internal/engine/quiescence.h"

#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Quiescence;

class TwoThreads {
 public:
  explicit TwoThreads(Fabric& fabric) : quiescence(fabric, 2), workers{{fabric, 0}, {fabric, 1}} {}

  void BothReportAtRest() {
    for (txn::Worker& worker : workers) quiescence.ReportAtRest(worker);
  }
  // Delivers all messages: the reports of rest, then the order to stop.
  bool Stops() {
    std::vector<Completion> none;
    for (int turn = 0; turn < 4; ++turn) {
      for (txn::Worker& worker : workers) worker.endpoint().Poll(none);
    }
    return quiescence.stop(0) && quiescence.stop(1);
  }

  Quiescence quiescence;
  txn::Worker workers[2];
};

void OnTwoThreads(const std::function<void(TwoThreads&)>& body) {
  OnTxnJob({.protocol = "occ", .nodes = 1, .threads = 2}, [&](Cluster& cluster) {
    TwoThreads two(cluster.fabric());
    two.quiescence.BeginRound();
    body(two);
  });
}

TEST(Quiescence, EndsARoundWhenAllThreadsRest) {
  OnTwoThreads([](TwoThreads& two) {
    two.quiescence.ReportAtRest(two.workers[1]);
    EXPECT_FALSE(two.Stops());
    two.quiescence.ReportAtRest(two.workers[0]);
    EXPECT_TRUE(two.Stops());
    for (const auto reason : {Quiescence::kDeath, Quiescence::kSweep, Quiescence::kStopTheWorld}) {
      EXPECT_FALSE(two.quiescence.due(reason));
    }
    two.quiescence.BeginRound();
    EXPECT_FALSE(two.Stops()) << "reports of the last round count no more";
  });
}

TEST(Quiescence, WaitsUntilAllThreadsHaveNotedTheStop) {
  OnTwoThreads([](TwoThreads& two) {
    two.quiescence.RequestOnNode0(Quiescence::kStopTheWorld, 7);
    EXPECT_FALSE(two.quiescence.NoteRequests(two.workers[0]));
    EXPECT_TRUE(two.quiescence.BlocksBegin(0));
    EXPECT_FALSE(two.quiescence.BlocksBegin(1));
    two.BothReportAtRest();
    EXPECT_FALSE(two.Stops());
    EXPECT_FALSE(two.quiescence.NoteRequests(two.workers[1]));
    two.quiescence.ReportAtRest(two.workers[1]);
    EXPECT_TRUE(two.Stops());
    EXPECT_TRUE(two.quiescence.due(Quiescence::kStopTheWorld));
    EXPECT_EQ(two.quiescence.number(Quiescence::kStopTheWorld), 7u);
    EXPECT_FALSE(two.quiescence.due(Quiescence::kSweep));
    two.quiescence.MarkDone(Quiescence::kStopTheWorld);
    EXPECT_FALSE(two.quiescence.due(Quiescence::kStopTheWorld));
    EXPECT_FALSE(two.quiescence.BlocksBegin(0));
  });
}

// A thread that has reported that it rests may note another request before it receives the stop.
TEST(Quiescence, EndsARoundOnlyOnce) {
  OnTwoThreads([](TwoThreads& two) {
    for (const std::uint32_t number : {1U, 2U}) {
      two.quiescence.RequestOnNode0(Quiescence::kStopTheWorld, number);
      for (txn::Worker& worker : two.workers) two.quiescence.NoteRequests(worker);
      two.BothReportAtRest();
      EXPECT_TRUE(two.Stops());
      EXPECT_EQ(two.quiescence.number(Quiescence::kStopTheWorld), 1U);
    }
    two.BothReportAtRest();
    two.quiescence.BeginRound();
    EXPECT_FALSE(two.Stops()) << "a stop of the last round counts no more";
    EXPECT_EQ(two.quiescence.number(Quiescence::kStopTheWorld), 1U);
  });
}

TEST(Quiescence, OneSweepServesAllThatRequestOne) {
  OnTwoThreads([](TwoThreads& two) {
    for (txn::Worker& worker : two.workers)
      two.quiescence.RequestViaNode0(Quiescence::kSweep, worker.endpoint());
    EXPECT_FALSE(two.Stops());
    EXPECT_EQ(two.quiescence.wanted(Quiescence::kSweep), 1u);
    for (txn::Worker& worker : two.workers) two.quiescence.NoteRequests(worker);
    two.BothReportAtRest();
    EXPECT_TRUE(two.Stops());
    EXPECT_TRUE(two.quiescence.due(Quiescence::kSweep));
    two.quiescence.MarkDone(Quiescence::kSweep);
    EXPECT_EQ(two.quiescence.done(Quiescence::kSweep), 1u);
  });
}

TEST(Quiescence, BlocksAllThreadsOnceADeathIsReported) {
  OnTwoThreads([](TwoThreads& two) {
    two.quiescence.NoteDeath(0);
    EXPECT_TRUE(two.quiescence.BlocksBegin(0));
    EXPECT_TRUE(two.quiescence.BlocksBegin(1));
    EXPECT_TRUE(two.quiescence.NoteRequests(two.workers[0]));
    EXPECT_FALSE(two.quiescence.NoteRequests(two.workers[0])) << "each death is reported once";
    EXPECT_TRUE(two.quiescence.dead().empty()) << "nothing has been repaired yet";
  });
}

// Node 0 may have announced it to some threads or to all of them, and the announcement may come
// when the next run has begun.
TEST(Quiescence, DropsAStopThatTheLastRunDidNotReach) {
  for (const int noted : {0, 1, 2}) {
    OnTwoThreads([noted](TwoThreads& two) {
      const auto note = [&](int threads) {
        for (int i = 0; i < threads; ++i) two.quiescence.NoteRequests(two.workers[i]);
      };
      two.quiescence.RequestOnNode0(Quiescence::kStopTheWorld, 1);
      note(noted);
      two.quiescence.BeginRound();
      two.quiescence.WithdrawStops();
      EXPECT_FALSE(two.quiescence.pending(Quiescence::kStopTheWorld));
      for (const std::uint32_t thread : {0U, 1U}) {
        EXPECT_FALSE(two.quiescence.BlocksBegin(thread));
      }
      note(2);
      two.BothReportAtRest();
      EXPECT_TRUE(two.Stops());
      EXPECT_FALSE(two.quiescence.due(Quiescence::kStopTheWorld));
      // The next one has the same number.
      two.quiescence.BeginRound();
      two.quiescence.RequestOnNode0(Quiescence::kStopTheWorld, 1);
      note(2);
      EXPECT_TRUE(two.quiescence.BlocksBegin(0));
      two.BothReportAtRest();
      EXPECT_TRUE(two.Stops());
      EXPECT_TRUE(two.quiescence.due(Quiescence::kStopTheWorld));
    });
  }
}

// Node 0 announces a stop in its last run after node 1 has begun the next one.
TEST(Quiescence, IgnoresAStopOfTheLastRunThatIsHeardLate) {
  OnTxnJob({.protocol = "occ", .nodes = 2, .threads = 2}, [](Cluster& cluster) {
    TwoThreads two(cluster.fabric());
    two.quiescence.BeginRound();
    const auto next_run = [&] {
      two.quiescence.BeginRound();
      two.quiescence.WithdrawStops();
    };
    const auto request = [&] {
      two.quiescence.RequestOnNode0(Quiescence::kStopTheWorld, 1);
      two.quiescence.NoteRequests(two.workers[0]);
      static_cast<void>(two.workers[0].endpoint().Flush());
    };
    const bool first = cluster.self() == 0;
    if (!first) next_run();
    ASSERT_TRUE(cluster.all().Barrier());
    if (first) request();
    ASSERT_TRUE(cluster.all().Barrier());
    two.Stops();  // delivers the messages
    if (!first) {
      EXPECT_FALSE(two.quiescence.pending(Quiescence::kStopTheWorld));
    }
    ASSERT_TRUE(cluster.all().Barrier());
    // What is announced in this run is heard.
    if (first) next_run();
    if (first) request();
    ASSERT_TRUE(cluster.all().Barrier());
    two.Stops();
    EXPECT_TRUE(two.quiescence.pending(Quiescence::kStopTheWorld));
  });
}

}  // namespace
}  // namespace slimgraph::test
