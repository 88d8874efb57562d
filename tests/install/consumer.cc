// A program of a user, built against the installed library alone.
#include <cstdio>

#include "slimgraph/cluster/topology.h"
#include "slimgraph/fabric/fabric.h"
#include "slimgraph/launch/job.h"

int main() {
  const auto topology = slimgraph::Topology::Make(7, 3);
  if (!topology) return 1;
  for (const slimgraph::NodeId memory_node : topology->DelegationSet(0)) {
    std::printf("%u ", memory_node);
  }
  const auto job = slimgraph::Job::Alone();
  auto fabric = slimgraph::Fabric::Open(*job, {});
  if (!fabric) return 1;
  const auto region = (*fabric)->Share(4096);
  if (!region || !(*fabric)->Close()) return 1;
  std::printf("%zu\n", region->memory.size());
}
