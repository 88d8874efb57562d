// Commits applied to a store that was updated after they were made: compared with the last write of
// every vertex and edge, and applied a second time.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "slimgraph/files/csr.h"
#include "tests/support/command.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/disk/apply_changes.h"

namespace slimgraph::test {
namespace {

using txn::GraphTime;
using txn::UpdateKind;
using txn::VertexName;
using Ends = std::pair<VertexName, VertexName>;

constexpr VertexName kVertices = 8;  // in the base; larger names occur too

struct Write {
  GraphTime time = 0;
  bool alive = false;
  bool of_store = false;  // in the store, deleting a vertex deletes its edges
};

// All writes of all vertices and edges, in any order. Writes of one vertex or edge have distinct
// times.
struct Writes {
  explicit Writes(bool is_directed) : directed(is_directed) {}
  Ends EndsOf(VertexName u, VertexName v) const {
    return directed ? Ends(u, v) : Ends(std::minmax(u, v));
  }

  bool alive(VertexName name) const {
    const auto found = vertices.find(name);
    return found != vertices.end() && Last(found->second).alive;
  }
  bool alive(const Ends& ends) const {
    const auto found = edges.find(ends);
    if (found == edges.end() || !alive(ends.first) || !alive(ends.second)) return false;
    const Write last = Last(found->second);
    for (const VertexName end : {ends.first, ends.second}) {
      for (const Write& write : vertices.at(end)) {
        if (write.of_store && !write.alive && write.time >= last.time) return false;
      }
    }
    return last.alive;
  }
  static Write Last(const std::vector<Write>& writes) {
    return *std::max_element(writes.begin(), writes.end(),
                             [](const Write& a, const Write& b) { return a.time < b.time; });
  }

  bool directed;
  std::map<VertexName, std::vector<Write>> vertices;
  std::map<Ends, std::vector<Write>> edges;
};

class ApplyingChanges : public ::testing::TestWithParam<bool> {
 protected:
  void Create() {
    EdgeList list;
    list.vertices = kVertices;
    list.directed = GetParam();
    for (VertexId v = 0; v < kVertices; ++v) {
      const VertexId next = (v + 1) % kVertices;
      list.edges.push_back({v, next});
      writes_.vertices[v] = {{0, true, true}};
      writes_.edges[writes_.EndsOf(v, next)] = {{0, true, true}};
    }
    ASSERT_TRUE(WriteSlimFile(list, scratch_.File("graph.slim")));
    ASSERT_TRUE(txn::Store::Create(store_, scratch_.File("graph.slim"), {}));
  }
  txn::Store Open() const {
    auto store = txn::Store::Open(store_, txn::Store::Use::kWrite);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  // Appends a batch with one update to the store's log.
  static void Append(const txn::Store& store, GraphTime time, UpdateKind kind, VertexName one,
                     VertexName other = 0) {
    auto log = txn::UpdateLogWriter::Open(store.log_path(), store.log().whole_bytes());
    ASSERT_TRUE(log);
    std::vector<std::uint64_t> words;
    txn::AppendUpdate({kind, one, other, {}}, words);
    ASSERT_TRUE(log->Append(time, {time, 1}, words));
  }
  // Appends an update that `apply` would accept: its vertices exist.
  void AppendRandom(std::mt19937_64& random, GraphTime time) {
    const VertexName u = random() % (kVertices + 2);
    const VertexName v = random() % (kVertices + 2);
    const auto in_store = [&](VertexName name) {
      const auto found = writes_.vertices.find(name);
      return found != writes_.vertices.end() && Writes::Last(found->second).alive;
    };
    const bool add = random() % 2 == 0;
    if (random() % 3 == 0) {
      if (!add && !in_store(u)) return;
      Append(Open(), time, add ? UpdateKind::kAddVertex : UpdateKind::kDeleteVertex, u);
      writes_.vertices[u].push_back({time, add, true});
    } else if (in_store(u) && in_store(v)) {
      Append(Open(), time, add ? UpdateKind::kAddEdge : UpdateKind::kDeleteEdge, u, v);
      writes_.edges[writes_.EndsOf(u, v)].push_back({time, add, true});
    }
  }
  txn::LastChanges RandomChanges(std::mt19937_64& random, GraphTime last) {
    txn::LastChanges changes;
    const auto time = [&] { return (1 + random() % last) * 2 + 1; };  // times of the store are even
    for (VertexName v = 0; v < kVertices + 3; ++v) {
      if (random() % 4 != 0) continue;
      changes.vertices.push_back({v, random() % 2 == 0, time()});
      writes_.vertices[v].push_back({changes.vertices.back().time, changes.vertices.back().alive});
    }
    for (VertexName u = 0; u < kVertices + 3; ++u) {
      for (VertexName v = GetParam() ? 0 : u; v < kVertices + 3; ++v) {
        if (random() % 3 != 0) continue;
        changes.edges.push_back({u, v, random() % 2 == 0, time()});
        writes_.edges[{u, v}].push_back({changes.edges.back().time, changes.edges.back().alive});
      }
    }
    return changes;
  }
  void ExpectAsWritten() const {
    const txn::Store store = Open();
    const auto image = store.Image();
    ASSERT_TRUE(image) << image.error().message;
    const auto csr = ReadCsr(*image->file());
    const auto ids = image->file()->ReadOriginalIds();
    ASSERT_TRUE(csr && ids);
    std::set<VertexName> vertices;
    std::set<Ends> edges;
    for (VertexId v = 0; v < csr->vertices(); ++v) {
      vertices.insert((*ids)[v]);
      for (std::size_t i = 0; i < csr->degree(v); ++i) {
        edges.insert(writes_.EndsOf((*ids)[v], (*ids)[csr->list(v)[i]]));
      }
    }
    for (const auto& [name, writes] : writes_.vertices) {
      EXPECT_EQ(vertices.contains(name), writes_.alive(name)) << "vertex " << name;
    }
    for (const auto& [ends, writes] : writes_.edges) {
      EXPECT_EQ(edges.contains(ends), writes_.alive(ends))
          << "edge " << ends.first << " " << ends.second;
    }
  }
  static Result<txn::ChangesReport> Apply(txn::Store& store, const txn::LastChanges& changes,
                                          std::uint64_t contents, bool come_last = false) {
    return txn::ApplyChanges(store, {.from = "logs", .contents = contents, .come_last = come_last},
                             [&]() -> Result<txn::LastChanges> { return changes; });
  }

  const ScratchDirectory scratch_;
  const std::string store_ = scratch_.File("store");
  Writes writes_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(All, ApplyingChanges, ::testing::Bool(), [](const auto& one) {
  return std::string(one.param ? "Directed" : "Undirected");
});

TEST_P(ApplyingChanges, LastWriteOfEveryVertexAndEdgeWins) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    writes_ = Writes(GetParam());
    std::filesystem::remove_all(store_);
    Create();
    constexpr GraphTime kUpdates = 30;
    for (GraphTime i = 1; i <= kUpdates; ++i) AppendRandom(random, 2 * i);
    const txn::LastChanges changes = RandomChanges(random, kUpdates);
    for (const bool again : {false, true}) {
      {
        txn::Store store = Open();
        const GraphTime before = store.last();
        const auto done = Apply(store, changes, 7);
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(done->before, again);
        EXPECT_EQ(done->time > before, done->vertices + done->edges > 0);
        if (!again) {
          const std::size_t all = changes.vertices.size() + changes.edges.size();
          EXPECT_LE(done->vertices + done->edges + done->left_out, all);
        }
      }
      ExpectAsWritten();
    }
  }
}

TEST_P(ApplyingChanges, ChangesWithoutEffectAreRecordedAsApplied) {
  Create();
  const txn::LastChanges changes = {{}, {{0, 20, true, 5}}};  // vertex 20 does not exist
  {
    txn::Store store = Open();
    const auto done = Apply(store, changes, 9);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->edges, 0u);
    EXPECT_FALSE(done->before);
  }
  ExpectAsWritten();
  Append(Open(), 8, UpdateKind::kAddVertex, 20);
  writes_.vertices[20] = {{8, true, true}};
  {
    txn::Store store = Open();
    const auto done = Apply(store, changes, 9);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(done->before);
  }
  ExpectAsWritten();
}

TEST_P(ApplyingChanges, ChangesOlderThanAFoldAreRefusedUnlessTheyComeLast) {
  Create();
  const txn::LastChanges changes = {{}, {{3, 4, true, 5}, {0, 1, false, 5}}};
  {
    txn::Store store = Open();
    Append(store, 8, UpdateKind::kDeleteEdge, 3, 4);
    ASSERT_TRUE(store.Fold());
    const auto refused = Apply(store, changes, 9);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
    EXPECT_NE(refused.error().message.find("`store apply " + store_ +
                                           " --durable logs --come-last` applies the commits"),
              std::string::npos)
        << refused.error().message;
  }
  writes_.edges[{3, 4}] = {{1, false, true}};
  ExpectAsWritten();
  {
    txn::Store store = Open();
    const auto done = Apply(store, changes, 9, true);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->edges, 2u);
  }
  writes_.edges[{3, 4}] = {{1, true, true}};
  writes_.edges[{0, 1}] = {{1, false, true}};
  ExpectAsWritten();
}

TEST_P(ApplyingChanges, AFoldIncludesBatchesAppendedSinceOpening) {
  Create();
  {
    txn::Store store = Open();
    Append(store, 8, UpdateKind::kDeleteEdge, 3, 4);
    ASSERT_TRUE(store.Fold());
    EXPECT_EQ(store.kept_from(), 8u);
  }
  writes_.edges[{3, 4}] = {{1, false, true}};
  ExpectAsWritten();
}

}  // namespace
}  // namespace slimgraph::test
