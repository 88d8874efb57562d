// friends STORE LIMIT [NODES]: introduces friends of friends, then prints who is best connected.
//
// Each person gets at most one new friend: the first friend of a friend with whom the person is not
// friends yet. Nobody gets a friend beyond LIMIT. The checks and the new edge are one transaction,
// so no other transaction comes between them. Several threads of every compute node submit such
// transactions. In the end PageRank runs on a snapshot of the store.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/graph_store.h"

namespace {

slimgraph::Status Introduce(slimgraph::WriteTransaction& t, std::uint64_t me, std::uint64_t limit) {
  SLIM_ASSIGN(const auto friends, t.Neighbours(me));
  if (friends.size() >= limit) return {};
  for (const std::uint64_t one : friends) {
    SLIM_ASSIGN(const auto candidates, t.Neighbours(one));
    for (const std::uint64_t other : candidates) {
      if (other == me || std::binary_search(friends.begin(), friends.end(), other)) continue;
      SLIM_ASSIGN(const std::uint64_t degree, t.Degree(other));
      if (degree < limit) return t.AddEdge(me, other);
    }
  }
  return {};
}

slimgraph::Status Run(const char* path, std::uint64_t limit, slimgraph::NodeId nodes) {
  SLIM_ASSIGN(auto session, slimgraph::Session::Open({.nodes = nodes}));
  SLIM_ASSIGN(auto store, slimgraph::GraphStore::Open(session, path));
  SLIM_ASSIGN(const auto before, store.Snapshot());

  constexpr slimgraph::VertexId kThreads = 4;
  std::atomic<std::uint64_t> failures{0};
  std::vector<std::future<void>> threads;
  for (slimgraph::VertexId thread = 0; thread < kThreads; ++thread) {
    threads.push_back(
        std::async(std::launch::async, [&, first = session.node() * kThreads + thread] {
          for (auto i = first; i < before.vertices(); i += kThreads * session.compute()) {
            const std::uint64_t me = before.ids()[before.ids().InOrder(i)];
            auto done = store.Submit([=](auto& t) { return Introduce(t, me, limit); });
            if (!done.get().committed()) ++failures;
          }
        }));
  }
  for (auto& thread : threads) thread.get();

  SLIM_ASSIGN(auto after, store.Snapshot());
  SLIM_ASSIGN(const auto ranks, slimgraph::PageRank(after, {.iterations = 100}));
  if (session.first()) {
    std::vector<std::size_t> best(ranks.size());
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = i;
    std::sort(best.begin(), best.end(),
              [&](auto a, auto b) { return ranks.values()[a] > ranks.values()[b]; });
    best.resize(std::min<std::size_t>(best.size(), 5));
    for (const std::size_t i : best) std::printf("%lu %.6f\n", ranks.id(i), ranks.values()[i]);
  }
  if (failures > 0) return slimgraph::InputError("{} transactions were given up", failures.load());
  return session.Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "friends STORE LIMIT [NODES]\n");
    return 2;
  }
  const auto nodes = static_cast<slimgraph::NodeId>(argc > 3 ? std::atoi(argv[3]) : 0);
  const auto done = Run(argv[1], std::strtoull(argv[2], nullptr, 10), nodes);
  if (done) return 0;
  std::fprintf(stderr, "friends: %s\n", done.error().message.c_str());
  return done.error().exit_code();
}
