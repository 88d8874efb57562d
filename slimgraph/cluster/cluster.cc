#include "slimgraph/cluster/cluster.h"

#include <numeric>

namespace slimgraph {
namespace {

std::vector<NodeId> FirstNodes(NodeId count) {
  std::vector<NodeId> nodes(count);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

}  // namespace

Result<std::unique_ptr<Cluster>> Cluster::Start(Job& job, const ClusterOptions& options) {
  const NodeId compute = options.compute == 0 ? job.nodes() : options.compute;
  SLIM_ASSIGN(const Topology topology, Topology::Make(job.nodes(), compute));
  std::unique_ptr<Cluster> cluster(new Cluster(job, topology, options));
  SLIM_ASSIGN(cluster->fabric_,
              Fabric::Open(job, {.transport = options.transport,
                                 .network = options.network,
                                 .endpoints = options.threads + options.serving_threads,
                                 .qps_per_peer = options.qps_per_peer}));
  Fabric& fabric = *cluster->fabric_;
  cluster->mailbox_ = std::make_unique<CollectiveMailbox>(fabric);
  cluster->all_ =
      std::make_unique<Collectives>(job, fabric, *cluster->mailbox_, 0, FirstNodes(job.nodes()));
  if (cluster->computes()) {
    cluster->compute_ =
        std::make_unique<Collectives>(job, fabric, *cluster->mailbox_, 1, FirstNodes(compute));
  }
  // Nobody sends before all can receive.
  SLIM_TRY(job.Exchange(""));
  return cluster;
}

Status Cluster::Stop() {
  SLIM_TRY(all_->Barrier());
  return fabric_->Close();
}

}  // namespace slimgraph
