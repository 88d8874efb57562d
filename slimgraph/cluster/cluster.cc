#include "slimgraph/cluster/cluster.h"

#include <algorithm>
#include <iterator>
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
                                 .qps_per_peer = options.qps_per_peer,
                                 .in_place = options.in_place}));
  Fabric& fabric = *cluster->fabric_;
  cluster->mailbox_ = std::make_unique<CollectiveMailbox>(fabric);
  cluster->members_ = FirstNodes(job.nodes());
  cluster->MakeGroups();
  // No node may send before all nodes have registered their handlers.
  SLIM_TRY(job.Exchange(""));
  return cluster;
}

ClusterOptions Cluster::OptionsForAnother() const {
  ClusterOptions options = options_;
  options.compute = 0;
  // A process can initialise MPI only once.
  if (options.transport == "mpi") options.transport = "tcp";
  return options;
}

void Cluster::MakeGroups() {
  all_ = std::make_unique<Collectives>(job_, *fabric_, *mailbox_, groups_++, members_);
  const std::uint32_t group = groups_++;
  if (!computes()) return;
  std::vector<NodeId> compute;
  std::copy_if(members_.begin(), members_.end(), std::back_inserter(compute),
               [this](NodeId node) { return topology_.is_compute(node); });
  compute_ = std::make_unique<Collectives>(job_, *fabric_, *mailbox_, group, std::move(compute));
}

void Cluster::ContinueWithout(const std::vector<NodeId>& lost) {
  std::erase_if(members_, [&](NodeId node) {
    return std::find(lost.begin(), lost.end(), node) != lost.end();
  });
  MakeGroups();
}

Status Cluster::Stop() {
  SLIM_TRY(all_->Barrier());
  return fabric_->Close();
}

}  // namespace slimgraph
