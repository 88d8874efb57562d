// Read timestamps (stages/read_at.h) when clocks differ: what transactions leave in records, and
// for keys without a record, is found by others.
#include "tests/txnlayer/turns.h"

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Key;
using txn::Transaction;

class Clocks : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Clocks, ::testing::ValuesIn(kTimed),
                         [](const auto& one) { return std::string(one.param); });

// Two nodes, of which the first has a clock that is a second ahead. `first` and `second` run on
// one each and call Await() and Tell().
struct OnTwoClocks {
  const Turns turns;
  const SharedNumber& step;

  void Await(std::uint64_t wanted) const {
    while ((*step).load() < wanted) turns.reader.IdleUntil(NowNs() + 100'000);
  }
  void Tell(std::uint64_t reached) const { *step = reached; }
};
void WithTwoClocks(const std::string& protocol_name, bool one_sided,
                   const std::function<void(const OnTwoClocks&)>& first,
                   const std::function<void(const OnTwoClocks&)>& second) {
  const SharedNumber step;
  OnTxnJob({.protocol = protocol_name, .nodes = 2}, [&](Cluster& cluster) {
    const auto protocol = Unwrap(txn::MakeProtocol(protocol_name, Timed()));
    txn::EngineOptions options;
    options.stages = txn::StageCode::All(one_sided);
    options.clock_ahead_us = cluster.self() == 0 ? 1'000'000 : 0;
    const auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
    txn::Table* const table = Unwrap(engine->tables().Add({"t", 8, 100}));
    EXPECT_TRUE(engine->Run([&](Transaction& one) {
      (cluster.self() == 0 ? first : second)({{*table, one, one}, step});
    }));
  });
}

// On both nodes: keys that are there, and keys that are not.
constexpr Key kFirstAbsent = 20;
constexpr Key kPlaces[] = {1, 2, 21, 22};
constexpr Key kElsewhere[] = {41, 42};

// A writer learns the time of a reader only from what the reader has left in a record that it has
// read, or for a key that it has found absent. The writer changes that together with another
// record, which the reader reads later.
TEST_P(Clocks, OfReadersAreKeptByWritersWhoseClocksAreBehind) {
  for (const bool one_sided : {false, true}) {
    for (const Key key : kPlaces) {
      const std::uint64_t before = key < kFirstAbsent ? 1 : 0;
      WithTwoClocks(
          GetParam(), one_sided,
          [&](const OnTwoClocks& reader) {
            reader.Await(1);
            // The second time, it may know where the record is.
            for (const bool again : {false, true}) {
              EXPECT_TRUE(!again || reader.turns.reader.Commit());
              reader.turns.BeginReading();
              EXPECT_EQ(reader.turns.Read(key), before);
            }
            reader.Tell(2);
            reader.Await(3);
            EXPECT_EQ(reader.turns.Read(kElsewhere[0]), before);
            EXPECT_TRUE(reader.turns.reader.Commit());
          },
          [&](const OnTwoClocks& writer) {
            if (before != 0) writer.turns.Write({key, kElsewhere[0]}, before);
            writer.Tell(1);
            writer.Await(2);
            writer.turns.Write({key, kElsewhere[0]}, 2);
            writer.Tell(3);
          });
    }
  }
}

// The writer has read the record before the reader, perhaps under a lock that readers share.
TEST_P(Clocks, OfReadersAreKeptByTransactionsThatReadFirstAndThenWrite) {
  for (const bool one_sided : {false, true}) {
    for (const Key key : {1, 2}) {
      // A reader would wait for a lock that is not shared.
      if (key == 2 && GetParam() != std::string("occ")) continue;
      WithTwoClocks(
          GetParam(), one_sided,
          [&](const OnTwoClocks& reader) {
            reader.Await(1);
            reader.turns.BeginReading();
            EXPECT_EQ(reader.turns.Read(key), 1u);
            reader.Tell(2);
            reader.Await(3);
            EXPECT_EQ(reader.turns.Read(kElsewhere[0]), 1u);
            EXPECT_TRUE(reader.turns.reader.Commit());
          },
          [&](const OnTwoClocks& writer) {
            Transaction& one = writer.turns.writer;
            writer.turns.Write({key, kElsewhere[0]}, 1);
            one.Drain();
            one.Begin();
            EXPECT_NE(one.Read(writer.turns.table, key), nullptr);
            writer.Tell(1);
            writer.Await(2);
            for (const Key written : {key, kElsewhere[0]}) {
              Access* const access = one.Write(writer.turns.table, written);
              ASSERT_NE(access, nullptr);
              access->Put(std::uint64_t{2});
            }
            // It commits at a later time than that at which it began, or not at all.
            EXPECT_NE(one.Commit(), one.engine().protocol().commits_at_timestamp());
            writer.Tell(3);
          });
    }
  }
}

// The same for a transaction that reads one record, and writes another. A reader that sees what
// the second transaction has written sees that, too.
TEST_P(Clocks, OfWritersAreKeptByWritersWhoseClocksAreBehind) {
  for (const bool one_sided : {false, true}) {
    for (const Key key : kPlaces) {
      WithTwoClocks(
          GetParam(), one_sided,
          [&](const OnTwoClocks& first) {
            Transaction& one = first.turns.writer;
            if (key < kFirstAbsent) first.turns.Write(key, 1);
            one.Begin();
            EXPECT_NE(one.Read(first.turns.table, key), nullptr);
            Access* const written = one.Write(first.turns.table, kElsewhere[0]);
            ASSERT_NE(written, nullptr);
            written->Put(std::uint64_t{5});
            EXPECT_TRUE(one.Commit());
            first.Tell(1);
          },
          [&](const OnTwoClocks& second) {
            second.Await(1);
            second.turns.Write({key, kElsewhere[1]}, 6);
            second.turns.BeginReading();
            EXPECT_EQ(second.turns.Read(kElsewhere[1]), 6u);
            EXPECT_EQ(second.turns.Read(kElsewhere[0]), 5u);
            EXPECT_TRUE(second.turns.reader.Commit());
          });
    }
  }
}

// A record is deleted, and a sweep removes its tuple. A reader that finds nothing also sees what
// the deleting transaction has written.
TEST_P(Clocks, OfRemovedTuplesAreNotForgotten) {
  for (const Key key : {1, 2}) {
    WithTwoClocks(
        GetParam(), true,
        [&](const OnTwoClocks& first) {
          Transaction& one = first.turns.writer;
          first.turns.Write({key, kElsewhere[0]}, 1);
          one.Begin();
          Access* const gone = one.Write(first.turns.table, key);
          Access* const written = one.Write(first.turns.table, kElsewhere[0]);
          ASSERT_TRUE(gone != nullptr && written != nullptr);
          Transaction::Delete(*gone);
          written->Put(std::uint64_t{5});
          EXPECT_TRUE(one.Commit());
          // One of these finds no room at first.
          for (Key more = 1000; one.engine().sweeps() == 0 && more < 1200; ++more) {
            first.turns.Write(more, 1);
          }
          EXPECT_GT(one.engine().sweeps(), 0u);
          first.Tell(1);
        },
        [&](const OnTwoClocks& second) {
          second.Await(1);
          second.turns.BeginReading();
          EXPECT_EQ(second.turns.Read(key), 0u);
          EXPECT_EQ(second.turns.Read(kElsewhere[0]), 5u);
          EXPECT_TRUE(second.turns.reader.Commit());
        });
  }
}

}  // namespace
}  // namespace slimgraph::test
