// The anomalies of the LDBC ACID suite (Waudby et al., TPCTC 2020). Each is a few kinds of
// transactions on persons, their friendships, and posts that they like; hundreds run concurrently.
// Each test also runs with broken transactions, in which every operation commits by itself. Then it
// must find its anomaly.
#include <algorithm>
#include <set>

#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {
namespace {

using txn::Answer;
using txn::GraphTransaction;
using Name = txn::VertexName;
using Random = std::mt19937_64;

constexpr txn::GraphShape kShape{16, 16};
constexpr Name kPersons = 4;
// Per coroutine. So few that CALVIN can name all blocks of a vertex to which they add edges.
constexpr std::uint64_t kTransactions = 30;
// A transaction's id plus this is the name of the vertex that it adds.
constexpr Name kFirstFresh = 1000;

// The properties of a vertex or an edge.
struct Version {
  std::int64_t number = 0;
  std::uint64_t writer = 0;
  bool operator==(const Version&) const = default;
};

// A transaction's operations. An abort leaves the body by an exception.
struct Aborted {};
struct RolledBack {};
class Session {
 public:
  Session(GraphTransaction& graph, bool broken) : graph_(graph), broken_(broken) {}

  Version Get(Name person) {
    Version version;
    Check(graph_.GetVertex(person, std::as_writable_bytes(std::span(&version, 1))));
    return version;
  }
  void Set(Name person, const Version& version) {
    Check(graph_.SetVertex(person, std::as_bytes(std::span(&version, 1))));
  }
  Version GetEdge(Name one, Name other) {
    Version version;
    txn::StoredEdge edge;
    Check(graph_.GetEdge(one, other, edge, std::as_writable_bytes(std::span(&version, 1))));
    return version;
  }
  void AddEdge(Name one, Name other, const Version& version = {}) {
    Check(graph_.AddEdge(one, other, std::as_bytes(std::span(&version, 1))));
  }
  void AddVertex(Name name) { Check(graph_.AddVertex(name, {})); }
  std::uint64_t Degree(Name name) {
    std::uint64_t degree = 0;
    Check(graph_.Degree(name, degree));
    return degree;
  }
  void RollBack() { throw RolledBack(); }

 private:
  // Lets other transactions run between any two operations.
  void Check(Answer answer) {
    if (answer == Answer::kAborted) throw Aborted();
    txn::Transaction& transaction = graph_.transaction();
    if (broken_) {
      if (!graph_.Commit()) throw Aborted();
      transaction.task().Yield();
      transaction.Begin();
      graph_.Open(false);
    } else {
      transaction.task().Yield();
    }
  }

  GraphTransaction& graph_;
  bool broken_;
};

// Shared by all coroutines of a test, which run on one thread.
struct Shared {
  std::uint64_t anomalies = 0;
  std::uint64_t committed = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // G1c: reader, writer
};

// One run of a body. Its findings are used only if the transaction commits.
struct Context {
  Session session;
  Random& random;
  std::uint64_t id;  // of the transaction; never 0
  Shared& shared;
  std::function<void()> then = {};  // called after the commit
};
using Body = std::function<void(Context&)>;

// The concurrent transactions, and a last one that checks the final state.
struct Anomaly {
  const char* name;
  Body body;
  Body last = {};
};

// Retries until it has committed or rolled itself back.
void Run(GraphTransaction& graph, bool broken, Random& random, std::uint64_t id, Shared& shared,
         const Body& body) {
  Context context{Session(graph, broken), random, id, shared};
  const txn::Verdict verdict = graph.Run([&](GraphTransaction&) {
    context.then = {};
    try {
      body(context);
    } catch (const Aborted&) {
      return Answer::kAborted;
    } catch (const RolledBack&) {
      return Answer::kNo;
    }
    return Answer::kYes;
  });
  EXPECT_NE(verdict.end, Answer::kAborted) << verdict.cause;
  if (verdict.end != Answer::kYes) return;
  ++shared.committed;
  if (context.then) context.then();
}

void Note(Context& c, bool anomaly) {
  c.then = [&c, anomaly, before = std::move(c.then)] {
    if (before) before();
    if (anomaly) ++c.shared.anomalies;
  };
}

// All transactions write two persons and the edge between them. If they are serializable, all three
// had the same previous writer.
void WriteAll(Context& c) {
  const Name mine = c.random() % 2;
  std::set<std::uint64_t> before;
  for (const Name person : {mine, 1 - mine}) {
    before.insert(c.session.Get(person).writer);
    c.session.Set(person, {1, c.id});
  }
  before.insert(c.session.GetEdge(0, 1).writer);
  c.session.AddEdge(0, 1, {1, c.id});
  Note(c, before.size() != 1);
}

// Versions are even only within a transaction, or if it rolls back.
void WriteEvenAndRollBack(Context& c) {
  if (c.random() % 2 == 0) return Note(c, c.session.Get(0).number % 2 == 0);
  c.session.Set(0, {2, c.id});
  c.session.RollBack();
}
void WriteEvenThenOdd(Context& c) {
  if (c.random() % 2 == 0) return Note(c, c.session.Get(0).number % 2 == 0);
  c.session.Set(0, {2, c.id});
  c.session.Set(0, {3, c.id});
}

// An anomaly: two transactions that have each read what the other wrote.
void WriteOneReadOther(Context& c) {
  const Name mine = c.random() % 2;
  c.session.Set(mine, {1, c.id});
  const std::uint64_t read = c.session.Get(1 - mine).writer;
  c.then = [&c, read] { c.shared.seen.emplace_back(c.id, read); };
}
void NobodyHasReadHisReader(Context& c) {
  const std::set<std::pair<std::uint64_t, std::uint64_t>> seen(c.shared.seen.begin(),
                                                               c.shared.seen.end());
  Note(c, std::any_of(seen.begin(), seen.end(), [&](const auto& one) {
         return one.first < one.second && seen.contains({one.second, one.first});
       }));
}

void Increment(Context& c, Name person) {
  const Version before = c.session.Get(person);
  c.session.Set(person, {before.number + 2, c.id});
}

void ReadItemTwice(Context& c) {
  if (c.random() % 2 == 0) return Increment(c, 0);
  const Version first = c.session.Get(0);
  Note(c, !(first == c.session.Get(0)));
}
// The second read may find more persons who like the post.
void ReadPredicateTwice(Context& c) {
  if (c.random() % 2 == 0) {
    const Name person = kFirstFresh + c.id;
    c.session.AddVertex(person);
    return c.session.AddEdge(person, 0);
  }
  const std::uint64_t first = c.session.Degree(0);
  Note(c, first != c.session.Degree(0));
}

void IncrementAll(Context& c) {
  for (Name person = 0; person < kPersons; ++person) Increment(c, person);
}
// If a reader has seen a transaction's write, it must see all its later writes too.
void ObserveAll(Context& c) {
  if (c.random() % 2 == 0) return IncrementAll(c);
  std::int64_t most = 0;
  for (Name person = 0; person < kPersons; ++person) {
    most = std::max(most, c.session.Get(person).number);
  }
  bool vanished = false;
  for (Name person = 0; person < kPersons; ++person) {
    vanished = c.session.Get(person).number < most || vanished;
  }
  Note(c, vanished);
}
void ReadAll(Context& c) {
  if (c.random() % 2 == 0) return IncrementAll(c);
  const Version first = c.session.Get(0);
  bool fractured = false;
  for (Name person = 1; person < kPersons; ++person) {
    fractured = c.session.Get(person).number != first.number || fractured;
  }
  Note(c, fractured);
}

// Adds a friend, and counts friends in a property.
void CountAndAdd(Context& c) {
  const Name fresh = kFirstFresh + c.id;
  const Version before = c.session.Get(0);
  c.session.AddVertex(fresh);
  c.session.AddEdge(0, fresh);
  c.session.Set(0, {before.number + 1, c.id});
}
void NoneWasLost(Context& c) {
  const auto committed = static_cast<std::int64_t>(c.shared.committed);
  Note(c, c.session.Get(0).number != committed + 1);  // persons begin with 1
}

// The sum of two balances must not become negative. Each transaction reads both and writes one.
void Draw(Context& c) {
  const Name mine = c.random() % 2;
  const Version balance[2] = {c.session.Get(0), c.session.Get(1)};
  if (balance[0].number + balance[1].number >= 100) {
    return c.session.Set(mine, {balance[mine].number - 100, c.id});
  }
  c.session.Set(mine, {balance[mine].number + 60, c.id});
}
void SomethingIsLeft(Context& c) {
  if (c.random() % 2 == 0) return Draw(c);
  Note(c, c.session.Get(0).number + c.session.Get(1).number < 0);
}

const Anomaly kAnomalies[] = {{"DirtyWrite", WriteAll},
                              {"AbortedRead", WriteEvenAndRollBack},
                              {"IntermediateRead", WriteEvenThenOdd},
                              {"CircularInformation", WriteOneReadOther, NobodyHasReadHisReader},
                              {"ItemManyPreceders", ReadItemTwice},
                              {"PredicateManyPreceders", ReadPredicateTwice},
                              {"ObservedTransactionVanishes", ObserveAll},
                              {"FracturedRead", ReadAll},
                              {"LostUpdate", CountAndAdd, NoneWasLost},
                              {"WriteSkew", SomethingIsLeft}};

// Runs the anomaly's transactions, and checks whether the anomaly was found.
void RunAnomaly(const Anomaly& anomaly, const std::string& protocol_name, bool broken) {
  const auto protocol = txn::MakeProtocol(protocol_name, kBriefWaits);
  const TxnSetting setting{
      .protocol = protocol_name, .stages = "one-sided", .nodes = 2, .compute = 1, .coroutines = 8};
  OnTxnJob(setting, [&](Cluster& cluster) {
    const FileSource source("");
    GraphOnNode made;
    MakeGraph(cluster, setting, **protocol, source, {.shape = kShape}, made);
    if (::testing::Test::HasFatalFailure()) return;
    Shared shared;
    Random seeds(TestSeed());
    const auto run = [&](const std::function<void(GraphTransaction&, std::uint64_t)>& work) {
      const Status ran = made.engine->Run([&](txn::Transaction& transaction) {
        GraphTransaction graph(*made.graph, transaction);
        work(graph, transaction.process());
      });
      ASSERT_TRUE(ran) << ran.error().message;
    };
    Random random(seeds());
    run([&](GraphTransaction& graph, std::uint64_t process) {
      if (process != 0) return;
      Run(graph, false, random, 1, shared, [](Context& c) {
        for (Name person = 0; person < kPersons; ++person) {
          c.session.AddVertex(person);
          c.session.Set(person, {1, 0});
        }
        c.session.AddEdge(0, 1, {1, 0});
      });
    });
    shared.committed = 0;
    const std::uint64_t seed = seeds();
    run([&](GraphTransaction& graph, std::uint64_t process) {
      Random mine(seed + process);
      for (std::uint64_t i = 0; i < kTransactions; ++i) {
        Run(graph, broken, mine, 2 + process + 100 * i, shared, anomaly.body);
      }
    });
    run([&](GraphTransaction& graph, std::uint64_t process) {
      if (process != 0 || !anomaly.last) return;
      Run(graph, false, random, 1, shared, anomaly.last);
    });
    if (cluster.self() != 0) return;
    EXPECT_EQ(shared.anomalies > 0, broken) << anomaly.name << " with " << protocol_name << ": "
                                            << shared.anomalies << " of " << shared.committed;
  });
}

class GraphAnomalies : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(All, GraphAnomalies, ::testing::Range<std::size_t>(0, 10),
                         [](const auto& one) { return kAnomalies[one.param].name; });

TEST_P(GraphAnomalies, DoNotHappenUnderAnyProtocol) {
  for (const std::string_view protocol : txn::ProtocolNames()) {
    RunAnomaly(kAnomalies[GetParam()], std::string(protocol), false);
  }
}

TEST_P(GraphAnomalies, AreFoundIfEveryOperationCommitsByItself) {
  RunAnomaly(kAnomalies[GetParam()], "occ", true);
}

}  // namespace
}  // namespace slimgraph::test
