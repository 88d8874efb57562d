// khop GRAPH SOURCE K [NODES]: how many vertices are 0, 1, … K hops from the source.
//
// A message program that ends after K steps.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "slimgraph/session/program.h"

namespace {

struct Hops {
  using Value = std::uint32_t;
  using Message = std::uint32_t;
  static constexpr Value kUnknown = ~0U;
  std::uint64_t source;
  std::uint64_t most;

  Value Initial(std::uint64_t id) const { return id == source ? 0 : kUnknown; }
  bool Starts(std::uint64_t id) const { return id == source; }
  bool Ends(const slimgraph::StepInfo& info) const { return info.steps == most; }
  bool Wants(Value hops) const { return hops == kUnknown; }
  Message Nothing() const { return kUnknown; }
  Message Send(Value hops) const { return hops + 1; }
  Message Combine(Message a, Message b) const { return std::min(a, b); }
  bool Update(Value& hops, Message message) const {
    hops = message;
    return true;
  }
};

slimgraph::Status Run(const char* path, std::uint64_t source, std::uint64_t most,
                      slimgraph::NodeId nodes) {
  SLIM_ASSIGN(auto session, slimgraph::Session::Open({.nodes = nodes}));
  SLIM_ASSIGN(auto graph, slimgraph::Graph::Open(session, path, {.directed = false}));
  SLIM_ASSIGN(const auto result, slimgraph::Run(graph, Hops{source, most}));
  if (session.first()) {
    std::vector<std::uint64_t> at(most + 1);
    for (const std::uint32_t hops : result.values.values()) {
      if (hops != Hops::kUnknown) ++at[hops];
    }
    for (std::uint64_t hops = 0; hops <= most; ++hops) {
      std::printf("%llu hops: %llu\n", static_cast<unsigned long long>(hops),
                  static_cast<unsigned long long>(at[hops]));
    }
  }
  return session.Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "khop GRAPH SOURCE K [NODES]\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const auto nodes = static_cast<slimgraph::NodeId>(argc > 4 ? number(4) : 0);
  const auto done = Run(argv[1], number(2), number(3), nodes);
  if (done) return 0;
  std::fprintf(stderr, "khop: %s\n", done.error().message.c_str());
  return done.error().exit_code();
}
