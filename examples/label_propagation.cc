// label_propagation GRAPH STEPS [NODES]: the sizes of the largest communities.
//
// Synchronous label propagation: at first each vertex has its own id as label. In each step it
// takes the label that most of its neighbours have, and the smallest one if there are several.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "slimgraph/session/program.h"

namespace {

struct MostCommonLabel {
  using Value = std::uint64_t;
  using Scratch = std::vector<std::uint64_t>;
  std::uint64_t steps;

  Value Initial(std::uint64_t id) const { return id; }
  bool Ends(const slimgraph::StepInfo& info) const { return info.steps == steps; }
  Value Gather(Value own, const slimgraph::NeighbourValues<Value>& in, Scratch& labels) const {
    labels.clear();
    for (std::size_t i = 0; i < in.size(); ++i) labels.push_back(in[i]);
    std::sort(labels.begin(), labels.end());
    std::size_t most = 0;
    for (auto at = labels.begin(); at != labels.end();) {
      const auto end = std::upper_bound(at, labels.end(), *at);
      const auto count = static_cast<std::size_t>(end - at);
      if (count > most) own = *at;
      most = std::max(most, count);
      at = end;
    }
    return own;
  }
};

slimgraph::Status Run(const char* path, std::uint64_t steps, slimgraph::NodeId nodes) {
  SLIM_ASSIGN(auto session, slimgraph::Session::Open({.nodes = nodes}));
  SLIM_ASSIGN(auto graph, slimgraph::Graph::Open(session, path, {.directed = false}));
  SLIM_ASSIGN(const auto result, slimgraph::Run(graph, MostCommonLabel{steps}));
  if (session.first()) {
    std::map<std::uint64_t, std::uint64_t> members;
    for (const std::uint64_t label : result.values.values()) ++members[label];
    std::vector<std::pair<std::uint64_t, std::uint64_t>> largest(members.begin(), members.end());
    std::stable_sort(largest.begin(), largest.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min<std::size_t>(5, largest.size()); ++i) {
      std::printf("label %llu: %llu\n", static_cast<unsigned long long>(largest[i].first),
                  static_cast<unsigned long long>(largest[i].second));
    }
  }
  return session.Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "label_propagation GRAPH STEPS [NODES]\n");
    return 2;
  }
  const auto nodes = static_cast<slimgraph::NodeId>(argc > 3 ? std::atoi(argv[3]) : 0);
  const auto done = Run(argv[1], std::strtoull(argv[2], nullptr, 10), nodes);
  if (done) return 0;
  std::fprintf(stderr, "label_propagation: %s\n", done.error().message.c_str());
  return done.error().exit_code();
}
