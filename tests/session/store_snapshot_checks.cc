// Invariants of concurrent transactions, and programs on snapshots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "tests/session/random_graph.h"
#include "tests/session/store_checks.h"
#include "tests/session/store_support.h"

namespace slimgraph::test {
namespace {

// The largest id of a vertex with an edge to this one; 0: none.
struct LargestNeighbour {
  struct Value {
    std::uint64_t id;
    std::uint64_t largest;
    bool operator==(const Value&) const = default;
  };
  Value Initial(std::uint64_t id, std::uint64_t) const { return {id, 0}; }
  Value Gather(Value own, const NeighbourValues<Value>& in) const {
    for (std::size_t i = 0; i < in.size(); ++i) own.largest = std::max(own.largest, in[i].id);
    return own;
  }
};

template <typename T, typename E>
void ExpectValues(const Session& session, const VertexValues<T>& values, const ById<E>& expected) {
  if (!session.first()) return;
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const E& wanted = expected.at(values.id(i));
    if constexpr (std::is_same_v<T, double>) {
      if (std::isinf(wanted)) {
        EXPECT_EQ(values.values()[i], wanted);
      } else {
        EXPECT_NEAR(values.values()[i], wanted, 1e-9 * (1 + wanted)) << values.id(i);
      }
    } else if constexpr (std::is_same_v<T, E>) {
      EXPECT_EQ(values.values()[i], wanted) << values.id(i);
    } else {
      EXPECT_EQ(values.values()[i].largest, wanted) << values.id(i);
    }
  }
}

}  // namespace

void CheckInvariants(Session& session, const std::string& folder, const std::string& protocol,
                     std::uint64_t seed) {
  constexpr std::uint64_t kAccounts = 12, kMoney = 1000, kLimit = 4;
  const std::string path = folder + "/invariants" + std::to_string(seed);
  ASSERT_OK(GraphStore::Create(session, path, {}, {.vertex_bytes = 8, .edge_bytes = 0}));
  GraphStore store = MustOpenStore(session, path, With(protocol));
  if (session.first()) {
    auto made = store.Submit([](WriteTransaction& t) -> Status {
      for (std::uint64_t v = 0; v < kAccounts; ++v) SLIM_TRY(t.AddVertex(v, AsBytes(kMoney)));
      return {};
    });
    ASSERT_TRUE(made.get().committed());
  }
  EXPECT_OK(store.Snapshot());  // all compute nodes wait here
  OnThreads(session, seed, [&](std::uint64_t, std::mt19937_64& random) {
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t from = random() % kAccounts;
      const std::uint64_t to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
      auto moved = store.Submit([from, to](WriteTransaction& t) -> Status {
        SLIM_ASSIGN(const auto left, t.VertexProperties(from));
        SLIM_ASSIGN(const auto right, t.VertexProperties(to));
        SLIM_TRY(t.SetVertex(from, AsBytes(AsNumber(left) - 1)));
        return t.SetVertex(to, AsBytes(AsNumber(right) + 1));
      });
      auto linked = store.Submit([from, to](WriteTransaction& t) -> Status {
        SLIM_ASSIGN(const std::uint64_t one, t.Degree(from));
        SLIM_ASSIGN(const std::uint64_t other, t.Degree(to));
        if (one >= kLimit || other >= kLimit) return InputError("the limit is reached");
        return t.AddEdge(from, to);
      });
      auto sum = std::make_shared<std::uint64_t>(0);
      auto counted = store.SubmitReadOnly([=](ReadTransaction& t) -> Status {
        *sum = 0;
        for (std::uint64_t v = 0; v < kAccounts; ++v) {
          SLIM_ASSIGN(const auto money, t.VertexProperties(v));
          *sum += AsNumber(money);
        }
        return {};
      });
      EXPECT_TRUE(moved.get().committed());
      const TransactionOutcome link = linked.get();
      EXPECT_TRUE(link.committed() || link.cause.message == "the limit is reached")
          << link.cause.message;
      const TransactionOutcome count = counted.get();
      EXPECT_TRUE(count.committed()) << count.cause.message;
      EXPECT_EQ(*sum, kAccounts * kMoney);
    }
  });
  auto after = store.Snapshot();
  ASSERT_OK(after);
  auto most = std::make_shared<std::vector<std::uint64_t>>();
  auto read = store.SubmitReadOnly([most](ReadTransaction& t) -> Status {
    most->clear();
    for (std::uint64_t v = 0; v < kAccounts; ++v) {
      SLIM_ASSIGN(const std::uint64_t degree, t.Degree(v));
      most->push_back(degree);
    }
    return {};
  });
  ASSERT_TRUE(read.get().committed());
  EXPECT_LE(*std::max_element(most->begin(), most->end()), kLimit);
  std::uint64_t degrees = 0;
  for (const std::uint64_t degree : *most) degrees += degree;
  EXPECT_EQ(after->edges() * 2, degrees);
  ASSERT_OK(store.Close());
}

void CheckSnapshots(Session& session, const std::string& folder, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const bool directed : {false, true}) {
    RandomGraph graph = MakeRandomGraph(random, directed, true);
    for (auto* const ends : {&graph.src, &graph.dst}) {
      for (std::uint64_t& id : *ends) id %= std::uint64_t{1} << 35;  // a store has no larger ones
    }
    const std::string path = fmt::format("{}/snapshots{}.{}", folder, seed, directed);
    ASSERT_OK(GraphStore::Create(session, path, graph.arrays()));
    GraphStore store = MustOpenStore(session, path, With("occ"));
    // Edges between new vertices and old ones. Every node adds its own.
    for (NodeId node = 0; node < session.compute(); ++node) {
      for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t fresh = (std::uint64_t{1} << 36) + node * 100 + i;
        const std::uint64_t old = graph.src[random() % graph.src.size()];
        const auto weight = static_cast<double>(1 + random() % 5);
        graph.src.push_back(fresh);
        graph.dst.push_back(old);
        graph.weights.push_back(weight);
        if (node != session.node()) continue;
        auto added = store.Submit([=](WriteTransaction& t) -> Status {
          SLIM_TRY(t.AddVertex(fresh));
          SLIM_TRY(t.AddVertex(old));  // it may have had only self-loops
          return t.AddEdge(fresh, old, {weight, {}});
        });
        const TransactionOutcome outcome = added.get();
        EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
      }
    }
    auto now = store.Snapshot();
    ASSERT_OK(now);
    // Later changes do not concern the snapshot.
    if (session.first()) {
      auto later = store.Submit([](WriteTransaction& t) -> Status {
        SLIM_TRY(t.AddVertex((std::uint64_t{1} << 37)));
        return {};
      });
      EXPECT_TRUE(later.get().committed());
    }
    if (seed % 2 == 0) {
      ASSERT_OK(store.Close());
    }
    std::uint64_t arcs = 0;
    for (const auto& [v, out] : OutLists(graph)) arcs += out.size();
    EXPECT_EQ(now->vertices(), OutLists(graph).size());
    EXPECT_EQ(now->edges(), directed ? arcs : arcs / 2);
    EXPECT_EQ(now->directed(), directed);
    EXPECT_TRUE(now->weighted());
    const std::uint64_t source = graph.src.back();
    const auto ranks = PageRank(*now, {.iterations = 9});
    ASSERT_OK(ranks);
    ExpectValues(session, *ranks, Ranks(OutLists(graph), InLists(graph), 9));
    const auto hops = BreadthFirstSearch(*now, source);
    ASSERT_OK(hops);
    ExpectValues(session, *hops, HopsFrom(OutLists(graph), source));
    const auto distances = ShortestPaths(*now, source);
    ASSERT_OK(distances);
    ExpectValues(session, *distances, DistancesFrom(OutLists(graph), source));
    const auto cores = slimgraph::Run(*now, LargestNeighbour());
    ASSERT_OK(cores);
    ById<std::uint64_t> largest;
    for (const auto& [v, in] : InLists(graph)) {
      largest[v] = in.empty() ? 0 : in.rbegin()->first;
    }
    ExpectValues(session, cores->values, largest);
    if (!directed) {
      auto triangle = Pattern::Find("triangle");
      ASSERT_OK(triangle);
      const auto counted = Count(*now, *triangle);
      ASSERT_OK(counted);
      std::uint64_t corners = 0;
      for (const auto& [v, at] : TrianglesAt(OutLists(graph))) corners += at;
      if (session.first()) {
        EXPECT_EQ(*counted * 3, corners);
      }
    }
  }
}

}  // namespace slimgraph::test
