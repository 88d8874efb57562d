// MergeChanges compared with a std::map: names that are contiguous, that have gaps, and whose dense
// ids do not ascend.
#include "txnlayer/graph_model/merge_changes.h"

#include <map>
#include <set>

#include "tests/txnlayer/support.h"

namespace slimgraph::test {
namespace {

using txn::DenseIdMap;
using txn::VertexName;

// A random subset, in order. Each element is taken with probability 1/`one_in`.
std::set<VertexName> Some(const std::set<VertexName>& of, std::mt19937_64& random,
                          std::uint64_t one_in) {
  std::set<VertexName> some;
  for (const VertexName name : of) {
    if (random() % one_in == 0) some.insert(name);
  }
  return some;
}

struct NewState {
  VertexName neighbour;
  bool alive;
};

enum class NameOrder { kContiguous, kSparse, kLate };

DenseIdMap RandomIds(NameOrder kind, std::mt19937_64& random) {
  const auto count = static_cast<VertexId>(random() % 60);
  if (kind == NameOrder::kContiguous) return DenseIdMap(OriginalIds(random() % 9, count));
  std::set<VertexName> early;
  std::set<VertexName> late;
  while (early.size() < count) early.insert(random() % 200);
  const std::vector<VertexName> first(early.begin(), early.end());
  DenseIdMap ids{OriginalIds(first)};
  if (kind == NameOrder::kSparse) return ids;
  while (late.size() < count) {
    const VertexName name = random() % 400;
    if (!early.contains(name)) late.insert(name);
  }
  const std::vector<VertexName> more(late.begin(), late.end());
  return ids.With(more);
}

class MergedChanges : public testing::TestWithParam<NameOrder> {};

TEST_P(MergedChanges, MatchAMap) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 3000; ++round) {
    const DenseIdMap ids = RandomIds(GetParam(), random);
    std::set<VertexName> names;
    for (VertexId dense = 0; dense < ids.count(); ++dense) names.insert(ids[dense]);
    std::vector<VertexId> base;
    std::map<VertexName, bool> expected;  // neighbours: whether a change has added them
    for (const VertexName name : Some(names, random, 1 + random() % 4)) {
      base.push_back(*ids.Find(name));
      expected[name] = false;
    }
    std::vector<NewState> changes;
    for (const VertexName name : Some(names, random, 1 + random() % 20)) {
      changes.push_back({name, random() % 2 == 0});
      if (changes.back().alive) {
        expected[name] = true;
      } else {
        expected.erase(name);
      }
    }
    std::vector<std::pair<VertexName, bool>> merged;
    std::size_t visited = 0;
    std::size_t kept_end = ~std::size_t{0};  // of the last kept range, if no change followed it
    txn::MergeChanges(
        ids, base, changes, [](const NewState& change) { return change.neighbour; },
        [&](std::size_t first, std::size_t count) {
          ASSERT_GT(count, 0u);
          ASSERT_LE(first + count, base.size());
          ASSERT_NE(first, kept_end) << "two ranges where there is one";
          kept_end = first + count;
          for (std::size_t i = first; i < kept_end; ++i) {
            merged.emplace_back(ids[base[i]], false);
          }
        },
        [&](const NewState& change) {
          ASSERT_EQ(&change, &changes[visited++]);
          kept_end = ~std::size_t{0};
          if (change.alive) merged.emplace_back(change.neighbour, true);
        });
    ASSERT_EQ(visited, changes.size());
    ASSERT_EQ(merged, (std::vector<std::pair<VertexName, bool>>(expected.begin(), expected.end())));
  }
}

std::string NameOf(const testing::TestParamInfo<NameOrder>& one) {
  static const std::string names[] = {"Contiguous", "Sparse", "Late"};
  return names[static_cast<std::size_t>(one.param)];
}
INSTANTIATE_TEST_SUITE_P(All, MergedChanges,
                         testing::Values(NameOrder::kContiguous, NameOrder::kSparse,
                                         NameOrder::kLate),
                         NameOf);

}  // namespace
}  // namespace slimgraph::test
