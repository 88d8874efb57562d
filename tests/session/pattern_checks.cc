#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/patterns.h"
#include "tests/session/checks.h"
#include "tests/session/random_graph.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {

void CheckPatterns(Session& session, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const RandomGraph edges = MakeRandomGraph(random, /*directed=*/false, /*weighted=*/false);
  const Lists lists = OutLists(edges);
  Graph graph = OpenRandom(session, edges);
  const auto at = TrianglesAt(lists);
  std::uint64_t corners = 0;
  for (const auto& [v, triangles] : at) corners += triangles;
  const auto triangle = Pattern::Find("triangle");
  const auto counted = Count(graph, *triangle);
  ASSERT_OK(counted);
  EXPECT_EQ(*counted, corners / 3);

  const auto path = Pattern::Make({{1, 2}, {2, 3}}, "path");
  std::uint64_t pairs = 0;
  for (const auto& [v, list] : lists) pairs += list.size() * (list.size() - 1) / 2;
  const auto paths = Count(graph, *path);
  ASSERT_OK(paths);
  EXPECT_EQ(*paths, pairs);
  const auto induced = Count(graph, *path, {.induced = true});
  ASSERT_OK(induced);
  EXPECT_EQ(*induced, pairs - corners);

  const auto local = LocalCounts(graph);
  ASSERT_OK(local);
  for (std::size_t i = 0; i < local->size(); ++i) {
    const LocalCount& count = local->values()[i];
    ASSERT_EQ(count.degree, lists.at(local->id(i)).size());
    ASSERT_EQ(count.triangles, at.at(local->id(i)));
  }

  const auto trussness = Trussness(graph);
  ASSERT_OK(trussness);
  std::vector<std::array<std::uint64_t, 3>> found;
  for (const auto& [a, b, k] : *trussness) found.push_back({a, b, k});
  if (session.first()) {
    EXPECT_EQ(found, TrussnessOf(lists));
  } else {
    EXPECT_TRUE(found.empty());
  }
}

void CheckMatches(Session& session, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const RandomGraph edges = MakeRandomGraph(random, /*directed=*/false, /*weighted=*/false);
  const Lists lists = OutLists(edges);
  Graph graph = OpenRandom(session, edges);
  std::uint64_t corners = 0;
  for (const auto& [v, triangles] : TrianglesAt(lists)) corners += triangles;
  const auto triangle = Pattern::Find("triangle");
  Mutex mutex;
  std::set<std::vector<std::uint64_t>> seen;
  std::uint64_t calls = 0;
  const auto visited = ForEachMatch(graph, *triangle, [&](std::uint32_t, auto ids) {
    std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
    std::sort(sorted.begin(), sorted.end());
    const std::lock_guard lock(mutex);
    ++calls;
    seen.insert(sorted);
    return true;
  });
  ASSERT_OK(visited);
  EXPECT_EQ(*visited, corners / 3);
  EXPECT_EQ(seen.size(), calls);
  EXPECT_TRUE(session.compute() > 1 || calls == *visited);
  for (const auto& ids : seen) {
    ASSERT_TRUE(lists.at(ids[0]).contains(ids[1]) && lists.at(ids[0]).contains(ids[2]) &&
                lists.at(ids[1]).contains(ids[2]));
  }
}

}  // namespace slimgraph::test
