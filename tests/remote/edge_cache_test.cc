// Which groups the edge cache takes, and in which form, for random groups and budgets.
#include "slimgraph/remote/edge_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

#include "slimgraph/remote/list_code.h"
#include "tests/support/sanitized.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

using Form = EdgeCache::Form;

// The groups of one home. A neighbour takes .4 to 1.7 bytes in coded lists, and 4 in decoded ones.
struct Groups {
  explicit Groups(std::mt19937_64& random) : weight_bytes(random() % 2 * 4) {
    for (std::uint64_t left = 1 + random() % 3000; left > 0; --left) {
      arcs.push_back(random() % (random() % 3 == 0 ? 2000 : 20));
      coded.push_back(arcs.back() * (4 + random() % 14) / 10);
    }
  }
  static std::uint64_t Sum(const std::vector<std::uint64_t>& of) {
    return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  }
  VertexId count() const { return static_cast<VertexId>(arcs.size()); }
  std::uint64_t decoded_bytes() const { return Sum(arcs) * (sizeof(VertexId) + weight_bytes); }
  std::uint64_t coded_bytes() const {
    return EdgeCache::CodedBytes(count(), Sum(arcs), weight_bytes, Sum(coded));
  }

  std::vector<std::uint64_t> arcs;
  std::vector<std::uint64_t> coded;
  std::size_t weight_bytes;
};

struct Taken {
  std::uint64_t decoded = 0;  // groups in that form
  std::uint64_t coded = 0;
  std::uint64_t absent = 0;
  std::uint64_t bytes = 0;  // of the budget: at least those of the coded form
};

// Two threads claim all groups, in orders of their own, and fill what they have claimed.
Taken ClaimAll(const Groups& groups, std::uint64_t budget_bytes, std::mt19937_64& random) {
  const bool whole = budget_bytes >= groups.decoded_bytes();
  const auto budget = Unwrap(CacheBudget::Make(budget_bytes, whole ? 0 : groups.coded_bytes()));
  EdgeCache cache = Unwrap(EdgeCache::Make(groups.count(), Groups::Sum(groups.arcs),
                                           groups.weight_bytes, *budget, whole));
  const auto mark_of = [](VertexId group) { return static_cast<std::byte>(group % 251 + 1); };
  const auto coded_bytes = [&](VertexId group) {
    return groups.arcs[group] * groups.weight_bytes + groups.coded[group] + ListCode::kSlackBytes;
  };
  std::vector<VertexId> order(groups.count());
  std::iota(order.begin(), order.end(), VertexId{0});
  std::shuffle(order.begin(), order.end(), random);
  const auto claim = [&](std::vector<VertexId> in_order) {
    for (const VertexId group : in_order) {
      const Form form = cache.Claim(group, groups.arcs[group], groups.coded[group]);
      if (form == Form::kAbsent) continue;
      if (form == Form::kCoded) {
        std::fill_n(cache.CodedWeights(group), coded_bytes(group), mark_of(group));
      }
      cache.Publish(group, form);
    }
  };
  std::thread other(claim, order);
  claim({order.rbegin(), order.rend()});
  other.join();
  Taken taken;
  for (VertexId group = 0; group < groups.count(); ++group) {
    switch (cache.form(group)) {
      case Form::kDecoded:
        ++taken.decoded;
        taken.bytes += std::max(groups.arcs[group] * (sizeof(VertexId) + groups.weight_bytes),
                                coded_bytes(group));
        break;
      case Form::kCoded: {
        ++taken.coded;
        taken.bytes += coded_bytes(group);
        const std::byte* const begin = cache.CodedWeights(group);
        EXPECT_EQ(std::count(begin, begin + coded_bytes(group), mark_of(group)),
                  static_cast<std::ptrdiff_t>(coded_bytes(group)))
            << "group " << group << " overlaps another one";
        EXPECT_EQ(cache.CodedLists(group, groups.arcs[group]) - begin,
                  static_cast<std::ptrdiff_t>(groups.arcs[group] * groups.weight_bytes));
        break;
      }
      default:
        ++taken.absent;
    }
  }
  return taken;
}

class EdgeCaches : public ::testing::Test {
 protected:
  EdgeCaches() : random_(seed_) {}
  static constexpr int kRounds = test::kSanitized ? 30 : 200;

  static std::uint64_t Seed() {
    const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
    return said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  }
  const std::uint64_t seed_ = Seed();
  std::mt19937_64 random_;
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__,
                                      "SLIMGRAPH_TEST_SEED=" + std::to_string(seed_)};
};

TEST_F(EdgeCaches, TakeAllGroupsDecodedIfThereIsRoom) {
  for (int round = 0; round < kRounds; ++round) {
    const Groups groups(random_);
    const Taken taken = ClaimAll(groups, groups.decoded_bytes() + random_() % 2, random_);
    EXPECT_EQ(taken.decoded, groups.count());
  }
}

// With room for all groups coded, none is left out, and the rest of the budget is used to decode.
TEST_F(EdgeCaches, TakeAllGroupsIfThereIsRoomForThemCoded) {
  int rounds_with_both = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Groups groups(random_);
    if (groups.coded_bytes() >= groups.decoded_bytes()) continue;
    const std::uint64_t between = groups.decoded_bytes() - groups.coded_bytes();
    const std::uint64_t budget = groups.coded_bytes() + random_() % between;
    const Taken taken = ClaimAll(groups, budget, random_);
    EXPECT_EQ(taken.absent, 0U);
    EXPECT_LE(taken.bytes, budget);
    const std::uint64_t largest = *std::max_element(groups.arcs.begin(), groups.arcs.end());
    const std::uint64_t slack = groups.count() * std::uint64_t{ListCode::kSlackBytes};
    if (taken.coded > 0) {
      EXPECT_GE(taken.bytes + largest * (sizeof(VertexId) + groups.weight_bytes) + slack, budget);
    }
    if (taken.coded > 0 && taken.decoded > 0) ++rounds_with_both;
  }
  EXPECT_GT(rounds_with_both, kRounds / 2);
}

TEST_F(EdgeCaches, TakeCodedGroupsAsFarAsThereIsRoom) {
  for (int round = 0; round < kRounds; ++round) {
    const Groups groups(random_);
    const std::uint64_t budget = random_() % groups.coded_bytes();
    if (budget >= groups.decoded_bytes()) continue;
    const Taken taken = ClaimAll(groups, budget, random_);
    EXPECT_LE(taken.bytes, budget);
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < groups.arcs.size(); ++i) {
      largest = std::max(
          largest, EdgeCache::CodedBytes(1, groups.arcs[i], groups.weight_bytes, groups.coded[i]));
    }
    EXPECT_GE(taken.bytes + 2 * largest, budget) << "room is left";
  }
}

// D-Kudu's caches.
TEST_F(EdgeCaches, CodeNothingUnlessTold) {
  CacheBudget budget(1000);
  EdgeCache cache = Unwrap(EdgeCache::Make(3, 300, 0, budget, false));
  EXPECT_EQ(cache.Claim(0, 200, 0), Form::kDecoded);
  EXPECT_EQ(cache.form(0), Form::kLoading);
  EXPECT_EQ(cache.Claim(0, 200, 0), Form::kAbsent) << "another thread has claimed it";
  EXPECT_EQ(cache.Claim(1, 51, 0), Form::kAbsent);
  EXPECT_EQ(cache.Claim(1, 50, 0), Form::kDecoded);
  EXPECT_EQ(budget.left(), 0U);
  EXPECT_FALSE(cache.HasDecoded(1));
  cache.Publish(1, Form::kDecoded);
  EXPECT_TRUE(cache.HasDecoded(1));
}

}  // namespace
}  // namespace slimgraph
