// The memory of this node that other nodes can reach, by region.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/file_sync.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

struct OwnRegion {
  RegionMemory memory;
  std::vector<std::uint64_t> bytes_of_node;
  std::atomic<bool> revoked{false};
  bool stands = false;                  // it was there before the job
  std::optional<FlushBy> flush = {};    // what makes writes durable, if it is memory of files
  std::unique_ptr<FileSync> sync = {};  // null: this node has no file, or need not sync it
};

class OwnRegions {
 public:
  RegionId count() const { return count_; }

  // Adds the region with the next id.
  OwnRegion& Add() {
    SLIM_CHECK(count_ < kMaxRegions, "more than {} regions", kMaxRegions);
    regions_[count_] = std::make_unique<OwnRegion>();
    return *regions_[count_++];
  }

  // Null for a region that was never shared. Thread-safe with Add(): endpoints look up earlier
  // regions while one is added.
  OwnRegion* Find(RegionId id) const { return id < kMaxRegions ? regions_[id].get() : nullptr; }

 private:
  RegionId count_ = 0;
  std::array<std::unique_ptr<OwnRegion>, kMaxRegions> regions_;
};

}  // namespace slimgraph
