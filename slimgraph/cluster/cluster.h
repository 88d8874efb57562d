// A job as an application sees it: its nodes and their roles, the fabric between them, and their
// collectives. Open this header first.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "slimgraph/base/result.h"
#include "slimgraph/cluster/collectives.h"
#include "slimgraph/cluster/topology.h"
#include "slimgraph/fabric/fabric.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

struct ClusterOptions {
  NodeId compute = 0;  // compute nodes; 0: all
  std::uint32_t threads = 1;
  std::string transport = "shm";
  std::string network = "none";
  std::uint32_t qps_per_peer = 1;
  std::uint32_t serving_threads = 0;  // their endpoints come after those of `threads`
  NodesInPlace in_place = {};
};

class Cluster {
 public:
  // Collective.
  static Result<std::unique_ptr<Cluster>> Start(Job& job, const ClusterOptions& options);

  NodeId self() const { return job_.self(); }
  const Topology& topology() const { return topology_; }
  bool computes() const { return topology_.is_compute(self()); }
  std::uint32_t threads() const { return options_.threads; }
  const ClusterOptions& options() const { return options_; }
  // Whether a compute node maps what it reads of memory nodes: their memory, or a cache of the
  // host.
  bool maps_far_memory() const {
    return options_.transport == "shm" ||
           (options_.transport == "tcp" && !job_.host_cache().empty());
  }
  // Options for a second cluster of the same processes, beside this one.
  ClusterOptions OptionsForAnother() const;

  Job& job() { return job_; }
  // Has one endpoint per thread; the endpoints of serving threads come last.
  Fabric& fabric() { return *fabric_; }
  Collectives& all() { return *all_; }
  // Only on compute nodes.
  Collectives& compute() { return *compute_; }

  // Collective among the living nodes: continues without the nodes in `lost`, which
  // Job::SurviveDeaths() allows. all() and compute() return new objects afterwards. The topology
  // does not change: roles are those of all original nodes.
  void ContinueWithout(const std::vector<NodeId>& lost);

  // Collective: ends the job's traffic.
  Status Stop();

  // For an error that all nodes return together, before any of them waits for another. After it,
  // this cluster can be stopped and the job can go on.
  tl::unexpected<Error> Refuse(Error error) {
    refused_ = true;
    return tl::unexpected<Error>(std::move(error));
  }
  bool refused() const { return refused_; }

 private:
  void MakeGroups();
  Cluster(Job& job, const Topology& topology, ClusterOptions options)
      : job_(job), topology_(topology), options_(std::move(options)) {}

  Job& job_;
  Topology topology_;
  ClusterOptions options_;
  std::unique_ptr<Fabric> fabric_;
  std::unique_ptr<CollectiveMailbox> mailbox_;
  std::uint32_t groups_ = 0;  // how many groups have been made
  std::vector<NodeId> members_;
  std::unique_ptr<Collectives> all_;
  std::unique_ptr<Collectives> compute_;
  bool refused_ = false;
};

}  // namespace slimgraph
