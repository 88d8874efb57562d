// Lock modes, and the lock table of two-phase locking: by hand, and by random requests against what
// must hold at any time.
#include "txnlayer/locks/lock_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/support/seed.h"

namespace slimgraph::test {
namespace {

using txn::LateAnswer;
using txn::LockAnswer;
using txn::LockId;
using txn::LockMode;
using txn::LockTable;
using txn::TransactionNumber;
using txn::WhenTaken;
using enum txn::LockMode;
using enum txn::LockAnswer;

constexpr LockMode kModes[] = {kIS, kIX, kS, kSIX, kX};
constexpr std::uint64_t kMostWaitNs = 1000;

TEST(LockMode, PermitsWhatGraysTablePermits) {
  const std::pair<LockMode, LockMode> permitted[] = {{kIS, kIS},  {kIS, kIX}, {kIS, kS},
                                                     {kIS, kSIX}, {kIX, kIX}, {kS, kS}};
  for (const LockMode one : kModes) {
    EXPECT_TRUE(Compatible(one, kFree));
    for (const LockMode other : kModes) {
      const bool found = std::any_of(std::begin(permitted), std::end(permitted), [&](auto pair) {
        return pair == std::pair(std::min(one, other), std::max(one, other));
      });
      EXPECT_EQ(Compatible(one, other), found) << int(one) << " " << int(other);
    }
  }
}

// The union is compatible with a mode exactly if both modes are.
TEST(LockMode, UnionPermitsWhatBothPermit) {
  for (const LockMode one : kModes) {
    EXPECT_EQ(Union(one, kFree), one);
    for (const LockMode other : kModes) {
      EXPECT_EQ(Union(one, other), Union(other, one));
      for (const LockMode third : kModes) {
        EXPECT_EQ(Compatible(Union(one, other), third),
                  Compatible(one, third) && Compatible(other, third));
      }
    }
  }
}

LockTable TableOf(WhenTaken when) { return LockTable(when, kMostWaitNs); }

std::vector<TransactionNumber> GrantedBy(const std::vector<LateAnswer>& answers) {
  std::vector<TransactionNumber> granted;
  for (const LateAnswer& one : answers) {
    if (one.answer == kGranted) granted.push_back(one.transaction);
  }
  return granted;
}

using Numbers = std::vector<TransactionNumber>;

TEST(LockTable, QueueIsInTheOrderOfArrival) {
  LockTable table = TableOf(WhenTaken::kBoundedWait);
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({1, 7, kS}, 0), kGranted);
  EXPECT_EQ(table.Request({2, 7, kX}, 0), kLater);
  EXPECT_EQ(table.Request({3, 7, kS}, 0), kLater) << "it would starve the writer";
  EXPECT_EQ(table.Request({4, 7, kS}, 0), kLater);
  table.End(1, true, 0, answers);
  EXPECT_EQ(GrantedBy(answers), Numbers{2});
  answers.clear();
  table.End(2, true, 0, answers);
  EXPECT_EQ(GrantedBy(answers), (Numbers{3, 4}));
}

TEST(LockTable, ConversionsGoFirst) {
  LockTable table = TableOf(WhenTaken::kBoundedWait);
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({1, 7, kS}, 0), kGranted);
  EXPECT_EQ(table.Request({2, 7, kS}, 0), kGranted);
  EXPECT_EQ(table.Request({3, 7, kX}, 0), kLater);
  EXPECT_EQ(table.Request({1, 7, kIX}, 0), kLater) << "S and IX make SIX";
  EXPECT_EQ(table.HeldBy(1, 7), kS);
  table.End(2, true, 0, answers);
  EXPECT_EQ(GrantedBy(answers), Numbers{1});
  EXPECT_EQ(table.HeldBy(1, 7), kSIX);
  EXPECT_EQ(table.Request({4, 7, kIS}, 0), kLater) << "3 waits before it";
}

TEST(LockTable, NoWaitRefuses) {
  LockTable table = TableOf(WhenTaken::kNoWait);
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({1, 7, kX}, 0), kGranted);
  EXPECT_EQ(table.Request({1, 7, kS}, 0), kGranted) << "it holds a stronger mode";
  EXPECT_EQ(table.Request({2, 7, kIS}, 0), kRefused);
  table.End(1, true, 0, answers);
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(table.idle());
}

TEST(LockTable, TheOlderWaitsAndTheYoungerDies) {
  LockTable table = TableOf(WhenTaken::kWaitDie);
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({5, 7, kX}, 0), kGranted);
  EXPECT_EQ(table.Request({6, 7, kX}, 0), kRefused);
  EXPECT_EQ(table.Request({2, 7, kX}, 0), kLater);
  EXPECT_EQ(table.Request({4, 7, kX}, 0), kLater);
  table.End(5, true, 0, answers);
  EXPECT_EQ(GrantedBy(answers), Numbers{4}) << "so that 2 waits for a younger one still";
}

TEST(LockTable, AWaitIsBounded) {
  LockTable table = TableOf(WhenTaken::kBoundedWait);
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({1, 7, kX}, 0), kGranted);
  EXPECT_EQ(table.Request({2, 7, kX}, 10), kLater);
  EXPECT_EQ(table.Request({3, 7, kS}, 20), kLater);
  EXPECT_EQ(table.next_expiry_ns(), 10 + kMostWaitNs);
  table.Expire(9 + kMostWaitNs, answers);
  EXPECT_TRUE(answers.empty());
  table.Expire(10 + kMostWaitNs, answers);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].transaction, 2u);
  EXPECT_EQ(answers[0].answer, kRefused);
  EXPECT_EQ(table.next_expiry_ns(), 20 + kMostWaitNs);
  table.End(1, true, 30, answers);
  EXPECT_EQ(GrantedBy(answers), Numbers{3});
  EXPECT_EQ(table.next_expiry_ns(), std::nullopt);
}

// When the head of the queue gives up, those behind it may no longer have to wait.
TEST(LockTable, AnExpiredRequestLetsOthersPass) {
  LockTable table = TableOf(WhenTaken::kBoundedWait);
  std::vector<LateAnswer> answers;
  EXPECT_EQ(table.Request({1, 7, kS}, 0), kGranted);
  EXPECT_EQ(table.Request({2, 7, kX}, 0), kLater);
  EXPECT_EQ(table.Request({3, 7, kS}, 5), kLater);
  table.Expire(kMostWaitNs, answers);
  EXPECT_EQ(GrantedBy(answers), Numbers{3});
}

// --- random requests

struct Wish {
  LockId lock = 0;
  LockMode mode = kFree;  // that it will hold
  std::uint64_t since_ns = 0;
};

// What transactions hold and want, by what the table has answered.
class Requester {
 public:
  Requester(WhenTaken when, std::uint64_t seed)
      : when_(when), table_(TableOf(when)), random_(seed) {}

  void Step() {
    now_ns_ += Below(300);
    Expire();
    const TransactionNumber who = 1 + Below(kTransactions) + kTransactions * Below(2);
    if (wishes_.contains(who)) return;
    if (Below(5) == 0) return End(who);
    const LockId lock = Below(kLocks);
    const LockMode mode = kModes[Below(5)];
    const LockMode own = held_[lock].contains(who) ? held_[lock][who] : kFree;
    const Wish wish{lock, Union(own, mode), now_ns_};
    const LockAnswer answer = table_.Request({who, lock, mode}, now_ns_);
    if (answer == kGranted) Grant(who, wish);
    if (answer == kLater) wishes_[who] = wish;
    if (answer == kRefused) End(who);
    if (answer == kLater) {
      EXPECT_NE(when_, WhenTaken::kNoWait);
    }
    Check();
  }
  // Ends all transactions that do not wait, until there are none left.
  void Finish() {
    for (int round = 0; !table_.idle() && round < 1000; ++round) {
      now_ns_ += kMostWaitNs / 2;
      Expire();
      for (TransactionNumber who = 1; who <= 2 * kTransactions; ++who) {
        if (!wishes_.contains(who)) End(who);
      }
    }
    EXPECT_TRUE(table_.idle()) << "transactions wait for each other";
  }

 private:
  static constexpr std::uint64_t kTransactions = 8;
  static constexpr std::uint64_t kLocks = 3;

  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }

  void Grant(TransactionNumber who, const Wish& wish) {
    for (const auto& [other, mode] : held_[wish.lock]) {
      if (other == who) continue;
      EXPECT_TRUE(Compatible(mode, wish.mode)) << who << " and " << other << " hold one lock";
    }
    held_[wish.lock][who] = wish.mode;
    EXPECT_EQ(table_.HeldBy(who, wish.lock), wish.mode);
  }
  void Take(const std::vector<LateAnswer>& answers) {
    Numbers dead;
    for (const LateAnswer& one : answers) {
      ASSERT_TRUE(wishes_.contains(one.transaction)) << "an answer to no request";
      const Wish wish = wishes_[one.transaction];
      EXPECT_EQ(one.lock, wish.lock);
      wishes_.erase(one.transaction);
      if (one.answer == kGranted) {
        Grant(one.transaction, wish);
      } else {
        EXPECT_GE(now_ns_, wish.since_ns + kMostWaitNs);
        dead.push_back(one.transaction);
      }
    }
    for (const TransactionNumber who : dead) End(who);
  }
  void End(TransactionNumber who) {
    std::vector<LateAnswer> answers;
    for (auto& [lock, holders] : held_) holders.erase(who);
    table_.End(who, true, now_ns_, answers);
    Take(answers);
  }
  void Expire() {
    std::vector<LateAnswer> answers;
    table_.Expire(now_ns_, answers);
    Take(answers);
    for (const auto& [who, wish] : wishes_) {
      if (when_ == WhenTaken::kBoundedWait) {
        EXPECT_LT(now_ns_, wish.since_ns + kMostWaitNs);
      }
    }
  }
  // Nobody waits for nothing: of those that wait for a lock, one at least wants a mode that a
  // holder excludes. Under WAITDIE, all holders that exclude it are younger.
  void Check() {
    for (LockId lock = 0; lock < kLocks; ++lock) {
      bool anybody = false;
      bool excluded = false;
      for (const auto& [who, wish] : wishes_) {
        if (wish.lock != lock) continue;
        anybody = true;
        for (const auto& [holder, mode] : held_[lock]) {
          if (holder == who || Compatible(mode, wish.mode)) continue;
          excluded = true;
          if (when_ == WhenTaken::kWaitDie) {
            EXPECT_LT(who, holder) << "a younger one waits";
          }
        }
      }
      EXPECT_EQ(anybody, excluded) << "lock " << lock;
    }
  }

  const WhenTaken when_;
  LockTable table_;
  std::mt19937_64 random_;
  std::uint64_t now_ns_ = 0;
  std::map<LockId, std::map<TransactionNumber, LockMode>> held_;
  std::map<TransactionNumber, Wish> wishes_;
};

TEST(LockTable, HoldsUnderRandomRequests) {
  const std::uint64_t seed = TestSeed();
  for (const WhenTaken when : {WhenTaken::kNoWait, WhenTaken::kWaitDie, WhenTaken::kBoundedWait}) {
    for (std::uint64_t run = 0; run < 200; ++run) {
      SCOPED_TRACE(::testing::Message() << "when " << int(when) << ", run " << run);
      Requester requester(when, seed * 1000 + run);
      for (int step = 0; step < 300; ++step) requester.Step();
      requester.Finish();
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
