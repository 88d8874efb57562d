// A .slim file may hold its vertices in another order than that of their ids. The graph stays the
// same one.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/inspect.h"
#include "slimgraph/files/original_ids.h"
#include "tests/support/graphs.h"
#include "tests/support/slim_checksums.h"

namespace slimgraph::test {
namespace {

TEST(OriginalIds, InAnyOrderFindTheirVertices) {
  auto random = SeededRandom();
  for (int round = 0; round < 200; ++round) {
    std::set<std::uint64_t> different;
    const std::size_t count = random() % 20;
    while (different.size() < count) different.insert(random() % 50);
    std::vector<std::uint64_t> list(different.begin(), different.end());
    const std::vector<std::uint64_t> ascending = list;
    std::shuffle(list.begin(), list.end(), random);
    const auto ids = OriginalIds::InAnyOrder(list);
    ASSERT_TRUE(ids);
    EXPECT_EQ(ids->ascending(), list == ascending);
    for (VertexId i = 0; i < list.size(); ++i) EXPECT_EQ((*ids)[ids->InOrder(i)], ascending[i]);
    for (std::uint64_t id = 0; id < 51; ++id) {
      const auto at = std::find(list.begin(), list.end(), id);
      const auto found = ids->Find(id);
      ASSERT_EQ(found.has_value(), at != list.end());
      if (found) {
        EXPECT_EQ(list[*found], id);
      }
    }
    if (count == 0) continue;
    EXPECT_EQ(ids->smallest(), ascending.front());
    EXPECT_EQ(ids->largest(), ascending.back());
    list.push_back(list[random() % list.size()]);
    std::shuffle(list.begin(), list.end(), random);
    EXPECT_FALSE(OriginalIds::InAnyOrder(list));
  }
}

Status Reordered(const std::string& in, const std::string& out, VertexOrder order) {
  ConvertOptions options;
  options.in = in;
  options.out = out;
  options.order = order;
  options.self_loops = options.duplicates = Keep::kKeep;
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(in));
  options.weighted = file.weight_type() != WeightType::kNone;
  SLIM_TRY(Convert(options));
  return {};
}

// By position in the file.
std::vector<std::size_t> DegreesIn(const std::string& path) {
  const auto file = SlimFile::Open(path);
  const auto out = ReadCsr(*file);
  std::vector<std::size_t> degrees(out->vertices());
  for (VertexId v = 0; v < out->vertices(); ++v) {
    for (const VertexId other : out->list(v)) {
      ++degrees[v];
      if (file->directed() || other == v) ++degrees[other];
    }
  }
  return degrees;
}

TEST(VertexOrder, AndBackIsTheSameFile) {
  auto random = SeededRandom();
  for (int round = 0; round < 120; ++round) {
    const ScratchFolder folder;
    std::string text;
    const std::uint64_t spread = 1 + random() % 40;
    const std::uint64_t factor = random() % 2 == 0 ? 1 : 1 + random() % (std::uint64_t{1} << 40);
    for (std::uint64_t i = random() % 100; i > 0; --i) {
      text += fmt::format("{} {} {}\n", 5 + random() % spread * factor,
                          5 + random() % spread * factor, random() % 9);
    }
    WriteFile(folder / "g.txt", text);
    ConvertOptions options;
    options.in = folder / "g.txt";
    options.out = folder / "g.slim";
    options.directed = random() % 2 == 0;
    options.weighted = true;
    options.self_loops = random() % 2 == 0 ? Keep::kKeep : Keep::kDrop;
    options.duplicates = random() % 2 == 0 ? Keep::kKeep : Keep::kDrop;
    ASSERT_OK(Convert(options));
    const VertexOrder order = random() % 2 == 0 ? VertexOrder::kDegree : VertexOrder::kLevels;
    ASSERT_OK(Reordered(options.out, folder / "other.slim", order));
    ASSERT_OK(Reordered(folder / "other.slim", folder / "back.slim", VertexOrder::kIds));
    // Parallel edges may be in any order.
    if (options.duplicates == Keep::kDrop) {
      EXPECT_TRUE(ReadFile(folder / "back.slim") == ReadFile(options.out));
    }
    if (order == VertexOrder::kDegree) {
      const std::vector<std::size_t> degrees = DegreesIn(folder / "other.slim");
      EXPECT_TRUE(std::is_sorted(degrees.rbegin(), degrees.rend()));
    }

    PlainGraph plain = ReadPlain(options.out);
    PlainGraph other = ReadPlain(folder / "other.slim");
    std::sort(other.vertices.begin(), other.vertices.end());
    for (PlainGraph* const graph : {&plain, &other}) {
      for (auto& [ends, weights] : graph->arcs) std::sort(weights.begin(), weights.end());
    }
    EXPECT_TRUE(plain == other);
    const auto before = Inspect({options.out, true, {}});
    const auto after = Inspect({folder / "other.slim", true, {}});
    ASSERT_OK(before);
    ASSERT_OK(after);
    EXPECT_EQ(before->first_id, after->first_id);
    EXPECT_EQ(before->last_id, after->last_id);
    EXPECT_EQ(before->max_degree, after->max_degree);
    EXPECT_TRUE(before->ids_ascend);
  }
}

// A path whose ids are in disorder, one vertex of which stands alone.
TEST(VertexOrder, ByLevelsPutsAPathInOrder) {
  const ScratchFolder folder;
  auto random = SeededRandom();
  std::vector<std::uint64_t> path(100);
  std::iota(path.begin(), path.end(), 1);
  std::shuffle(path.begin(), path.end(), random);
  std::string text = "0 0\n";
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    text += fmt::format("{} {}\n", path[i], path[i + 1]);
  }
  WriteFile(folder / "g.txt", text);
  ConvertOptions options;
  options.in = folder / "g.txt";
  options.out = folder / "g.slim";
  options.directed = false;
  options.order = VertexOrder::kLevels;
  ASSERT_OK(Convert(options));
  const auto file = SlimFile::Open(options.out);
  ASSERT_OK(file);
  const auto ids = file->ReadOriginalIds();
  const auto out = ReadCsr(*file);
  ASSERT_OK(ids);
  ASSERT_OK(out);
  // The path begins at an end, which has the least degree; then all is turned round.
  EXPECT_EQ((*ids)[0], 0U);
  for (VertexId v = 1; v <= 100; ++v) {
    for (const VertexId other : out->list(v)) EXPECT_EQ(v < other ? other - v : v - other, 1U);
  }
}

// Gives every vertex of the file the same id, under checksums that are right.
void MakeIdsEqual(const std::string& path) {
  const std::string read = ReadFile(path);
  std::vector<std::uint8_t> bytes(read.begin(), read.end());
  SlimHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (const SlimSection& section : header.sections) {
    if (section.kind == SectionKind::kOriginalIds) {
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(section.offset), section.bytes, 'x');
    }
  }
  UpdateChecksums(bytes);
  WriteFile(path, std::string(bytes.begin(), bytes.end()));
}

TEST(VertexOrder, AFileWhoseVerticesHaveOneIdIsRefused) {
  const ScratchFolder folder;
  WriteFile(folder / "g.txt", "1 2\n2 3\n");
  ConvertOptions options;
  options.in = folder / "g.txt";
  options.out = folder / "g.slim";
  options.directed = false;
  options.order = VertexOrder::kDegree;
  ASSERT_OK(Convert(options));
  MakeIdsEqual(options.out);
  const auto file = SlimFile::Open(options.out);
  ASSERT_OK(file);
  EXPECT_EQ(MessageOf(file->ReadOriginalIds()),
            options.out + ": damaged: two of its vertices have the same id");
  EXPECT_FALSE(Inspect({options.out, false, {}}));
}

}  // namespace
}  // namespace slimgraph::test
