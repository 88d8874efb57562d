#include "tests/session/store_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "tests/session/random_graph.h"
#include "tests/support/graphs.h"
#include "tests/support/list_append_checker.h"

namespace slimgraph::test {
namespace {

constexpr std::uint64_t kThreads = 4;

StoreOptions With(const std::string& protocol) {
  StoreOptions options;
  options.protocol = protocol;
  options.body_threads = 6;
  options.retry.attempts = 10'000;
  return options;
}

GraphStore MustOpenStore(Session& session, const std::string& path, const StoreOptions& options) {
  auto store = GraphStore::Open(session, path, options);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

// Runs `work` with a seed of its own on several threads of this node.
void OnThreads(Session& session, std::uint64_t seed,
               const std::function<void(std::uint64_t thread, std::mt19937_64& random)>& work) {
  std::vector<Thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    const std::uint64_t thread = session.node() * kThreads + i;
    threads.emplace_back([&work, seed, thread] {
      std::mt19937_64 random(seed * 1009 + thread);
      work(thread, random);
    });
  }
  for (Thread& thread : threads) thread.join();
}

std::vector<std::byte> AsBytes(std::uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::uint64_t AsNumber(const std::vector<std::byte>& bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

// Lines of all nodes, each beginning with a time, come together at node 0.
class SharedLines {
 public:
  SharedLines(const Session& session, std::string path)
      : session_(session), path_(std::move(path)) {}
  void Add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_ += line + "\n";
  }
  // Before a collective call, and then after it.
  void Write() const { WriteFile(path_ + std::to_string(session_.node()), lines_); }
  std::vector<std::string> Sorted() const {
    std::vector<std::pair<std::uint64_t, std::string>> all;
    for (NodeId node = 0; node < session_.compute(); ++node) {
      std::istringstream in(ReadFile(path_ + std::to_string(node)));
      std::uint64_t time = 0;
      std::string line;
      while (in >> time && std::getline(in, line)) all.emplace_back(time, line.substr(1));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> lines;
    for (auto& [time, line] : all) lines.push_back(std::move(line));
    return lines;
  }

 private:
  const Session& session_;
  const std::string path_;
  Mutex mutex_;
  std::string lines_;
};

// A graph by plain maps: vertices with a number as property, and edges with a weight and a number.
struct Model {
  std::map<std::uint64_t, std::uint64_t> vertices;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<double, std::uint64_t>> edges;
  bool directed = false;

  std::pair<std::uint64_t, std::uint64_t> Key(std::uint64_t u, std::uint64_t v) const {
    return directed ? std::pair(u, v) : std::pair(std::min(u, v), std::max(u, v));
  }
  bool operator==(const Model&) const = default;
};

constexpr std::uint64_t kNames = 24;

Model ReadAll(GraphStore& store, bool directed) {
  Model found;
  found.directed = directed;
  const auto body = [&](ReadTransaction& t) -> Status {
    found.vertices.clear();
    found.edges.clear();
    for (std::uint64_t v = 0; v < kNames; ++v) {
      SLIM_ASSIGN(const bool exists, t.HasVertex(v));
      if (!exists) continue;
      SLIM_ASSIGN(const auto properties, t.VertexProperties(v));
      found.vertices[v] = AsNumber(properties);
      SLIM_ASSIGN(const auto out, t.NeighboursWithData(v));
      SLIM_ASSIGN(const auto ids, t.Neighbours(v));
      SLIM_ASSIGN(const std::uint64_t degree, t.Degree(v));
      if (degree != out.size() || ids.size() != out.size()) return InputError("wrong degree");
      for (const StoredNeighbour& one : out) {
        found.edges[found.Key(v, one.id)] = {one.data.weight, AsNumber(one.data.properties)};
      }
    }
    for (const auto& [ends, data] : found.edges) {
      SLIM_ASSIGN(const EdgeData same, t.Edge(ends.first, ends.second));
      if (std::pair(same.weight, AsNumber(same.properties)) != data) return InputError("data");
      SLIM_ASSIGN(const auto in, t.Neighbours(ends.second, EdgeSide::kIncoming));
      if (!std::binary_search(in.begin(), in.end(), ends.first)) return InputError("one side");
    }
    return {};
  };
  const TransactionOutcome outcome = store.SubmitReadOnly(body).get();
  EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
  return found;
}

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

// Executes one line of a commit.
void Apply(Model& model, const std::string& line) {
  std::istringstream in(line);
  char what = 0;
  std::uint64_t u = 0, v = 0, number = 0;
  double weight = 0;
  while (in >> what >> u >> v >> weight >> number) {
    const auto key = model.Key(u, v);
    if (what == '+') model.edges[key] = {weight, number};
    if (what == '-') {
      EXPECT_EQ(model.edges.erase(key), 1U) << line;
    }
    if (what == 'a') {
      EXPECT_TRUE(model.vertices.emplace(u, number).second) << line;
    }
    if (what == 's') model.vertices[u] = number;
    if (what == 'd') {
      EXPECT_EQ(model.vertices.erase(u), 1U) << line;
      std::erase_if(model.edges, [&](const auto& edge) {
        return edge.first.first == u || edge.first.second == u;
      });
    }
  }
}

// One to three random changes. `done` gets a line that Apply() understands.
Status Change(WriteTransaction& t, std::mt19937_64 random, std::string& done) {
  done.clear();
  const std::uint64_t changes = 1 + random() % 3;
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::uint64_t u = random() % kNames, v = random() % kNames, number = random();
    const auto weight = static_cast<double>(random() % 1000);
    const auto note = [&](char what) {
      done += fmt::format("{} {} {} {} {} ", what, u, v, weight, number);
    };
    const std::uint64_t kind = random() % 16;
    if (kind == 0) {
      SLIM_ASSIGN(const bool removed, t.RemoveVertex(u));
      if (removed) note('d');
    } else if (kind <= 3) {
      SLIM_ASSIGN(const bool added, t.AddVertex(u, AsBytes(number)));
      if (added) note('a');
    } else if (kind == 4) {
      SLIM_ASSIGN(const bool exists, t.HasVertex(u));
      if (!exists) continue;
      SLIM_TRY(t.SetVertex(u, AsBytes(number)));
      note('s');
    } else if (kind <= 7) {
      SLIM_ASSIGN(const bool removed, t.RemoveEdge(u, v));
      if (removed) note('-');
    } else {
      SLIM_ASSIGN(const bool has_u, t.HasVertex(u));
      SLIM_ASSIGN(const bool has_v, t.HasVertex(v));
      if (!has_u || !has_v || u == v) continue;
      SLIM_TRY(t.AddEdge(u, v, {weight, AsBytes(number)}));
      note('+');
    }
  }
  return {};
}

}  // namespace

void CheckChanges(Session& session, const std::string& folder, const std::string& protocol,
                  std::uint64_t seed) {
  Model model;
  model.directed = seed % 2 == 1;
  const std::string path = folder + "/changes" + std::to_string(seed);
  ASSERT_OK(GraphStore::Create(session, path, {{}, {}, {}, model.directed},
                               {.vertex_bytes = 8, .edge_bytes = 8, .weighted = true}));
  SharedLines lines(session, path + ".lines");
  for (int opening = 0; opening < 2; ++opening) {
    GraphStore store = MustOpenStore(session, path, With(protocol));
    OnThreads(session, seed * 2 + static_cast<std::uint64_t>(opening),
              [&](std::uint64_t, std::mt19937_64& random) {
                for (int i = 0; i < 60; ++i) {
                  auto done = std::make_shared<std::string>();
                  const std::mt19937_64 draw(random());
                  auto ended = store.Submit(
                      [done, draw](WriteTransaction& t) { return Change(t, draw, *done); });
                  const TransactionOutcome outcome = ended.get();
                  EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
                  if (outcome.committed()) lines.Add(fmt::format("{} {}", outcome.time, *done));
                }
              });
    lines.Write();
    ASSERT_OK(store.Close());
    if (session.first()) {
      Model expected;
      expected.directed = model.directed;
      for (const std::string& line : lines.Sorted()) Apply(expected, line);
      model = expected;
    }
    GraphStore again = MustOpenStore(session, path, With(protocol));
    if (session.first()) {
      EXPECT_EQ(ReadAll(again, model.directed), model) << protocol << " seed " << seed;
    }
    ASSERT_OK(again.Close());
  }
}

void CheckHistory(Session& session, const std::string& folder, const std::string& protocol,
                  std::uint64_t seed) {
  constexpr std::uint64_t kLists = 5, kTransactions = 60, kFirstValue = 1'000'000;
  const std::string path = folder + "/history" + std::to_string(seed);
  ASSERT_OK(GraphStore::Create(session, path, {}));
  GraphStore store = MustOpenStore(session, path, With(protocol));
  SharedLines lines(session, path + ".lines");
  OnThreads(session, seed, [&](std::uint64_t thread, std::mt19937_64& random) {
    for (std::uint64_t i = 0; i < kTransactions; ++i) {
      struct Operation {
        std::uint64_t list;
        std::optional<std::uint64_t> value;
        std::string read = "null";
      };
      auto operations = std::make_shared<std::vector<Operation>>();
      const std::uint64_t value = thread * kTransactions + i;
      const std::uint64_t appends = random() % 3;
      for (std::uint64_t list = 0; list < kLists; ++list) {
        if (random() % 2 == 0) continue;
        operations->push_back({list, {}, "null"});
        if (random() % 3 < appends) operations->push_back({list, value * kLists + list, "null"});
      }
      std::shuffle(operations->begin(), operations->end(), random);
      const auto log = [&](const char* type) {
        std::string text;
        for (const Operation& one : *operations) {
          text += text.empty() ? "" : ",";
          text += one.value ? fmt::format("[\"append\",{},{}]", one.list, *one.value)
                            : fmt::format("[\"r\",{},{}]", one.list, one.read);
        }
        lines.Add(fmt::format("{} {{\"type\":\"{}\",\"process\":{},\"value\":[{}]}}", NowNs(), type,
                              thread, text));
      };
      log("invoke");
      const auto body = [operations](WriteTransaction& t) -> Status {
        for (Operation& one : *operations) {
          SLIM_ASSIGN(const bool exists, t.HasVertex(one.list));
          if (one.value) {
            if (!exists) SLIM_TRY(t.AddVertex(one.list));
            // Counting the list orders it after all other appends to it.
            SLIM_TRY(t.Degree(one.list));
            SLIM_TRY(t.AddVertex(kFirstValue + *one.value));
            SLIM_TRY(t.AddEdge(one.list, kFirstValue + *one.value));
            continue;
          }
          std::vector<StoredNeighbour> found;
          if (exists) {
            SLIM_ASSIGN(found, t.NeighboursWithData(one.list));
          }
          std::stable_sort(found.begin(), found.end(),
                           [](const auto& a, const auto& b) { return a.time < b.time; });
          one.read = "[";
          for (const StoredNeighbour& edge : found) {
            one.read += (one.read.size() > 1 ? "," : "") + std::to_string(edge.id - kFirstValue);
          }
          one.read += "]";
        }
        return {};
      };
      const TransactionOutcome outcome = store.Submit(body).get();
      EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
      log(outcome.committed() ? "ok" : "fail");
    }
  });
  lines.Write();
  ASSERT_OK(store.Close());
  if (!session.first()) return;
  // SUNDIAL and MVCC order transactions by logical times, which may differ from real time.
  const bool strict = protocol != "sundial" && protocol != "mvcc";
  EXPECT_EQ(
      CheckListAppend(lines.Sorted(), strict ? Level::kStrictSerializable : Level::kSerializable),
      "")
      << protocol << " seed " << seed;
}

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
