#include "slimgraph/base/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace slimgraph {
namespace {

constexpr std::string_view kPrefix = "SLIMGRAPH_";

constexpr std::array kKnown = {
    KnownVariable{"SLIMGRAPH_BEGUN_AGAIN", "set by slimgraph itself when a job begins again"},
    KnownVariable{"SLIMGRAPH_CACHE", "set by slimgraph itself for the agent of a host's cache"},
    KnownVariable{"SLIMGRAPH_COMPUTE",
                  "under mpiexec or srun: how many nodes of a session compute"},
    KnownVariable{"SLIMGRAPH_HOST", "the address under which other hosts reach this one"},
    KnownVariable{"SLIMGRAPH_JOIN",
                  "set by a session, slimgraph launch or a pool for the nodes that it starts"},
    KnownVariable{"SLIMGRAPH_LAUNCHER", "set by slimgraph itself for the nodes that it starts"},
    KnownVariable{"SLIMGRAPH_LOG", "debug: each node tells what it waits for, after a second"},
    KnownVariable{"SLIMGRAPH_NODE_GROUPS", "set by slimgraph itself: the nodes' control groups"},
    KnownVariable{"SLIMGRAPH_NODE_MEMORY", "set by slimgraph itself: the memory limit of a node"},
    KnownVariable{"SLIMGRAPH_POOLS", "the folder of the descriptors of standing pools"},
    KnownVariable{"SLIMGRAPH_POOL_CONFINED",
                  "set by a pool's node for jobs of those with whom the pool is shared"},
    KnownVariable{"SLIMGRAPH_POOL_JOIN", "set by pool start --launcher for the nodes of a pool"},
    KnownVariable{"SLIMGRAPH_POOL_NODE", "set by slimgraph itself for the nodes of a pool"},
    KnownVariable{"SLIMGRAPH_POOL_PART", "set by a pool's node: the graph that a job may use"},
    KnownVariable{"SLIMGRAPH_VERBS_DEVICE", "the RDMA device, and its port: mlx5_0 or mlx5_0:2"},
    KnownVariable{"SLIMGRAPH_VERBS_GID_INDEX", "the index of the RDMA port's address (GID) to use"},
    KnownVariable{"SLIMGRAPH_VERBS_MTU", "the largest RDMA packet: 256, 512, 1024, 2048, 4096"},
};

// The Levenshtein distance: the number of insertions, deletions and replacements that turn `from`
// into `to`.
std::size_t Distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string Complaint(std::string_view name) {
  const auto nearest = std::min_element(kKnown.begin(), kKnown.end(),
                                        [&](const KnownVariable& a, const KnownVariable& b) {
                                          return Distance(name, a.name) < Distance(name, b.name);
                                        });
  if (Distance(name, nearest->name) <= 3) {
    return fmt::format("{} is set, but nothing reads it; did you mean {}?", name, nearest->name);
  }
  return fmt::format("{} is set, but nothing reads it", name);
}

}  // namespace

std::span<const KnownVariable> KnownVariables() { return kKnown; }

std::vector<std::string> UnknownVariables(std::span<const std::string> environment) {
  std::vector<std::string> complaints;
  for (const std::string& variable : environment) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (!name.starts_with(kPrefix)) continue;
    const bool known = std::any_of(kKnown.begin(), kKnown.end(),
                                   [&](const KnownVariable& one) { return one.name == name; });
    if (!known) complaints.push_back(Complaint(name));
  }
  return complaints;
}

std::vector<std::string> UnknownVariables() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return UnknownVariables(environment);
}

}  // namespace slimgraph
