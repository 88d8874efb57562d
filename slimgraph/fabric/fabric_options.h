// The options of a fabric, and a check of the transport's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Of which nodes of a pool this process uses memory in place (Fabric::InPlace()). `only`: of that
// one, as if it were the only one on this host. The nodes of a pool are numbered from 0.
struct NodesInPlace {
  bool any = true;
  std::optional<NodeId> only = {};

  bool all() const { return any && !only; }
  bool Has(NodeId node) const { return any && (!only || *only == node); }
};

struct FabricOptions {
  std::string transport = "shm";   // shm, tcp, mpi, verbs
  std::string network = "none";    // none, fdr, edr, efa, tcp10
  std::uint32_t endpoints = 1;     // per node, the same on all nodes
  std::uint32_t qps_per_peer = 1;  // verbs: an endpoint's queue pairs to each node, used in turn
  NodesInPlace in_place = {};
};

constexpr std::uint32_t kMaxQpsPerPeer = 1024;

Status CheckTransport(std::string_view name);

}  // namespace slimgraph
