// Stores on disk: properties of vertices and edges, images and folds.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "slimgraph/files/csr.h"
#include "tests/support/command.h"
#include "txnlayer/disk/apply.h"

namespace slimgraph::test {
namespace {

using txn::GraphTime;

// By name: the vertex's properties, and by neighbour the edge's properties and time.
struct Contents {
  struct Edge {
    std::string properties;
    bool timed = false;
    double weight = 0;
    bool operator==(const Edge&) const = default;
  };
  std::map<std::uint64_t, std::string> vertices;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Edge> edges;
  bool operator==(const Contents&) const = default;
};

std::string Hex(Bytes bytes) {
  std::string text;
  for (const std::byte one : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(one));
  return text;
}

Contents Read(const txn::DiskBase& base, const txn::GraphShape& shape) {
  Contents contents;
  if (base.file() == nullptr) return contents;
  const auto csr = ReadCsr(*base.file());
  const auto ids = base.file()->ReadOriginalIds();
  const auto in = ReadCsr(*base.file(), Direction::kIn);
  EXPECT_TRUE(csr && in && ids);
  decltype(contents.edges) incoming;
  std::vector<std::byte> vertex(shape.vertex_bytes);
  std::vector<std::byte> edge(shape.extra_bytes());
  for (VertexId v = 0; v < csr->vertices(); ++v) {
    EXPECT_TRUE(base.ReadVertexProperties(v, vertex));
    contents.vertices[(*ids)[v]] = Hex(vertex);
    const auto read = [&](const Csr& lists, EdgeOffset arc, EdgeOffset before) {
      GraphTime time = 0;
      EXPECT_TRUE(base.ReadEdgeProperties(before + arc, edge));
      EXPECT_TRUE(base.ReadEdgeTimes(before + arc, {&time, 1}));
      return Contents::Edge{Hex(edge), time != 0, lists.weights.empty() ? 0 : lists.weights[arc]};
    };
    for (EdgeOffset arc = csr->offsets[v]; arc < csr->offsets[v + 1]; ++arc) {
      contents.edges[{(*ids)[v], (*ids)[csr->neighbours[arc]]}] = read(*csr, arc, 0);
    }
    if (!shape.directed) continue;
    for (EdgeOffset arc = in->offsets[v]; arc < in->offsets[v + 1]; ++arc) {
      incoming[{(*ids)[in->neighbours[arc]], (*ids)[v]}] = read(*in, arc, in->neighbours.size());
    }
  }
  if (shape.directed) {
    EXPECT_EQ(incoming, contents.edges);
  }
  return contents;
}

class DiskStore : public ::testing::Test {
 protected:
  void SetUp() override { Create(false, {}); }
  void Create(bool directed, const std::vector<double>& weights) {
    shape_ = {2, 1, directed};
    std::filesystem::remove_all(store_);
    EdgeList list;
    list.vertices = 6;
    list.edges = {{0, 1}, {1, 2}, {2, 3}, {4, 5}};
    list.directed = directed;
    list.weights = weights;
    ASSERT_TRUE(WriteSlimFile(list, scratch_.File("graph.slim")));
    ASSERT_TRUE(txn::Store::Create(store_, scratch_.File("graph.slim"), {2, 1}));
    const auto store = txn::Store::Open(store_, txn::Store::Use::kRead);
    ASSERT_TRUE(store);
    shape_ = store->shape();
  }
  void Apply(const std::string& lines, const std::string& batch_id = "") {
    WriteText(scratch_.File("updates"), lines);
    const auto done =
        txn::Apply({.store = store_, .updates = scratch_.File("updates"), .batch_id = batch_id});
    ASSERT_TRUE(done) << done.error().message;
  }
  Contents Image() const {
    const auto store = txn::Store::Open(store_, txn::Store::Use::kRead);
    EXPECT_TRUE(store) << store.error().message;
    const auto image = store->Image();
    EXPECT_TRUE(image) << image.error().message;
    return Read(*image, shape_);
  }
  void Fold() {
    auto store = txn::Store::Open(store_, txn::Store::Use::kWrite);
    ASSERT_TRUE(store) << store.error().message;
    const GraphTime last = store->last();
    const Status folded = store->Fold();
    ASSERT_TRUE(folded) << folded.error().message;
    EXPECT_EQ(store->kept_from(), last);
    EXPECT_TRUE(store->log().batches().empty());
  }

  txn::GraphShape shape_;
  const ScratchDirectory scratch_;
  const std::string store_ = scratch_.File("store");
};

TEST_F(DiskStore, FoldsKeepPropertiesOfDirectedGraphs) {
  Create(true, {});
  Apply("+ 0 1 0a\n+ 3 0 0b\n+v 9 ab\n+ 9 9 0c\n+ 2 1 0d\n-v 4\n- 3 2\n");
  Contents expected;
  expected.vertices = {{0, "0000"}, {1, "0000"}, {2, "0000"},
                       {3, "0000"}, {5, "0000"}, {9, "ab00"}};
  expected.edges = {{{0, 1}, {"0a", true}},  {{1, 2}, {"00", false}}, {{2, 1}, {"0d", true}},
                    {{2, 3}, {"00", false}}, {{3, 0}, {"0b", true}},  {{9, 9}, {"0c", true}}};
  EXPECT_EQ(Image(), expected);
  Fold();
  EXPECT_EQ(Image(), expected);
  Apply("-v 1\n+v 1\n- 9 9\n+ 5 0 0e\n+ 1 3 0f\n- 3 0\n");
  expected.edges = {{{1, 3}, {"0f", true}}, {{2, 3}, {"00", false}}, {{5, 0}, {"0e", true}}};
  EXPECT_EQ(Image(), expected);
  Fold();
  EXPECT_EQ(Image(), expected);
}

TEST_F(DiskStore, FoldsKeepWeights) {
  for (const bool directed : {false, true}) {
    Create(directed, {1.5, 2, 3, 4});
    EXPECT_EQ(shape_.weights, WeightType::kFloat32);
    EXPECT_EQ(shape_.edge_bytes, 5u);
    Contents expected;
    const auto set = [&](std::uint64_t u, std::uint64_t v, const Contents::Edge& edge) {
      expected.edges[{u, v}] = edge;
      if (!directed) expected.edges[{v, u}] = edge;
    };
    for (const std::uint64_t v : {0, 1, 2, 3, 5}) expected.vertices[v] = "0000";
    Apply("+ 0 1 -0.25 0a\n+ 3 0 7e2\n-v 4\n");
    set(0, 1, {"0a", true, -0.25});
    set(3, 0, {"00", true, 700});
    set(1, 2, {"00", false, 2});
    set(2, 3, {"00", false, 3});
    EXPECT_EQ(Image(), expected);
    Fold();
    EXPECT_EQ(Image(), expected);
    Apply("- 0 1\n+ 1 2 8 01\n+ 5 5 0.5\n");
    expected.edges.erase({0, 1});
    if (!directed) expected.edges.erase({1, 0});
    set(1, 2, {"01", true, 8});
    set(5, 5, {"00", true, 0.5});
    EXPECT_EQ(Image(), expected);
    Fold();
    EXPECT_EQ(Image(), expected);
  }
}

TEST_F(DiskStore, FoldsKeepProperties) {
  Apply("+ 0 1 0a\n+ 0 3 0b\n+v 9 ab\n+ 9 9 0c\n-v 4\n");
  Contents expected;
  expected.vertices = {{0, "0000"}, {1, "0000"}, {2, "0000"},
                       {3, "0000"}, {5, "0000"}, {9, "ab00"}};
  const auto set = [&](std::uint64_t u, std::uint64_t v, const char* properties, bool timed) {
    expected.edges[{u, v}] = expected.edges[{v, u}] = {properties, timed};
  };
  set(0, 1, "0a", true);
  set(1, 2, "00", false);
  set(2, 3, "00", false);
  set(0, 3, "0b", true);
  set(9, 9, "0c", true);
  EXPECT_EQ(Image(), expected);
  Fold();
  EXPECT_EQ(Image(), expected);
  // A vertex that is deleted and added again has neither its edges nor its properties.
  Apply("-v 9\n+v 9\n- 0 1\n+ 5 3 0d\n+v 0 ff01\n");
  expected.edges.erase({9, 9});
  expected.vertices[9] = "0000";
  expected.vertices[0] = "ff01";
  expected.edges.erase({0, 1});
  expected.edges.erase({1, 0});
  set(5, 3, "0d", true);
  EXPECT_EQ(Image(), expected);
  Fold();
  EXPECT_EQ(Image(), expected);
}

TEST_F(DiskStore, FoldsKeepBatchIds) {
  const std::string lines = "+ 0 2\n+ 0 3\n";
  Apply(lines, "one");
  Fold();
  Apply("- 0 2\n");
  const Contents before = Image();
  Apply(lines, "one");
  EXPECT_EQ(Image(), before);
  Apply(lines);
  EXPECT_NE(Image(), before);
}

// The process is killed after each batch, also the last, and the log may then lose any part of its
// end. The file adds and deletes a vertex, so applying a line twice in a row is an error.
TEST_F(DiskStore, ContinuesAfterTheLastWholeBatch) {
  const std::string lines = "+ 0 2\n+v 7\n+ 7 0\n-v 7\n- 0 1\n+v 8\n# a remark\n-v 8\n";
  const std::string updates = scratch_.File("updates");
  std::optional<Contents> expected;
  for (int kill = 7; kill > 0; --kill) {
    Create(false, {});
    WriteText(updates, lines);
    txn::ApplyOptions options{.store = store_, .updates = updates, .batch = 1};
    const pid_t child = ::fork();
    if (child == 0) {
      int left = kill;
      options.progress = [&](std::uint64_t, std::uint64_t) {
        if (--left == 0) ::kill(::getpid(), SIGKILL);
      };
      static_cast<void>(txn::Apply(options));
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << kill;
    const std::string log = ReadText(store_ + "/log.0");
    for (std::size_t bytes = log.size();; bytes -= std::min<std::size_t>(bytes, 31)) {
      const std::string journal = ReadText(store_ + "/applying");
      WriteText(store_ + "/log.0", log.substr(0, bytes));
      const auto done = txn::Apply(options);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(done->lines_before > 0, bytes >= 56 + 16);
      EXPECT_FALSE(std::filesystem::exists(store_ + "/applying"));
      const Contents now = Image();
      if (!expected) expected = now;
      EXPECT_EQ(now, *expected);
      WriteText(store_ + "/applying", journal);
      if (bytes == 0) break;
    }
  }
}

TEST_F(DiskStore, SurvivesAnInterruptedFold) {
  Apply("+ 0 2\n");
  const Contents before = Image();
  WriteText(store_ + "/base.1.slim", "half of it");
  WriteText(store_ + "/log.1", "");
  EXPECT_EQ(Image(), before);
  Fold();
  EXPECT_EQ(Image(), before);
  std::set<std::string> names;
  for (const auto& one : std::filesystem::directory_iterator(store_)) {
    names.insert(one.path().filename().string());
  }
  const std::set<std::string> expected = {"base.1.properties", "base.1.slim", "log.1", "manifest"};
  EXPECT_EQ(names, expected);
}

// If the journal cannot be looked up, the store does not take it for missing.
TEST_F(DiskStore, NeedsToKnowWhetherAFileWasInterrupted) {
  std::filesystem::create_symlink("applying", store_ + "/applying");
  const auto store = txn::Store::Open(store_, txn::Store::Use::kWrite);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("/applying: cannot be looked up"), std::string::npos);
}

TEST_F(DiskStore, AWriterExcludesReadersAndWriters) {
  const auto writer = txn::Store::Open(store_, txn::Store::Use::kWrite);
  ASSERT_TRUE(writer);
  for (const auto use : {txn::Store::Use::kRead, txn::Store::Use::kWrite}) {
    const auto other = txn::Store::Open(store_, use);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("another process is"), std::string::npos);
  }
}

}  // namespace
}  // namespace slimgraph::test
