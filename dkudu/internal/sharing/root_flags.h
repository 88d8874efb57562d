// For each vertex 64 flags, which say what a compute node has to do at this root in the next round.
// In a round all threads of all compute nodes set flags; between rounds the compute nodes combine
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "dkudu/mining_job.h"

namespace slimgraph::dkudu {

class RootFlags {
 public:
  using Flags = std::uint64_t;

  // Collective.
  static Result<RootFlags> Make(MiningJob& job);
  // The memory that they take on a compute node.
  static std::uint64_t Bytes(const MiningGraph& graph);

  // What was set in the round before this one.
  Flags of(VertexId v) const { return now_[v]; }
  bool is_set(VertexId v, std::uint64_t number) const {
    return (now_[v] >> (number % 64) & 1) != 0;
  }
  // Called by several threads. `number` is taken modulo 64.
  void Set(VertexId v, std::uint64_t number) {
    const Flags flag = Flags{1} << (number % 64);
    std::atomic_ref<Flags> flags(next()[v]);
    if ((flags.load(std::memory_order_relaxed) & flag) != 0) return;
    flags.fetch_or(flag, std::memory_order_relaxed);
    std::atomic_ref(touched()[v / kPiece]).store(1, std::memory_order_relaxed);
  }
  // Collective: the next round begins. A collective operation must come after the last Set().
  Status BeginRound(Cluster& cluster);

 private:
  static constexpr std::size_t kPiece = 4096;  // vertices whose flags are read together
  RootFlags(VertexId vertices, JobRegions::Lease region)
      : vertices_(vertices), region_(std::move(region)) {}
  static std::size_t PiecesOf(std::size_t vertices) { return (vertices + kPiece - 1) / kPiece; }
  std::span<Flags> words() const {
    return {reinterpret_cast<Flags*>(region_.memory().data()),
            region_.memory().size() / sizeof(Flags)};
  }
  // The region: for each piece, whether it has flags; then the flags of all vertices.
  std::span<Flags> touched() const { return words().first(PiecesOf(vertices_)); }
  std::span<Flags> next() const { return words().subspan(PiecesOf(vertices_), vertices_); }
  Status AddFlagsOf(Endpoint& endpoint, NodeId node);

  VertexId vertices_;
  JobRegions::Lease region_;
  std::vector<Flags> now_;
};

}  // namespace slimgraph::dkudu
