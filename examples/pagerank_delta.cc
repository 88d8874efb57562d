// pagerank_delta GRAPH TOLERANCE [NODES]: the vertices with the highest PageRank.
//
// A message program in which only vertices whose rank still changes by more than the tolerance
// send. Ranks are relative: each vertex begins with 0.15, and the ranks do not sum to one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "slimgraph/session/program.h"

namespace {

struct Ranking {
  struct Value {
    double rank;
    double change;  // since the vertex has last sent
    double degree;
  };
  using Message = double;
  double tolerance;

  Value Initial(std::uint64_t, std::uint64_t degree) const {
    return {0.15, 0.15, static_cast<double>(degree)};
  }
  Message Nothing() const { return 0; }
  Message Send(const Value& value) const { return 0.85 * value.change / value.degree; }
  Message Combine(Message a, Message b) const { return a + b; }
  bool Update(Value& value, Message message) const {
    value.rank += message;
    value.change = message;
    return std::abs(message) > tolerance;
  }
};

slimgraph::Status Run(const char* path, double tolerance, slimgraph::NodeId nodes) {
  SLIM_ASSIGN(auto session, slimgraph::Session::Open({.nodes = nodes}));
  SLIM_ASSIGN(auto graph, slimgraph::Graph::Open(session, path, {.directed = false}));
  SLIM_ASSIGN(const auto result, slimgraph::Run(graph, Ranking{tolerance}));
  if (session.first()) {
    const auto values = result.values.values();
    std::vector<std::size_t> order(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto most = std::min<std::size_t>(5, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [&](auto a, auto b) { return values[a].rank > values[b].rank; });
    for (std::size_t i = 0; i < most; ++i) {
      std::printf("%llu %.4f\n", static_cast<unsigned long long>(result.values.id(order[i])),
                  values[order[i]].rank);
    }
  }
  return session.Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "pagerank_delta GRAPH TOLERANCE [NODES]\n");
    return 2;
  }
  const auto nodes = static_cast<slimgraph::NodeId>(argc > 3 ? std::atoi(argv[3]) : 0);
  const auto done = Run(argv[1], std::strtod(argv[2], nullptr), nodes);
  if (done) return 0;
  std::fprintf(stderr, "pagerank_delta: %s\n", done.error().message.c_str());
  return done.error().exit_code();
}
