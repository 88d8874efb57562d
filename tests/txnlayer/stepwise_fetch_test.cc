// How transactions that must name all tuples at first find out which, although their attempts may
// want different ones.
#include "txnlayer/stepwise_fetch.h"

#include <functional>

#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {
namespace {

using txn::AbortReason;
using txn::Access;
using txn::Key;
using txn::StepwiseFetch;

struct Part {
  Key first;
  Key count;
};

constexpr auto kAbort = StepwiseFetch::Unnamed::kAbort;
constexpr auto kLook = StepwiseFetch::Unnamed::kLook;

struct Committed {
  std::size_t tries;
  std::size_t tuples;  // that the last attempt has named
};

// An attempt wants one part after the other. Those after the last of `attempts` want what that one
// wants.
void ExpectEnd(StepwiseFetch::Unnamed unnamed, const std::vector<std::vector<Part>>& attempts,
               const Committed& expected) {
  OnTxnJob({.protocol = "calvin", .nodes = 1}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("calvin");
    txn::EngineOptions options;
    options.stages = *txn::StageCode::Parse("rpc", protocol->name(), protocol->stages());
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"t", 8, 5000});
    ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
      StepwiseFetch fetches(*protocol, unnamed);
      AbortReason ended = AbortReason::kUnnamed;
      std::size_t tries = 0;
      while (ended == AbortReason::kUnnamed && tries < 20) {
        transaction.Begin(tries > 0);
        fetches.Begin();
        const auto& parts = attempts[std::min(tries++, attempts.size() - 1)];
        const auto fetch = [&](const Part& part) {
          std::vector<txn::Want> wants;
          for (Key key = 0; key < part.count; ++key) wants.push_back({table, part.first + key});
          std::vector<Access*> found(wants.size());
          return fetches.Fetch(transaction, wants, found.data());
        };
        const bool well = std::all_of(parts.begin(), parts.end(), fetch) && transaction.Commit();
        ended = well ? AbortReason::kNone : transaction.reason();
      }
      EXPECT_EQ(ended, AbortReason::kNone);
      EXPECT_EQ(tries, expected.tries);
      EXPECT_EQ(transaction.accesses().size(), expected.tuples);
    }));
  });
}

TEST(StepwiseFetches, NeedAnAttemptForEachStep) {
  ExpectEnd(kAbort, {{{0, 300}, {1000, 300}, {2000, 40}}}, {.tries = 3, .tuples = 640});
}

TEST(StepwiseFetches, LookAtAllThatIsLeft) {
  std::vector<Part> steps;
  for (Key first = 0; first < 12; ++first) steps.push_back({100 * first, 3});
  ExpectEnd(kAbort, {steps}, {.tries = 12, .tuples = 36});
  ExpectEnd(kLook, {steps}, {.tries = 2, .tuples = 36});
}

// Eight attempts of eight steps, each on another way. The names of ways that were not taken again
// are forgotten when they are more than half.
TEST(StepwiseFetches, ForgetWaysThatAreNotTaken) {
  std::vector<std::vector<Part>> attempts;
  for (Key attempt = 0; attempt < 8; ++attempt) {
    auto& steps = attempts.emplace_back();
    for (Key step = 0; step < 8; ++step) steps.push_back({100 * step + attempt, 1});
  }
  ExpectEnd(kLook, attempts, {.tries = 9, .tuples = 16});
}

// The same where more than 640 names were not used.
TEST(StepwiseFetches, ForgetWaysWithManyTuples) {
  std::vector<std::vector<Part>> attempts;
  for (Key attempt = 1; attempt < 5; ++attempt) {
    attempts.push_back({{0, 10}, {1000 * attempt, 300}});
  }
  ExpectEnd(kAbort, attempts, {.tries = 5, .tuples = 310});
}

using End = std::function<bool(txn::Transaction&)>;

// However it ends, an attempt that has looked decides nothing, changes nothing, and holds nothing.
void ExpectNoDecision(const char* stages, const End& end) {
  TxnSetting setting{.protocol = "calvin", .stages = stages, .nodes = 2, .compute = 1};
  OnTxnJob(setting, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("calvin");
    txn::EngineOptions options;
    options.stages = *txn::StageCode::Parse(stages, protocol->name(), protocol->stages());
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"t", 8, 5000});
    ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
      transaction.Begin();
      ASSERT_NE(transaction.Write(*table, 1), nullptr);
      transaction.Look();
      for (const Key key : {1, 2, 3}) {
        Access* const access = transaction.Write(*table, key);
        ASSERT_NE(access, nullptr);
        EXPECT_EQ(access->Get<std::uint64_t>(), 0);
        access->SetExists(true);
        access->Put(std::uint64_t{7});
      }
      EXPECT_FALSE(end(transaction));
      EXPECT_EQ(transaction.reason(), AbortReason::kUnnamed);
      transaction.Begin(true);
      const txn::Want wants[] = {{table, 1, true}, {table, 2, true}, {table, 3, true}};
      Access* found[3];
      ASSERT_TRUE(transaction.Fetch(wants, found));
      for (const Access* const access : found) EXPECT_FALSE(access->exists());
      EXPECT_TRUE(transaction.Commit());
    }));
  });
}

TEST(StepwiseFetches, DecideNothingWithLooks) {
  const auto abort = [](txn::Transaction& transaction) {
    transaction.Abort();
    return false;
  };
  for (const char* const stages : {"rpc", "one-sided"}) {
    ExpectNoDecision(stages, abort);
    ExpectNoDecision(stages, std::mem_fn(&txn::Transaction::Commit));
    ExpectNoDecision(stages, std::mem_fn(&txn::Transaction::AbortIfConsistent));
  }
}

// While one transaction looks, another writes what the first has named and what it has looked at.
TEST(StepwiseFetches, HoldNothingWhileTheyLook) {
  for (const char* const stages : {"rpc", "one-sided"}) {
    OnTxnJob(
        {.protocol = "calvin", .stages = stages, .nodes = 2, .compute = 1}, [&](Cluster& cluster) {
          const auto protocol = *txn::MakeProtocol("calvin");
          txn::EngineOptions options;
          options.stages = *txn::StageCode::Parse(stages, protocol->name(), protocol->stages());
          options.coroutines = 2;
          const auto engine = *txn::Engine::Make(cluster, *protocol, options);
          txn::Table* const table = *engine->tables().Add({"t", 8, 100});
          bool looked = false;
          bool written = false;
          const auto await = [](txn::Transaction& transaction, const bool& flag) {
            for (int i = 0; i < 5000 && !flag; ++i) transaction.task().Idle(1'000'000);
            EXPECT_TRUE(flag);
          };
          ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
            if (transaction.process() == 0) {
              transaction.Begin();
              EXPECT_NE(transaction.Write(*table, 1), nullptr);
              transaction.Look();
              for (const Key key : {2, 3}) {
                EXPECT_NE(transaction.Write(*table, key), nullptr);
              }
              looked = true;
              await(transaction, written);
              return transaction.Abort();
            }
            await(transaction, looked);
            transaction.Begin();
            const txn::Want wants[] = {{table, 1, true}, {table, 2, true}, {table, 3, true}};
            Access* found[3];
            EXPECT_TRUE(transaction.Fetch(wants, found));
            EXPECT_TRUE(transaction.Commit());
            written = true;
          }));
        });
  }
}

// A body that rolls back is only believed if it has not merely looked.
TEST(StepwiseFetches, RollBackWhatWasReadTogether) {
  TxnSetting setting{.protocol = "calvin", .nodes = 1, .coroutines = 1};
  const auto protocol = *txn::MakeProtocol("calvin");
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource empty("");
    GraphOnNode made;
    MakeGraph(cluster, setting, *protocol, empty, {.room_vertices = 64, .room_edges = 64}, made);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    ASSERT_TRUE(made.engine->Run([&](txn::Transaction& transaction) {
      txn::GraphTransaction work(*made.graph, transaction);
      std::uint32_t looks = 0;
      const txn::Verdict verdict = work.Run([&](txn::GraphTransaction& g) {
        for (txn::VertexName v = 0; v < 8; ++v) {
          if (g.AddVertex(v, {}) == txn::Answer::kAborted) return txn::Answer::kAborted;
        }
        looks += transaction.looks() ? 1 : 0;
        return txn::Answer::kNo;
      });
      EXPECT_EQ(verdict.end, txn::Answer::kNo);
      EXPECT_EQ(looks, 1);
      EXPECT_FALSE(transaction.looks());
    }));
  });
}

}  // namespace
}  // namespace slimgraph::test
