// Makes one machine's memory as slow as a network: an operation completes no earlier than the
// latency and bandwidth of the named network allow. Each node has one adapter, whose two directions
// are independent. Works over any transport, for nodes of one host.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

class Job;
class SharedMemory;

struct NetworkSpec {
  std::string_view name;
  std::uint64_t latency_ns;
  double bytes_per_ns;
};
// Checks that `name` is none, fdr, edr, efa or tcp10.
Status CheckNetwork(std::string_view name);

class NetworkModel {
 public:
  // Collective. Returns null for "none".
  static Result<std::unique_ptr<NetworkModel>> Open(Job& job, std::string_view name);
  ~NetworkModel();

  // Books a transfer of `out_bytes` from this node to `peer` and of `in_bytes` back, starting now.
  // Returns the time at which the last byte arrives.
  std::uint64_t Book(NodeId peer, std::uint64_t out_bytes, std::uint64_t in_bytes);

 private:
  // The times from which each direction of a node's adapter is free again.
  struct alignas(kCacheLineBytes) Adapter {
    std::atomic<std::uint64_t> out_free_ns;
    std::atomic<std::uint64_t> in_free_ns;
  };
  NetworkModel() = default;
  std::uint64_t Occupy(std::atomic<std::uint64_t>& free_ns, std::uint64_t from_ns,
                       std::uint64_t bytes) const;

  NetworkSpec spec_{};
  NodeId self_ = 0;
  std::unique_ptr<SharedMemory> memory_;  // made by node 0
  Adapter* adapters_ = nullptr;           // by node
};

}  // namespace slimgraph
