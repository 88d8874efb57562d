// count_pattern GRAPH PATTERN [NODES]: how often a pattern occurs, counted twice: by a plan or a
// formula that never looks at single matches, and match by match.
//
// PATTERN is a name such as triangle or house, or a file with an edge a line.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "slimgraph/session/patterns.h"

namespace {

slimgraph::Status Run(const char* path, const char* name, slimgraph::NodeId nodes) {
  SLIM_ASSIGN(auto session, slimgraph::Session::Open({.nodes = nodes}));
  SLIM_ASSIGN(auto graph, slimgraph::Graph::Open(session, path, {.directed = false}));
  SLIM_ASSIGN(const auto pattern, slimgraph::Pattern::Find(name));
  SLIM_ASSIGN(const std::uint64_t count, slimgraph::Count(graph, pattern));
  std::atomic<std::uint64_t> seen{0};  // several threads visit
  SLIM_ASSIGN(
      const std::uint64_t visited,
      slimgraph::ForEachMatch(graph, pattern, [&](std::uint32_t, std::span<const std::uint64_t>) {
        ++seen;
        return true;
      }));
  if (session.first()) {
    std::printf("%s: %llu counted, %llu visited\n", name, static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(visited));
  }
  if (session.compute() == 1 && seen != visited) {
    return slimgraph::VerificationError("{} of {} matches were seen", seen.load(), visited);
  }
  return session.Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "count_pattern GRAPH PATTERN [NODES]\n");
    return 2;
  }
  const auto nodes = static_cast<slimgraph::NodeId>(argc > 3 ? std::atoi(argv[3]) : 0);
  const auto done = Run(argv[1], argv[2], nodes);
  if (done) return 0;
  std::fprintf(stderr, "count_pattern: %s\n", done.error().message.c_str());
  return done.error().exit_code();
}
