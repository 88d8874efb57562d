// How transactions that must name all tuples at first find out which, although their attempts may
// want different ones.
#include "txnlayer/stepwise_fetch.h"

#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::AbortReason;
using txn::Access;
using txn::Key;

struct Part {
  Key first;
  Key count;
};

// An attempt wants one part after the other. Those after the last of `attempts` want what that one
// wants.
void ExpectEnd(const std::vector<std::vector<Part>>& attempts, AbortReason reason,
               std::size_t number) {
  OnTxnJob({.protocol = "calvin", .nodes = 1}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol("calvin");
    txn::EngineOptions options;
    options.stages = *txn::StageCode::Parse("rpc", protocol->name(), protocol->stages());
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"t", 8, 5000});
    ASSERT_TRUE(engine->Run([&](txn::Transaction& transaction) {
      txn::StepwiseFetch steps(*protocol);
      AbortReason ended = AbortReason::kUnnamed;
      std::size_t tries = 0;
      while (ended == AbortReason::kUnnamed && tries < 20) {
        transaction.Begin(tries > 0);
        steps.Begin();
        const auto& parts = attempts[std::min(tries++, attempts.size() - 1)];
        const auto fetch = [&](const Part& part) {
          std::vector<txn::Want> wants;
          for (Key key = 0; key < part.count; ++key) wants.push_back({table, part.first + key});
          std::vector<Access*> found(wants.size());
          return steps.Fetch(transaction, wants, found.data());
        };
        const bool well = std::all_of(parts.begin(), parts.end(), fetch) && transaction.Commit();
        ended = well ? AbortReason::kNone : transaction.reason();
      }
      EXPECT_EQ(ended, reason);
      EXPECT_EQ(tries, number);
    }));
  });
}

// 640 tuples can be named.
TEST(StepwiseFetches, NeedAnAttemptForEachStep) {
  ExpectEnd({{{0, 300}, {1000, 300}, {2000, 40}}}, AbortReason::kNone, 3);
}

TEST(StepwiseFetches, ForgetWhatTheLastAttemptDidNotWant) {
  constexpr Part kA{0, 300}, kB{1000, 300}, kC{2000, 100}, kD{3000, 200};
  ExpectEnd({{kA, kB}, {kA, kC}, {kA, kC, kD}}, AbortReason::kNone, 4);
}

TEST(StepwiseFetches, ForgetWhatThisAttemptDoesNotBeginWith) {
  ExpectEnd({{{0, 400}, {1000, 200}}, {{2000, 400}, {1000, 200}}}, AbortReason::kNone, 3);
}

TEST(StepwiseFetches, EndWhereTooManyAreWanted) {
  ExpectEnd({{{0, 400}, {1000, 241}}}, AbortReason::kTooLarge, 1);
}

}  // namespace
}  // namespace slimgraph::test
