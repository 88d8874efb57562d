#include "tests/session/store_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>

#include "slimgraph/base/clock.h"
#include "tests/session/store_support.h"
#include "tests/support/list_append_checker.h"

namespace slimgraph::test {
namespace {

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

// Reads a vertex and its edges into `found`.
Status ReadVertex(ReadTransaction& t, std::uint64_t v, Model& found) {
  SLIM_ASSIGN(const bool exists, t.HasVertex(v));
  if (!exists) return {};
  SLIM_ASSIGN(const auto properties, t.VertexProperties(v));
  found.vertices[v] = AsNumber(properties);
  SLIM_ASSIGN(const auto out, t.NeighboursWithData(v));
  SLIM_ASSIGN(const auto ids, t.Neighbours(v));
  SLIM_ASSIGN(const std::uint64_t degree, t.Degree(v));
  if (degree != out.size() || ids.size() != out.size()) return InputError("wrong degree");
  for (const StoredNeighbour& one : out) {
    found.edges[found.Key(v, one.id)] = {one.data.weight, AsNumber(one.data.properties)};
  }
  return {};
}

Status CheckEdge(ReadTransaction& t, std::uint64_t from, std::uint64_t to,
                 const std::pair<double, std::uint64_t>& data) {
  SLIM_ASSIGN(const EdgeData same, t.Edge(from, to));
  if (std::pair(same.weight, AsNumber(same.properties)) != data) return InputError("data");
  SLIM_ASSIGN(const auto in, t.Neighbours(to, EdgeSide::kIncoming));
  if (!std::binary_search(in.begin(), in.end(), from)) return InputError("one side");
  return {};
}

// In one transaction. Under calvin, which names few records at once, in one for each vertex and
// edge: nobody else changes the store.
Model ReadAll(GraphStore& store, bool directed, const std::string& protocol) {
  Model found;
  found.directed = directed;
  const auto commit = [&](const std::function<Status(ReadTransaction&)>& body) {
    const TransactionOutcome outcome = store.SubmitReadOnly(body).get();
    EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
  };
  if (protocol != "calvin") {
    commit([&](ReadTransaction& t) -> Status {
      found.vertices.clear();
      found.edges.clear();
      for (std::uint64_t v = 0; v < kNames; ++v) SLIM_TRY(ReadVertex(t, v, found));
      for (const auto& [ends, data] : found.edges) {
        SLIM_TRY(CheckEdge(t, ends.first, ends.second, data));
      }
      return {};
    });
    return found;
  }
  for (std::uint64_t v = 0; v < kNames; ++v) {
    commit([&](ReadTransaction& t) { return ReadVertex(t, v, found); });
  }
  for (const auto& [ends, data] : found.edges) {
    commit([&](ReadTransaction& t) { return CheckEdge(t, ends.first, ends.second, data); });
  }
  return found;
}

// Asks for the vertices of random ranges. Large numbers share their codes in an index.
void CheckIndexes(GraphStore& store, const Model& model, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20; ++i) {
    const bool whole = random() % 2 == 0;  // the number, or its last two bytes
    const auto value = [&](std::uint64_t number) {
      return whole ? static_cast<long double>(number)
                   : static_cast<long double>(static_cast<std::int16_t>(number >> 48));
    };
    long double first = value(random()), last = value(random());
    if (random() % 4 == 0 && !model.vertices.empty()) {
      const std::uint64_t index = random() % model.vertices.size();
      first = last = value(std::next(model.vertices.begin(), static_cast<long>(index))->second);
    }
    std::vector<std::uint64_t> expected, found;
    for (const auto& [vertex, number] : model.vertices) {
      if (first <= value(number) && value(number) <= last) expected.push_back(vertex);
    }
    const auto body = [&](ReadTransaction& t) -> Status {
      SLIM_ASSIGN(found, t.FindVertices(whole ? "whole" : "end", first, last));
      return {};
    };
    const TransactionOutcome outcome = store.SubmitReadOnly(body).get();
    EXPECT_TRUE(outcome.committed()) << outcome.cause.message;
    EXPECT_EQ(found, expected) << (whole ? "whole " : "end ") << first << " " << last;
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

// The removal of a vertex with many edges may be.
bool IsTooLargeForCalvin(const TransactionOutcome& outcome) {
  return outcome.cause.message.find("that calvin can name at once") != std::string::npos;
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
                               {.vertex_bytes = 8,
                                .edge_bytes = 8,
                                .weighted = true,
                                .indexes = {"whole=0:u64", "end=6:i16"}}));
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
                  EXPECT_TRUE(outcome.committed() || IsTooLargeForCalvin(outcome))
                      << outcome.cause.message;
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
      EXPECT_EQ(ReadAll(again, model.directed, protocol), model) << protocol << " seed " << seed;
      CheckIndexes(again, model, seed);
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
  // These order transactions by timestamps or logical times, which may differ from real time.
  const bool strict = protocol != "to" && protocol != "mvcc" && protocol != "sundial";
  EXPECT_EQ(
      CheckListAppend(lines.Sorted(), strict ? Level::kStrictSerializable : Level::kSerializable),
      "")
      << protocol << " seed " << seed;
}

}  // namespace slimgraph::test
