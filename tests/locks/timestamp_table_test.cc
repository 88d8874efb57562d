// Timestamp ordering: by hand, and by random transactions whose reads must be those of a serial
// execution in the order of their timestamps.
#include "txnlayer/locks/timestamp_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/support/seed.h"

namespace slimgraph::test {
namespace {

using txn::LateAnswer;
using txn::LockId;
using txn::LockMode;
using txn::TimestampTable;
using txn::TransactionNumber;
using enum txn::LockAnswer;

TEST(TimestampTable, RefusesWhatComesTooLate) {
  TimestampTable table;
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({5, 7, LockMode::kS}, 0), kGranted);
  EXPECT_EQ(table.Request({4, 7, LockMode::kS}, 0), kGranted);
  EXPECT_EQ(table.Request({4, 7, LockMode::kX}, 0), kRefused) << "5 has read";
  EXPECT_EQ(table.Request({6, 7, LockMode::kX}, 0), kGranted);
  EXPECT_EQ(table.Request({6, 7, LockMode::kS}, 0), kGranted) << "its own write";
  EXPECT_EQ(table.Request({5, 7, LockMode::kS}, 0), kGranted) << "6 is later";
  table.End(6, true, 0, answers);
  EXPECT_EQ(table.Request({5, 7, LockMode::kS}, 0), kRefused);
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(table.idle());
}

TEST(TimestampTable, LaterOnesAwaitAPendingWrite) {
  TimestampTable table;
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({5, 7, LockMode::kX}, 0), kGranted);
  EXPECT_EQ(table.Request({8, 7, LockMode::kS}, 0), kLater);
  EXPECT_EQ(table.Request({7, 7, LockMode::kX}, 0), kLater);
  EXPECT_EQ(table.Request({6, 7, LockMode::kS}, 0), kLater);
  table.End(5, false, 0, answers);
  ASSERT_EQ(answers.size(), 2u) << "8 waits for 7";
  EXPECT_EQ(answers[0].transaction, 6u);
  EXPECT_EQ(answers[1].transaction, 7u);
  EXPECT_EQ(table.Request({4, 7, LockMode::kS}, 0), kGranted) << "5 has written nothing";
  answers.clear();
  table.End(7, true, 0, answers);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer, kGranted);
}

// Transactions over a few rows. A row's value is the number of its last writer. A read takes the
// value when it is granted, and writes are installed when their transaction ends.
class Runs {
 public:
  explicit Runs(std::uint64_t seed) : random_(seed) {}

  void Step() {
    if (open_.size() < 6) Begin();
    auto at = open_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_() % open_.size()));
    const TransactionNumber who = at->first;
    Open& open = at->second;
    if (open.waits) return;
    if (open.reads.size() >= 4 || random_() % 6 == 0) return End(who, random_() % 5 != 0);
    open.wanted = {who, random_() % kRows, random_() % 2 == 0 ? LockMode::kS : LockMode::kX};
    if (open.reads.contains(open.wanted.lock)) return;
    const txn::LockAnswer answer = table_.Request(open.wanted, 0);
    open.waits = answer == kLater;
    if (answer == kGranted) Read(open);
    if (answer == kRefused) End(who, false);
  }

  void Finish() {
    for (int round = 0; !open_.empty() && round < 100; ++round) {
      std::vector<TransactionNumber> ready;
      for (const auto& [who, open] : open_) {
        if (!open.waits) ready.push_back(who);
      }
      for (const TransactionNumber who : ready) End(who, true);
    }
    EXPECT_TRUE(open_.empty()) << "transactions wait for each other";
    EXPECT_TRUE(table_.idle());
    std::map<LockId, TransactionNumber> values;
    for (const auto& [who, done] : committed_) {
      for (const auto& [row, value] : done.reads) {
        EXPECT_EQ(value, values.contains(row) ? values[row] : 0)
            << "transaction " << who << ", row " << row;
      }
      for (const LockId row : done.writes) values[row] = who;
    }
    EXPECT_EQ(values, values_);
  }

 private:
  static constexpr std::uint64_t kRows = 4;
  struct Open {
    std::map<LockId, TransactionNumber> reads;
    std::vector<LockId> writes;
    txn::LockRequest wanted;
    bool waits = false;
  };

  // Timestamps rise, but not in the order in which transactions arrive.
  void Begin() {
    last_ += 10;
    TransactionNumber who = last_ + random_() % 30;
    while (open_.contains(who) || committed_.contains(who)) ++who;
    open_[who] = {};
  }
  void Read(Open& open) {
    const LockId row = open.wanted.lock;
    open.reads[row] = values_.contains(row) ? values_[row] : 0;
    if (open.wanted.mode == LockMode::kX) open.writes.push_back(row);
  }
  void End(TransactionNumber who, bool commits) {
    const Open open = std::move(open_.at(who));
    open_.erase(who);
    if (commits) {
      for (const LockId row : open.writes) values_[row] = who;
      committed_[who] = open;
    }
    std::vector<LateAnswer> answers;
    table_.End(who, commits, 0, answers);
    std::vector<TransactionNumber> refused;
    for (const LateAnswer& one : answers) {
      Open& other = open_.at(one.transaction);
      EXPECT_TRUE(other.waits);
      other.waits = false;
      if (one.answer == kGranted) {
        Read(other);
      } else {
        refused.push_back(one.transaction);
      }
    }
    for (const TransactionNumber one : refused) End(one, false);
  }

  TimestampTable table_;
  std::mt19937_64 random_;
  TransactionNumber last_ = 0;
  std::map<TransactionNumber, Open> open_;
  std::map<TransactionNumber, Open> committed_;
  std::map<LockId, TransactionNumber> values_;
};

TEST(TimestampTable, EqualsTheSerialOrderOfTimestamps) {
  const std::uint64_t seed = TestSeed();
  for (std::uint64_t run = 0; run < 500; ++run) {
    SCOPED_TRACE(run);
    Runs runs(seed * 1000 + run);
    for (int step = 0; step < 200; ++step) runs.Step();
    runs.Finish();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace slimgraph::test
