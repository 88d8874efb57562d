#include "dkudu/ranked_lists.h"

#include <gtest/gtest.h>

#include <cstring>

#include "dkudu/internal/graph/ranked_file.h"
#include "tests/dkudu/support.h"
#include "tests/support/node_processes.h"
#include "tests/support/slim_checksums.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

using dkudu::ListPart;

constexpr SectionKind kKinds[] = {SectionKind::kRanks, SectionKind::kRankedLengths,
                                  SectionKind::kRankedLists};

Shape RandomShape(std::mt19937_64& random) {
  if (random() % 3 == 0) return RandomStandingShape(random);
  const auto nodes = static_cast<NodeId>(1 + random() % 9);
  return {.nodes = nodes,
          .compute = static_cast<NodeId>(1 + random() % nodes),
          .threads = static_cast<std::uint32_t>(1 + random() % 3)};
}

// Also fewer vertices than there are strata, and more homes than vertices.
TEST(RankedLists, ReachTheirHomes) {
  auto random = SeededRandom();
  for (const VertexId vertices : {1U, 2U, 7U, 63U, 64U, 65U, 200U, 333U}) {
    const EdgeList edges = RandomGraph(random, vertices, vertices < 100 ? 0.2 : 0.04);
    const ScratchGraph file(edges, ScratchGraph::kCoded);
    const auto by_rank = ListsByRank(edges);
    for (const ListPart part : {ListPart::kUpper, ListPart::kAll, ListPart::kArcs}) {
      const Shape shape = RandomShape(random);
      OnMiningJob(shape, file.path(), part, {}, [&](dkudu::MiningJob& job) {
        ExpectLists(job.graph, by_rank, fmt::format("{} vertices, {}", vertices, NameOf(shape)));
      });
    }
  }
}

TEST(RankedLists, HaveNeitherSelfLoopsNorDuplicates) {
  auto random = SeededRandom();
  const ScratchFolder folder;
  EdgeList edges = EmptyGraph(90);
  for (std::size_t i = 0; i < 400; ++i) {
    const VertexId u = static_cast<VertexId>(random() % edges.vertices);
    edges.edges.push_back({u, static_cast<VertexId>(random() % 4 == 0 ? u : random() % 90)});
    if (random() % 3 == 0) edges.edges.push_back(edges.edges.back());
  }
  std::string lines;
  std::string ids;
  for (const auto& [u, v] : edges.edges) lines += fmt::format("{} {}\n", u, v);
  for (VertexId v = 0; v < edges.vertices; ++v) ids += fmt::format("{}\n", v);
  WriteFile(folder / "edges.txt", lines);
  WriteFile(folder / "ids.txt", ids);
  const std::string path = folder / "g.slim";
  ConvertOptions options;
  options.in = folder / "edges.txt";
  options.out = path;
  options.directed = false;
  options.vertices = folder / "ids.txt";
  options.self_loops = options.duplicates = Keep::kKeep;
  options.ranked = dkudu::MakeRankedLists;
  Unwrap(Convert(options));
  Unwrap(dkudu::CheckRankedLists(Unwrap(SlimFile::Open(path))));
  const auto by_rank = ListsByRank(edges);
  for (const ListPart part : {ListPart::kUpper, ListPart::kAll}) {
    OnMiningJob({4, 2}, path, part, {},
                [&](dkudu::MiningJob& job) { ExpectLists(job.graph, by_rank, "(4,2)"); });
  }
}

// What a file says, if it is not refused: the dense id and the list of each rank.
using Contents = std::vector<std::pair<VertexId, std::vector<VertexId>>>;

Result<Contents> Read(const std::string& path, ListPart part) {
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(path));
  SLIM_ASSIGN(const dkudu::RankedFile ranked, dkudu::RankedFile::Open(file, part, 1));
  Contents contents;
  for (const VertexId v : ranked.dense_of()) contents.push_back({v, {}});
  SLIM_TRY(ranked.VisitLists({}, 1, [&](VertexId rank, Bytes, dkudu::List list) {
    contents[rank].second.assign(list.begin(), list.end());
  }));
  return contents;
}

class DamagedLists : public ::testing::Test {
 protected:
  DamagedLists() {
    const std::string text = ReadFile(graph_.path());
    right_.assign(text.begin(), text.end());
    std::memcpy(&header_, right_.data(), sizeof header_);
  }

  const SlimSection& Section(SectionKind kind) const {
    return *std::ranges::find(header_.sections, kind, &SlimSection::kind);
  }
  // Writes the bytes with matching checksums.
  std::string Write(std::vector<std::uint8_t> bytes) const {
    UpdateChecksums(bytes);
    const std::string path = folder_ / "damaged.slim";
    WriteFile(path, std::string(bytes.begin(), bytes.end()));
    return path;
  }
  // Writes the file with another value in a section.
  template <typename T>
  std::string With(SectionKind kind, std::size_t at, T value) const {
    std::vector<std::uint8_t> bytes = right_;
    std::memcpy(bytes.data() + Section(kind).offset + at * sizeof value, &value, sizeof value);
    return Write(std::move(bytes));
  }
  template <typename T>
  T Value(SectionKind kind, std::size_t at) const {
    T value;
    std::memcpy(&value, right_.data() + Section(kind).offset + at * sizeof value, sizeof value);
    return value;
  }
  void ExpectRefused(const std::string& path, const std::string& why) const {
    for (const ListPart part : {ListPart::kUpper, ListPart::kAll}) {
      EXPECT_NE(MessageOf(Read(path, part)).find(why), std::string::npos)
          << why << " / " << MessageOf(Read(path, part));
    }
  }

  std::mt19937_64 random_ = SeededRandom();
  const ScratchGraph graph_{RandomGraph(random_, 150, 0.1), ScratchGraph::kCoded};
  const ScratchFolder folder_;
  std::vector<std::uint8_t> right_;
  SlimHeader header_;
};

// Any list that is not refused could belong to a graph, so that no kernel of D-Kudu can fail on it.
TEST_F(DamagedLists, AreRefusedOrFoundByACheck) {
  const Contents right = Unwrap(Read(graph_.path(), ListPart::kAll));
  std::size_t refused = 0;
  std::size_t found = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::uint8_t> bytes = right_;
    const SlimSection& section = Section(kKinds[random_() % 3]);
    bytes[section.offset + random_() % section.bytes] ^=
        static_cast<std::uint8_t>(1U << random_() % 8);
    const std::string path = Write(std::move(bytes));
    const auto contents = Read(path, ListPart::kAll);
    EXPECT_EQ(Read(path, ListPart::kUpper).has_value(), contents.has_value());
    const Status checked = dkudu::CheckRankedLists(Unwrap(SlimFile::Open(path)));
    if (!contents) {
      ++refused;
      EXPECT_FALSE(checked);
      continue;
    }
    for (VertexId rank = 0; rank < contents->size(); ++rank) {
      const auto& list = (*contents)[rank].second;
      EXPECT_TRUE(std::ranges::adjacent_find(list, std::greater_equal<>()) == list.end());
      EXPECT_TRUE(list.empty() || list.back() < contents->size());
      EXPECT_FALSE(std::ranges::binary_search(list, rank));
    }
    EXPECT_EQ(checked.has_value(), *contents == right);
    found += checked ? 0 : 1;
  }
  EXPECT_GT(refused, 40U);
  EXPECT_GT(found, 8U);
}

TEST_F(DamagedLists, OfRanksThatAreNoOrderAreRefused) {
  ExpectRefused(With(SectionKind::kRanks, 3, Value<VertexId>(SectionKind::kRanks, 4)),
                "two ranks are those of vertex");
  ExpectRefused(With(SectionKind::kRanks, 3, VertexId{150}), "a rank is that of vertex 150");
}

TEST_F(DamagedLists, OfWrongLengthsAreRefused) {
  constexpr std::size_t kRank = 120;
  const auto [all, above] = Value<RankedLength>(SectionKind::kRankedLengths, kRank);
  ASSERT_GT(above, 1U);
  ASSERT_GT(all, above + 1);
  const auto with = [&](std::uint32_t other_all, std::uint32_t other_above) {
    return With(SectionKind::kRankedLengths, kRank, RankedLength{other_all, other_above});
  };
  ExpectRefused(with(all, above + 1), "the list of rank 120 is wrong");
  ExpectRefused(with(all, above - 1), "the list of rank 120 is wrong");
  ExpectRefused(with(all, all + 1), "the lengths of the list of rank 120 are wrong");
  ExpectRefused(with(all, 0), "the list of rank 120 is wrong");
  ExpectRefused(with(150, 29), "the lengths of the list of rank 120 are wrong");
  ExpectRefused(with(all + 40, above), "its ranked lists have");
}

// A header that promises one thing, and a table of sections that has another.
TEST_F(DamagedLists, InAFileOfAnotherVersionAreRefused) {
  for (const std::uint32_t version : {1U, 2U, 5U, 0U}) {
    std::vector<std::uint8_t> bytes = right_;
    SlimHeader header = header_;
    header.version = version;
    std::memcpy(bytes.data(), &header, sizeof header);
    const std::string why = version == 1 || version == 2 ? "the header is wrong about its sections"
                                                         : "this slimgraph reads versions 1 to 4";
    EXPECT_NE(MessageOf(SlimFile::Open(Write(std::move(bytes)))).find(why), std::string::npos);
  }
  std::vector<std::uint8_t> bytes = right_;
  SlimHeader header = header_;
  header.flags |= kSlimDirected;
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_NE(MessageOf(SlimFile::Open(Write(std::move(bytes)))).find("wrong about its sections"),
            std::string::npos);
}

}  // namespace
}  // namespace slimgraph::test
