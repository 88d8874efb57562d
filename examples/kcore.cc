// kcore GRAPH [NODES]: the core number of each vertex, and how many vertices have it.
//
// A vertex is in the k-core if it has at least k neighbours that are in the k-core. A gather
// program lowers upper bounds, beginning with the degrees: the bound of a vertex becomes the
// largest k such that at least k neighbours have a bound of at least k (Lü, Zhou, Zhang and
// Stanley, 2016).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "slimgraph/session/program.h"

namespace {

struct CoreNumber {
  using Value = std::uint32_t;
  using Scratch = std::vector<std::uint32_t>;

  Value Initial(std::uint64_t, std::uint64_t degree) const { return static_cast<Value>(degree); }
  Value Gather(Value own, const slimgraph::NeighbourValues<Value>& in, Scratch& with_bound) const {
    with_bound.assign(own + 1, 0);
    for (std::size_t i = 0; i < in.size(); ++i) ++with_bound[std::min(in[i], own)];
    std::uint32_t at_least = 0;
    for (Value k = own; k > 0; --k) {
      at_least += with_bound[k];
      if (at_least >= k) return k;
    }
    return 0;
  }
};

slimgraph::Status Run(const char* path, slimgraph::NodeId nodes) {
  SLIM_ASSIGN(auto session, slimgraph::Session::Open({.nodes = nodes}));
  SLIM_ASSIGN(auto graph, slimgraph::Graph::Open(session, path, {.directed = false}));
  SLIM_ASSIGN(const auto result, slimgraph::Run(graph, CoreNumber()));
  if (session.first()) {
    std::map<std::uint32_t, std::uint64_t> vertices;
    for (const std::uint32_t core : result.values.values()) ++vertices[core];
    for (const auto& [core, count] : vertices) {
      std::printf("core %u: %llu\n", core, static_cast<unsigned long long>(count));
    }
  }
  return session.Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "kcore GRAPH [NODES]\n");
    return 2;
  }
  const auto nodes = static_cast<slimgraph::NodeId>(argc > 2 ? std::atoi(argv[2]) : 0);
  const auto done = Run(argv[1], nodes);
  if (done) return 0;
  std::fprintf(stderr, "kcore: %s\n", done.error().message.c_str());
  return done.error().exit_code();
}
