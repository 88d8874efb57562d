// Large transactions under CALVIN.
#include <algorithm>
#include <cstring>

#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::Key;
using txn::Transaction;

// Adds one to `count` tuples.
void Add(Transaction& transaction, txn::Table& table, Key first, Key count, Key step) {
  std::vector<txn::Want> wants;
  for (Key i = 0; i < count; ++i) wants.push_back({&table, first + i * step, true});
  std::vector<txn::Access*> found(count);
  transaction.Begin();
  ASSERT_TRUE(transaction.Fetch(wants, found.data()));
  for (txn::Access* const access : found) access->Put(access->Get<std::uint64_t>() + 1);
  ASSERT_TRUE(transaction.Commit());
}

// More tuples than there are buffers for values, in batches that take several messages, beside
// transactions of fewer tuples.
TEST(TransactionsByCalvin, AccessAnyNumberOfTuples) {
  constexpr Key kAll = 5000;
  constexpr Key kRounds = 3;
  constexpr std::uint32_t kCoroutines = 4;
  for (const char* const stages : {"rpc", "one-sided", "0110", "1001", "1100"}) {
    for (const NodeId compute : {1u, 2u, 3u}) {
      const TxnSetting setting{
          .protocol = "calvin", .stages = stages, .nodes = 3, .compute = compute};
      SCOPED_TRACE(NameOf(setting));
      OnTxnJob(setting, [&](Cluster& cluster) {
        const auto protocol = *txn::MakeProtocol("calvin");
        txn::EngineOptions options;
        options.stages = *txn::StageCode::Parse(stages, protocol->name(), protocol->stages());
        options.coroutines = kCoroutines;
        const auto engine = *txn::Engine::Make(cluster, *protocol, options);
        txn::Table& table = **engine->tables().Add({"t", sizeof(std::uint64_t), kAll});
        ASSERT_TRUE(engine->Run([&](Transaction& transaction) {
          for (Key round = 0; round < kRounds; ++round) {
            Add(transaction, table, 0, kAll, 1);
            for (Key i = 0; i < 10; ++i) Add(transaction, table, i, kAll / 10, 10);
          }
          transaction.Drain();
        }));
        engine->tables().ForEachTuple(table, [&](const std::byte* tuple) {
          std::uint64_t value;
          std::memcpy(&value, tuple + table.version_at(0) + txn::kWordBytes, sizeof value);
          EXPECT_EQ(value, std::uint64_t{compute} * kCoroutines * kRounds * 2);
        });
      });
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
