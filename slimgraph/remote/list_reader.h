// One thread's requester: fetches lists of memory nodes with one-sided reads, in batches of which
// several are in flight while the lists of another are worked on. Near-by lists travel as one
// range; what the edge cache has is not asked for, and what it takes in is read straight into it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "slimgraph/remote/delegated_lists.h"

namespace slimgraph {

class ListReader {
 public:
  // A batch should be started when it has this much; a single longer list is a batch of its own.
  static constexpr EdgeOffset kBatchArcs = 1 << 16;
  static constexpr std::size_t kBatchLists = 4096;

  explicit ListReader(Endpoint& endpoint) : endpoint_(endpoint) {}

  bool has_room() const { return busy_ < batches_.size(); }
  bool busy() const { return busy_ > 0; }

  // Asks for the lists of `vertices` of a part; takes their contents and leaves it empty. Needs
  // room.
  void Start(DelegatedLists& lists, std::vector<VertexId>& vertices);

  // visit(lists, v, neighbours) for all that has arrived; waits for at least one batch if asked to.
  template <typename Visit>
  Status Finish(bool wait, Visit visit);

  // How long this thread has had nothing to do but wait.
  std::uint64_t waited_ns() const { return waited_ns_; }

 private:
  enum class Stage { kFree, kOffsets, kLists, kReady };
  struct Item {
    VertexId v;
    EdgeOffset begin;
    EdgeOffset length;
    const VertexId* ids;
    const std::byte* weights;
  };
  struct Range {
    EdgeOffset begin;
    EdgeOffset end;
    EdgeOffset buffer;  // where it goes; of cached ones meaningless
    bool cached;
  };
  struct Batch {
    Stage stage = Stage::kFree;
    DelegatedLists* lists = nullptr;
    std::vector<VertexId> vertices;
    std::vector<Item> items;
    std::vector<Range> ranges;
    std::vector<VertexId> claimed;  // groups on their way into the cache
    std::vector<EdgeOffset> offsets;
    std::vector<VertexId> ids;
    std::vector<std::byte> weights;
  };

  void AskForOffsets(Batch& batch);
  void TakeOffsets(Batch& batch);
  void FindInIndex(Batch& batch);
  void PlanRanges(Batch& batch);
  // Whether items[first .. end) of one group are in the cache, or will be after this batch.
  bool GroupInCache(Batch& batch, VertexId group, std::size_t first, std::size_t end);
  void AddRange(Batch& batch, EdgeOffset begin, EdgeOffset end, bool cached);
  void AskForLists(Batch& batch);
  void PlaceItems(Batch& batch);
  void Settle(Batch& batch);
  Status Progress(bool wait);
  std::uint64_t TagOf(const Batch& batch) const {
    return static_cast<std::uint64_t>(&batch - batches_.data());
  }

  Endpoint& endpoint_;
  std::array<Batch, 3> batches_;
  std::size_t busy_ = 0;
  std::vector<Completion> ended_;
  std::uint64_t waited_ns_ = 0;
};

template <typename Visit>
Status ListReader::Finish(bool wait, Visit visit) {
  if (busy_ == 0) return {};
  SLIM_TRY(Progress(wait));
  for (Batch& batch : batches_) {
    if (batch.stage != Stage::kReady) continue;
    const std::size_t weight_bytes = batch.lists->place().weight_bytes;
    for (const Item& item : batch.items) {
      visit(*batch.lists, item.v,
            Neighbours{{item.ids, item.length}, weight_bytes == 0 ? nullptr : item.weights});
    }
    batch.stage = Stage::kFree;
    --busy_;
  }
  return {};
}

}  // namespace slimgraph
