#include "slimgraph/pool/internal/block_fetcher.h"

#include <algorithm>
#include <iterator>

namespace slimgraph::internal {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kBlocksOfPage = kPageBytes / HostCacheMemory::kBlockBytes;
// Longer runs are read in pieces, so that those who wait for the first of them need not wait for
// all.
constexpr std::uint32_t kMostBlocks = 1 << 11;

}  // namespace

BlockFetcher::BlockFetcher(Endpoint& endpoint, HostCacheMemory& memory, NodeId first_lender,
                           std::vector<RegionId> regions, std::uint64_t room_bytes)
    : endpoint_(endpoint),
      memory_(memory),
      first_lender_(first_lender),
      regions_(std::move(regions)),
      room_bytes_(room_bytes),
      starts_(memory.lenders() * regions_.size()) {
  for (std::size_t lender = 0; lender < memory.lenders(); ++lender) {
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      pages_.emplace_back(memory.bytes(lender, i) / kPageBytes + 1);
    }
  }
}

BlockFetcher::Run* BlockFetcher::Coming(std::size_t lender, std::size_t memory,
                                        std::uint64_t block) {
  Starts& starts = StartsOf(lender, memory);
  auto after = starts.upper_bound(block);
  if (after == starts.begin()) return nullptr;
  Run& run = runs_.at(std::prev(after)->second);
  return block < run.range.first + run.range.blocks ? &run : nullptr;
}

bool BlockFetcher::TakeRoom(std::size_t lender, std::size_t memory, std::uint64_t block) {
  auto page = pages_[lender * regions_.size() + memory][block / kBlocksOfPage];
  if (page) return true;
  if (used_bytes_ + kPageBytes > room_bytes_) return false;
  page = true;
  used_bytes_ += kPageBytes;
  return true;
}

void BlockFetcher::Begin(const std::shared_ptr<Request>& request, std::size_t lender,
                         const BlockRange& range) {
  BlockRange run{.first = range.first, .memory = range.memory};
  const auto end_run = [&](std::uint64_t next) {
    if (run.blocks > 0) Read(request, lender, run);
    run.first = next;
    run.blocks = 0;
  };
  const std::uint64_t end = range.first + range.blocks;
  for (std::uint64_t block = range.first; block < end; ++block) {
    if (memory_.Has(lender, {block, 1, range.memory})) {
      end_run(block + 1);
    } else if (Run* const coming = Coming(lender, range.memory, block)) {
      end_run(block + 1);
      // The blocks of a run follow each other, so the request comes last if it waits already.
      if (coming->waiting.back() != request) {
        coming->waiting.push_back(request);
        ++request->under_way;
      }
    } else if (!TakeRoom(lender, range.memory, block)) {
      end_run(block + 1);
      memory_.SetFull();
      request->refused = true;
    } else if (++run.blocks == kMostBlocks) {
      end_run(block + 1);
    }
  }
  end_run(end);
}

void BlockFetcher::Read(const std::shared_ptr<Request>& request, std::size_t lender,
                        const BlockRange& range) {
  const MutableBytes space = memory_.Space(lender, range);
  const std::uint64_t tag = ++last_tag_;
  runs_.emplace(tag, Run{lender, range, {request}});
  StartsOf(lender, range.memory).emplace(range.first, tag);
  request->bytes += space.size();
  ++request->reads;
  ++request->under_way;
  endpoint_.Read(static_cast<NodeId>(first_lender_ + lender), regions_[range.memory],
                 range.first * HostCacheMemory::kBlockBytes, space, tag);
}

Status BlockFetcher::Finish(const Completion& completion) {
  const auto found = runs_.find(completion.tag);
  const Run& run = found->second;
  if (completion.outcome != Outcome::kOk) {
    return EnvironmentError("cannot read memory of node {} of the pool: {}", run.lender,
                            OutcomeName(completion.outcome));
  }
  memory_.Publish(run.lender, run.range);
  for (const auto& request : run.waiting) --request->under_way;
  StartsOf(run.lender, run.range.memory).erase(run.range.first);
  runs_.erase(found);
  return {};
}

}  // namespace slimgraph::internal
