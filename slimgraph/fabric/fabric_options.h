// The options of a fabric, and a check of the transport's name.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/base/result.h"

namespace slimgraph {

struct FabricOptions {
  std::string transport = "shm";   // shm, tcp, mpi, verbs
  std::string network = "none";    // none, fdr, edr, efa, tcp10
  std::uint32_t endpoints = 1;     // per node, the same on all nodes
  std::uint32_t qps_per_peer = 1;  // verbs: an endpoint's queue pairs to each node, used in turn
  bool in_place = true;            // see Fabric::InPlace()
};

constexpr std::uint32_t kMaxQpsPerPeer = 1024;

Status CheckTransport(std::string_view name);

}  // namespace slimgraph
