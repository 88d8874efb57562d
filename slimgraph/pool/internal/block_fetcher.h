// Brings blocks of lenders' memories into a host's cache, each once, as long as there is room.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/endpoint.h"
#include "slimgraph/fabric/host_cache_memory.h"

namespace slimgraph::internal {

class BlockFetcher {
 public:
  // What is fetched for one question.
  struct Request {
    std::uint64_t bytes = 0;  // that are read for it
    std::uint32_t reads = 0;
    bool refused = false;       // there is no room for all of it
    std::size_t under_way = 0;  // reads that it waits for, its own and those of others
  };

  // The memories of lender k are regions `regions` of node `first_lender` + k. `room_bytes`: the
  // most memory that copies take.
  BlockFetcher(Endpoint& endpoint, HostCacheMemory& memory, NodeId first_lender,
               std::vector<RegionId> regions, std::uint64_t room_bytes);

  // Begins to read what is missing; the next Ring() of the endpoint sends it.
  void Begin(const std::shared_ptr<Request>& request, std::size_t lender, const BlockRange& range);
  // Of a read with this tag. Publishes its blocks, and counts it as done for all that wait for it.
  Status Finish(const Completion& completion);

  std::uint64_t used_bytes() const { return used_bytes_; }
  bool idle() const { return runs_.empty(); }

 private:
  struct Run {
    std::size_t lender = 0;
    BlockRange range;
    std::vector<std::shared_ptr<Request>> waiting;
  };
  using Starts = std::map<std::uint64_t, std::uint64_t>;  // first block -> tag

  Starts& StartsOf(std::size_t lender, std::size_t memory) {
    return starts_[lender * regions_.size() + memory];
  }
  // The run that brings this block; null: none does.
  Run* Coming(std::size_t lender, std::size_t memory, std::uint64_t block);
  // Takes the pages of a block. False: there is no room.
  bool TakeRoom(std::size_t lender, std::size_t memory, std::uint64_t block);
  void Read(const std::shared_ptr<Request>& request, std::size_t lender, const BlockRange& range);

  Endpoint& endpoint_;
  HostCacheMemory& memory_;
  const NodeId first_lender_;
  const std::vector<RegionId> regions_;
  const std::uint64_t room_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::vector<std::vector<bool>> pages_;         // by lender and memory: those that are taken
  std::vector<Starts> starts_;                   // by lender and memory: runs under way
  std::unordered_map<std::uint64_t, Run> runs_;  // by tag
  std::uint64_t last_tag_ = 0;
};

}  // namespace slimgraph::internal
