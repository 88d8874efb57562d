// Fetches lists with one-sided reads only; lists that are close together are read as one range.
// Without an index, it first reads the offsets of the lists. The memory node's processor does
// nothing.
#pragma once

#include "slimgraph/remote/list_batch.h"

namespace slimgraph {

class OneSidedSource : public ListSource {
 public:
  // Gaps of so many bytes between lists cost less to read than a further operation.
  static constexpr std::uint64_t kGapBytes = 64;

  explicit OneSidedSource(Endpoint& endpoint) : endpoint_(endpoint) {}

  void StartFetch(ListBatch& batch) override;
  Status HandleCompletion(ListBatch& batch, Outcome outcome) override;
  // Always succeeds: reads from a lost node fail, and their completions report it.
  Status CheckAlive(NodeId) const override { return {}; }

 private:
  void ReadOffsets(ListBatch& batch);
  void TakeOffsets(ListBatch& batch);
  void ReadLists(ListBatch& batch);
  // `begin`: where the part begins in the region. `last`: the completion of the last range
  // completes the batch.
  void ReadRanges(ListBatch& batch, const std::vector<ListBatch::Range>& ranges, RegionId region,
                  std::uint64_t begin, bool last);

  Endpoint& endpoint_;
};

}  // namespace slimgraph
