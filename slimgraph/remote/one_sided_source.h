// Lists by one-sided reads alone: near-by ones travel as one range. Without an index, where they
// lie is read first. The memory node takes no part in it.
#pragma once

#include "slimgraph/remote/list_batch.h"

namespace slimgraph {

class OneSidedSource : public ListSource {
 public:
  explicit OneSidedSource(Endpoint& endpoint) : endpoint_(endpoint) {}

  void Ask(ListBatch& batch) override;
  Status Ended(ListBatch& batch, Outcome outcome) override;
  // Its operations fail, and say so.
  Status Check(NodeId) const override { return {}; }

 private:
  void AskForPlaces(ListBatch& batch);
  void TakePlaces(ListBatch& batch);
  void AskForLists(ListBatch& batch);
  // `last`: their end is that of the batch.
  void ReadRanges(ListBatch& batch, const std::vector<ListBatch::Range>& ranges, RegionId region,
                  bool last);

  Endpoint& endpoint_;
};

}  // namespace slimgraph
