// What a fabric is to be, and whether there is such a one.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/base/result.h"

namespace slimgraph {

struct FabricOptions {
  std::string transport = "shm";   // shm, tcp, mpi, verbs
  std::string network = "none";    // none, fdr, edr, efa, tcp10
  std::uint32_t endpoints = 1;     // of each node, the same on all
  std::uint32_t qps_per_peer = 1;  // verbs: queue pairs of an endpoint to each node, in turn
};

constexpr std::uint32_t kMaxQpsPerPeer = 1024;

Status CheckTransport(std::string_view name);

}  // namespace slimgraph
