// Records of the own node: transactions access them as memory or, without that optimisation, as
// those of other nodes.
#include "tests/support/unwrap.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/transaction.h"

namespace slimgraph::test {
namespace {

// A coroutine reads, writes and commits a record of its own node. Another one runs meanwhile only
// if it `waits`.
void Commits(const std::string& protocol_name, bool one_sided, std::string_view without,
             bool waits) {
  OnTxnJob({.protocol = protocol_name, .nodes = 1}, [&](Cluster& cluster) {
    const auto protocol = Unwrap(txn::MakeProtocol(protocol_name, kBriefWaits));
    txn::EngineOptions options;
    options.stages = txn::StageCode::All(one_sided);
    options.coroutines = 2;
    EXPECT_TRUE(txn::SwitchOff(without, options));
    const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
    txn::Table* const table = Unwrap(engine->tables().Add({"t", sizeof(std::uint64_t), 1000}));
    bool is_over = false;
    int turns = 0;
    EXPECT_TRUE(engine->Run([&](txn::Transaction& one) {
      if (one.task().index() == 1) {
        for (; !is_over; ++turns) one.task().Yield();
        return;
      }
      one.task().Yield();  // now the other runs
      const int before = turns;
      for (std::uint64_t i = 1; i <= 2; ++i) {
        one.Begin();
        txn::Access* const access = one.Write(*table, 7);
        ASSERT_NE(access, nullptr);
        EXPECT_EQ(access->exists() ? access->Get<std::uint64_t>() : 0, i - 1);
        access->Put(i);
        EXPECT_TRUE(one.Commit());
      }
      EXPECT_EQ(turns > before, waits);
      is_over = true;
    }));
  });
}

TEST(OwnHome, IsAccessedAsMemoryUnlessThatIsSwitchedOff) {
  for (const std::string& protocol : AllProtocols()) {
    if (protocol == "calvin") continue;  // its threads exchange transactions, not accesses
    for (const bool one_sided : {false, true}) {
      SCOPED_TRACE(protocol + (one_sided ? ", one-sided" : ", by message"));
      Commits(protocol, one_sided, "", false);
      Commits(protocol, one_sided, "own-home", true);
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
