#include "dgemini/internal/label_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

VertexId Expected(const dgemini::VertexArray<VertexId>& labels, std::span<const VertexId> list) {
  std::map<VertexId, std::size_t> counts;
  for (const VertexId v : list) ++counts[labels[v]];
  return std::ranges::max_element(counts,
                                  [](const auto& a, const auto& b) {
                                    return a.second < b.second ||
                                           (a.second == b.second && a.first > b.first);
                                  })
      ->first;
}

// Lists of all lengths around those at which the counting changes, with few or many labels.
TEST(LabelCounts, FindTheSmallestOfTheMostFrequentLabels) {
  auto random = SeededRandom();
  constexpr VertexId kVertices = 100'000;
  constexpr std::size_t kLongest = 60'000;
  dgemini::VertexArray<VertexId> labels(kVertices);
  dgemini::LabelCounts counts(kLongest);
  for (int i = 0; i < 400; ++i) {
    const auto different = static_cast<VertexId>(1 + random() % (VertexId{1} << random() % 17));
    for (VertexId v = 0; v < kVertices; ++v) {
      labels[v] = static_cast<VertexId>(random() % different) * (i % 3 == 0 ? 4096 : 1);
    }
    const std::size_t most = i % 4 == 0 ? kLongest : std::size_t{1} << (1 + random() % 11);
    std::vector<VertexId> list(i == 0 ? kLongest : 1 + random() % most);
    for (VertexId& v : list) v = static_cast<VertexId>(random() % kVertices);
    EXPECT_EQ(counts.MostFrequent(labels, {.ids = list}), Expected(labels, list))
        << list.size() << " neighbours, up to " << different << " labels";
  }
}

TEST(LabelCounts, FindRepeatedNeighboursIfAllLabelsDiffer) {
  auto random = SeededRandom();
  dgemini::VertexArray<VertexId> labels(1000);
  for (VertexId v = 0; v < 1000; ++v) labels[v] = (v * 7 + 13) % 1000;
  for (int i = 0; i < 1000; ++i) {
    std::vector<VertexId> list(1 + random() % 60);
    for (VertexId& v : list) v = static_cast<VertexId>(random() % (i % 2 == 0 ? 30 : 1000));
    std::ranges::sort(list);
    EXPECT_EQ(dgemini::LabelCounts::MostFrequentAtFirst(labels, {.ids = list}),
              Expected(labels, list));
  }
}

}  // namespace
}  // namespace slimgraph::test
