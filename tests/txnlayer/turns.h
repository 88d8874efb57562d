// Transactions with read timestamps that take turns in one coroutine.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/base/clock.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/transaction.h"

namespace slimgraph::test {

inline txn::ProtocolOptions Timed() {
  txn::ProtocolOptions options = kBriefWaits;
  options.timestamps = txn::Timestamps::kDst;
  return options;
}

inline constexpr const char* kTimed[] = {"nowait", "waitdie", "boundedwait", "occ", "mvcc"};

// Two transactions of one coroutine take turns, on tables whose keys are on another node (odd ones)
// or on this one.
struct Turns {
  txn::Table& table;
  txn::Transaction& writer;
  txn::Transaction& reader;

  void Write(txn::Key key, std::uint64_t value) const { Write(std::vector<txn::Key>{key}, value); }
  // Another transaction's locks may not be free yet although it has committed.
  void Write(const std::vector<txn::Key>& keys, std::uint64_t value) const {
    for (std::uint32_t tries = 1; !TryToWrite(keys, value, tries > 1); ++tries) {
      ASSERT_LT(tries, 10'000u);
      writer.BackOff(tries);
    }
  }
  bool TryToWrite(const std::vector<txn::Key>& keys, std::uint64_t value, bool again) const {
    writer.Begin(again);
    for (const txn::Key key : keys) {
      txn::Access* const access = writer.Write(table, key);
      if (access == nullptr) return false;
      access->Put(value);
    }
    return writer.Commit();
  }
  // 0: there is no record.
  std::uint64_t Read(txn::Key key) const {
    const txn::Access* const access = reader.Read(table, key);
    EXPECT_NE(access, nullptr);
    return access == nullptr || !access->exists() ? 0 : access->Get<std::uint64_t>();
  }
  void BeginReading() const { reader.Begin(false, NowNs(), true); }
};

inline constexpr std::uint64_t kRoomOfTurns = 128 << 10;

inline void WithTurns(const std::string& protocol_name, std::uint32_t record_bytes,
                      const std::function<void(const Turns&)>& body) {
  for (const bool one_sided : {false, true}) {
    OnTxnJob({.protocol = protocol_name, .nodes = 2, .compute = 1}, [&](Cluster& cluster) {
      const auto protocol = Unwrap(txn::MakeProtocol(protocol_name, Timed()));
      txn::EngineOptions options;
      options.stages = txn::StageCode::All(one_sided);
      options.version_bytes = kRoomOfTurns;
      const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
      txn::Table* const table = Unwrap(engine->tables().Add({"t", record_bytes, 1000}));
      EXPECT_TRUE(engine->Run([&](txn::Transaction& one) {
        txn::Transaction other(*engine, one.task(), 0);
        body({*table, one, other});
        other.Drain();
      }));
    });
  }
}

}  // namespace slimgraph::test
