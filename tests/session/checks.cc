#include "tests/session/checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/program.h"
#include "tests/session/random_graph.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

struct Hops {
  using Value = std::uint32_t;
  using Message = std::uint32_t;
  std::uint64_t source;
  std::uint64_t most = ~std::uint64_t{0};

  Value Initial(std::uint64_t id) const { return id == source ? 0 : ~0U; }
  bool Starts(std::uint64_t id) const { return id == source; }
  bool Ends(const StepInfo& info) const { return info.steps == most; }
  Message Nothing() const { return ~0U; }
  Message Send(Value hops) const { return hops + 1; }
  Message Combine(Message a, Message b) const { return std::min(a, b); }
  bool Update(Value& hops, Message message) const {
    if (message >= hops) return false;
    hops = message;
    return true;
  }
};

// The same with vertices that take no second message, on which Update depends.
struct HopsOnce : Hops {
  bool Wants(Value hops) const { return hops == ~0U; }
  bool Update(Value& hops, Message message) const {
    hops = message;
    return true;
  }
};

struct Distance {
  using Value = double;
  using Message = double;
  std::uint64_t source;

  Value Initial(std::uint64_t id) const { return id == source ? 0 : INFINITY; }
  bool Starts(std::uint64_t id) const { return id == source; }
  Message Nothing() const { return INFINITY; }
  Message Send(Value so_far, double weight) const { return so_far + weight; }
  Message Combine(Message a, Message b) const { return std::min(a, b); }
  bool Update(Value& distance, Message message) const {
    if (message >= distance) return false;
    distance = message;
    return true;
  }
};

// The sum of the weights of incoming edges, by messages whose members have initialisers.
struct WeightReceived {
  struct Sum {
    double sum = 0;
    bool operator==(const Sum&) const = default;
  };
  using Value = Sum;
  using Message = Sum;
  Value Initial(std::uint64_t) const { return {}; }
  Message Nothing() const { return {}; }
  Message Send(const Value&, double weight) const { return {weight}; }
  Message Combine(Message a, Message b) const { return {a.sum + b.sum}; }
  bool Update(Value& value, Message message) const {
    value.sum += message.sum;
    return false;
  }
};

// The number of walks of some length from the source that end at a vertex. A message that is lost,
// or that counts in two steps, shows in the sum.
struct Walks {
  using Value = std::uint64_t;
  using Message = std::uint64_t;
  std::uint64_t source;
  std::uint64_t steps;
  Value Initial(std::uint64_t id) const { return id == source ? 1 : 0; }
  bool Starts(std::uint64_t id) const { return id == source; }
  bool Ends(const StepInfo& info) const { return info.steps == steps; }
  Message Nothing() const { return 0; }
  Message Send(Value walks) const { return walks; }
  Message Combine(Message a, Message b) const { return a + b; }
  bool Update(Value& walks, Message message) const {
    walks = message;
    return true;
  }
};

// A vertex that gets no message keeps its value and does not send.
ById<std::uint64_t> WalksFrom(const Lists& out, std::uint64_t source, std::uint64_t steps) {
  ById<std::uint64_t> walks;
  for (const auto& [v, list] : out) walks[v] = v == source ? 1 : 0;
  ById<std::uint64_t> active = {{source, 1}};
  for (; steps > 0; --steps) {
    ById<std::uint64_t> received;
    for (const auto& [u, count] : active) {
      for (const auto& [v, weight] : out.at(u)) received[v] += count;
    }
    for (const auto& [v, count] : received) walks[v] = count;
    active = received;
  }
  return walks;
}

// Messages that are too large for an atomic exchange: the two smallest ids among the neighbours, so
// that a combination that loses or repeats a message shows.
struct TwoSmallest {
  struct Message {
    std::uint64_t least;
    std::uint64_t second;
    std::uint64_t count;
  };
  struct Value {
    std::uint64_t id;
    Message seen;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  Value Initial(std::uint64_t id) const { return {id, Nothing()}; }
  bool Ends(const StepInfo& info) const { return info.steps == 1; }
  Message Nothing() const { return {kNone, kNone, 0}; }
  Message Send(const Value& value) const { return {value.id, kNone, 1}; }
  Message Combine(Message a, Message b) const {
    if (b.least < a.least) std::swap(a, b);
    return {a.least, std::min(a.second, b.least), a.count + b.count};
  }
  bool Update(Value& value, Message message) const {
    value.seen = message;
    return false;
  }
};

struct Cores {
  using Value = std::uint32_t;
  struct Scratch {
    std::vector<std::uint32_t> counts;
    std::thread::id owner;
  };

  Value Initial(std::uint64_t, std::uint64_t degree) const { return static_cast<Value>(degree); }
  Value Gather(Value own, const NeighbourValues<Value>& in, Scratch& scratch) const {
    if (scratch.owner == std::thread::id()) scratch.owner = std::this_thread::get_id();
    EXPECT_EQ(scratch.owner, std::this_thread::get_id()) << "scratch of another thread";
    auto& counts = scratch.counts;
    counts.assign(own + 1, 0);
    for (std::size_t i = 0; i < in.size(); ++i) ++counts[std::min(in[i], own)];
    for (Value k = own, at_least = 0; k > 0; --k) {
      at_least += counts[k];
      if (at_least >= k) return k;
    }
    return 0;
  }
};

struct Labels {
  using Value = std::uint64_t;
  std::uint64_t steps;

  Value Initial(std::uint64_t id) const { return id; }
  bool Ends(const StepInfo& info) const { return info.steps == steps; }
  Value Gather(Value own, const NeighbourValues<Value>& in) const {
    std::map<std::uint64_t, std::size_t> counts;
    for (std::size_t i = 0; i < in.size(); ++i) ++counts[in[i]];
    std::size_t most = 0;
    for (const auto& [label, count] : counts) {
      if (count > most) own = label;
      most = std::max(most, count);
    }
    return own;
  }
};

// The sum of the weights of incoming edges.
struct WeightOfIncoming {
  using Value = double;
  Value Initial(std::uint64_t) const { return 0; }
  bool Ends(const StepInfo& info) const { return info.steps == 1; }
  Value Gather(Value, const NeighbourValues<Value>& in) const {
    double sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) sum += in.weight(i);
    return sum;
  }
};

template <typename T, typename U>
void ExpectEqual(const Session& session, const VertexValues<T>& values, const ById<U>& expected,
                 const char* what) {
  if (!session.first()) {
    EXPECT_EQ(values.size(), 0U);
    return;
  }
  ASSERT_EQ(values.size(), expected.size()) << what;
  std::size_t next = 0;
  for (const auto& [id, value] : expected) {
    const std::size_t i = next++;
    ASSERT_EQ(values.id(i), id) << what;
    const auto found = values.Find(id);
    ASSERT_TRUE(found.has_value()) << what << " of " << id;
    ASSERT_EQ(*found, values.values()[i]);
    if constexpr (std::is_same_v<U, double>) {
      if (*found == value) continue;
      ASSERT_NEAR(*found, value, 1e-9) << what << " of " << id;
    } else {
      ASSERT_EQ(*found, value) << what << " of " << id;
    }
  }
  EXPECT_FALSE(values.Find(4).has_value());
}

template <typename Program>
auto MustRun(Graph& graph, const Program& program) {
  auto result = Run(graph, program);
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

}  // namespace

void CheckPrograms(Session& session, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const bool directed : {false, true}) {
    const RandomGraph edges = MakeRandomGraph(random, directed, /*weighted=*/true);
    const Lists out = OutLists(edges);
    const Lists in = InLists(edges);
    const std::uint64_t source = edges.src[random() % edges.src.size()];
    Graph graph = OpenRandom(session, edges);
    ASSERT_EQ(graph.vertices(), out.size());
    ExpectEqual(session, MustRun(graph, Hops{source}).values, HopsFrom(out, source), "hops");
    ExpectEqual(session, MustRun(graph, HopsOnce{{source}}).values, HopsFrom(out, source),
                "hops once");
    auto some = HopsFrom(out, source);
    for (auto& [v, hops] : some) hops = hops > 2 ? ~0U : hops;
    const auto two = MustRun(graph, Hops{source, 2});
    ExpectEqual(session, two.values, some, "two hops");
    EXPECT_LE(two.steps, 2U);
    ExpectEqual(session, MustRun(graph, Distance{source}).values, DistancesFrom(out, source),
                "distance");
    ExpectEqual(session, MustRun(graph, Walks{source, 4}).values, WalksFrom(out, source, 4),
                "walks");
    const auto pairs = MustRun(graph, TwoSmallest{});
    for (std::size_t i = 0; i < pairs.values.size(); ++i) {
      const auto& list = in.at(pairs.values.id(i));
      const auto& seen = pairs.values.values()[i].seen;
      ASSERT_EQ(seen.count, list.size());
      if (list.empty()) continue;
      ASSERT_EQ(seen.least, list.begin()->first);
      ASSERT_EQ(seen.second, list.size() > 1 ? std::next(list.begin())->first : TwoSmallest::kNone);
    }
    ExpectEqual(session, MustRun(graph, Labels{3}).values, LabelsAfter(in, 3), "label");
    ById<double> incoming;
    for (const auto& [v, list] : in) {
      incoming[v] = 0;
      for (const auto& [u, weight] : list) incoming[v] += weight;
    }
    ExpectEqual(session, MustRun(graph, WeightOfIncoming{}).values, incoming, "weight");
    const auto received = MustRun(graph, WeightReceived{}).values;
    for (std::size_t i = 0; i < received.size(); ++i) {
      ASSERT_NEAR(received.values()[i].sum, incoming.at(received.id(i)), 1e-6);
    }
    if (directed) continue;
    ExpectEqual(session, MustRun(graph, Cores{}).values, CoreNumbers(out), "core");
  }
}

void CheckSeveralGraphs(Session& session, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const RandomGraph one = MakeRandomGraph(random, /*directed=*/false, /*weighted=*/false);
  const RandomGraph other = MakeRandomGraph(random, /*directed=*/true, /*weighted=*/false);
  Graph first = OpenRandom(session, one);
  Graph second = OpenRandom(session, other);
  for (int round = 0; round < 2; ++round) {
    ExpectEqual(session, MustRun(first, Hops{one.src[0]}).values,
                HopsFrom(OutLists(one), one.src[0]), "hops");
    ExpectEqual(session, MustRun(second, Hops{other.src[0]}).values,
                HopsFrom(OutLists(other), other.src[0]), "hops");
  }
}

void CheckAlgorithms(Session& session, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const bool directed : {false, true}) {
    const RandomGraph edges = MakeRandomGraph(random, directed, /*weighted=*/true);
    const Lists out = OutLists(edges);
    const std::uint64_t source = edges.src[random() % edges.src.size()];
    Graph graph = OpenRandom(session, edges);
    const auto distances = ShortestPaths(graph, source);  // first, on lists that nobody has used
    ASSERT_OK(distances);
    ExpectEqual(session, *distances, DistancesFrom(out, source), "shortest path");
    const auto hops = BreadthFirstSearch(graph, source);
    ASSERT_OK(hops);
    ExpectEqual(session, *hops, HopsFrom(out, source), "depth");
    const auto ranks = PageRank(graph, {.iterations = 9});
    ASSERT_OK(ranks);
    ExpectEqual(session, *ranks, Ranks(out, InLists(edges), 9), "rank");
    const auto components = ConnectedComponents(graph);
    ASSERT_OK(components);
    const auto expected = SmallestReached(edges);
    for (std::size_t i = 0; i < components->size(); ++i) {
      const std::uint64_t label = components->values()[i];
      ASSERT_EQ(expected.at(label), expected.at(components->id(i)));
      ASSERT_EQ(components->Find(label), label);
    }
    const auto centrality = BetweennessCentrality(graph, std::span(&source, 1));
    ASSERT_OK(centrality);
    // Each vertex on the way to others counts; the sum over all vertices is that of hops - 1.
    double sum = 0;
    for (const double one : centrality->values()) sum += one;
    double expected_sum = 0;
    for (const auto& [v, count] : HopsFrom(out, source)) {
      if (count != ~0U && count > 0) expected_sum += count - 1;
    }
    EXPECT_NEAR(sum, session.first() ? expected_sum : 0, 1e-6 * (1 + expected_sum));
  }
}

namespace {

void ExpectMaximal(const VertexValues<std::uint8_t>& members, const Lists& lists) {
  for (const auto& [v, list] : lists) {
    std::size_t inside = 0;
    for (const auto& [u, weight] : list) inside += members.Find(u).value();
    ASSERT_EQ(members.Find(v) == 1, inside == 0) << v;
  }
}

}  // namespace

void CheckNeighbourhoods(Session& session, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const bool directed : {false, true}) {
    const RandomGraph edges = MakeRandomGraph(random, directed, /*weighted=*/false);
    const Lists out = OutLists(edges);
    const std::uint64_t source = edges.src[random() % edges.src.size()];
    Graph graph = OpenRandom(session, edges);
    const auto cores = slimgraph::CoreNumbers(graph);  // on lists that nobody has used
    ASSERT_OK(cores);
    RandomGraph both = edges;
    both.directed = false;
    ExpectEqual(session, *cores, CoreNumbers(OutLists(both)), "core");
    const auto labels = CommunityLabels(graph, 3);
    ASSERT_OK(labels);
    ExpectEqual(session, *labels, CommunitiesAfter(edges, 3), "label");
    const auto ranks = PageRank(graph, {.iterations = 5, .source = source});
    ASSERT_OK(ranks);
    ExpectEqual(session, *ranks, RanksFrom(out, InLists(edges), source, 5), "rank");
    const auto members = MaximalIndependentSet(graph, seed);
    ASSERT_OK(members);
    if (session.first()) ExpectMaximal(*members, OutLists(both));
    const auto clustering = LocalClustering(graph);
    ASSERT_OK(clustering);
    ExpectEqual(session, *clustering, ClusteringOf(edges), "clustering");
    std::vector<std::uint64_t> expected(4);
    for (const auto& [v, hops] : HopsFrom(out, source)) {
      if (hops < expected.size()) ++expected[hops];
    }
    while (expected.back() == 0) expected.pop_back();
    if (!session.first()) expected.clear();
    const auto counts = HopCounts(graph, source, 3);
    ASSERT_OK(counts);
    EXPECT_EQ(*counts, expected);
  }
}

}  // namespace slimgraph::test
