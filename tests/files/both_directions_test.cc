// A directed graph that is read as if it were undirected.
#include "slimgraph/files/both_directions.h"

#include <algorithm>

#include "slimgraph/files/csr.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

// Lists that cross blocks of the file (256 Ki neighbours) and steps of the index (4096 vertices),
// with runs of empty lists, self-loops and duplicates.
std::string DrawDirected(std::mt19937_64& random, VertexId vertices, std::size_t edges,
                         const ScratchFolder& folder) {
  std::string text;
  for (std::size_t i = 0; i < edges; ++i) {
    const auto any = [&] { return static_cast<VertexId>(random() % vertices); };
    const VertexId hub = any() % 3 * 2000 % vertices;
    const VertexId u = i % 4 == 0 ? hub : any() / 2;
    const VertexId v = i % 4 == 1 ? hub : any() / 3;
    text += std::to_string(u) + ' ' + std::to_string(v) + '\n';
  }
  WriteFile(folder / "drawn.el", text);
  std::string ids;
  for (VertexId v = 0; v < vertices; ++v) ids += std::to_string(v) + '\n';
  WriteFile(folder / "drawn.v", ids);
  ConvertOptions options;
  options.in = folder / "drawn.el";
  options.out = folder / "drawn.slim";
  options.from = FileFormat::kSnap;
  options.directed = true;
  options.vertices = folder / "drawn.v";
  options.self_loops = options.duplicates = Keep::kKeep;
  EXPECT_OK(Convert(options));
  return options.out;
}

TEST(BothDirections, HasTheMergedListsHoweverTheyAreRead) {
  auto random = SeededRandom();
  const ScratchFolder folder;
  for (const auto& [vertices, edges] :
       {std::pair<VertexId, std::size_t>{3, 0}, {1, 2}, {5000, 20000}, {9000, 600'000}}) {
    const auto file = SlimFile::Open(DrawDirected(random, vertices, edges, folder));
    ASSERT_OK(file);
    const auto out = ReadCsr(*file);
    const auto in = ReadCsr(*file, Direction::kIn);
    ASSERT_OK(out);
    ASSERT_OK(in);
    std::vector<EdgeOffset> offsets = {0};
    std::vector<VertexId> merged;
    for (VertexId v = 0; v < vertices; ++v) {
      std::ranges::merge(out->list(v), in->list(v), std::back_inserter(merged));
      offsets.push_back(merged.size());
    }
    const auto both = BothDirections::Of(*file);
    ASSERT_OK(both);
    EXPECT_FALSE(both->directed());
    EXPECT_TRUE(both->may_have_duplicates());
    EXPECT_EQ(both->arcs(), merged.size());
    EXPECT_EQ(both->edges(), file->edges());
    const auto all = ReadCsr(*both);
    ASSERT_OK(all);
    EXPECT_EQ(all->offsets, offsets);
    EXPECT_EQ(all->neighbours, merged);
    for (int i = 0; i < 200 && !merged.empty(); ++i) {
      const std::size_t first = random() % merged.size();
      std::vector<VertexId> some(std::min<std::size_t>(random() % 5000, merged.size() - first));
      ASSERT_OK(both->ReadElements(SectionKind::kOutNeighbours, first, std::span(some), 1));
      EXPECT_TRUE(std::ranges::equal(some, std::span(merged).subspan(first, some.size())));
    }
  }
}

TEST(BothDirections, RefusesAFileWithoutIncomingLists) {
  const ScratchFolder folder;
  WriteFile(folder / "a.el", "1 2\n");
  ConvertOptions options;
  options.in = folder / "a.el";
  options.out = folder / "a.slim";
  options.directed = true;
  options.reverse_lists = false;
  ASSERT_OK(Convert(options));
  const auto file = SlimFile::Open(options.out);
  ASSERT_OK(file);
  const auto both = BothDirections::Of(*file);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().message,
            options.out + " has no incoming lists: convert it without --no-reverse");
}

}  // namespace
}  // namespace slimgraph::test
