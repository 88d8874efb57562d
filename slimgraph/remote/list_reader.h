// One thread's requester: fetches lists of memory nodes in batches, of which several are in flight
// while the lists of another are worked on. What the edge cache has is not asked for, and what it
// takes in is decoded straight into it; other lists are decoded one by one, just before their
// visit.
//
// Batches are as large as they need to be for what they take on the way to be hidden behind the
// work on others: larger after a wait, smaller without.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "slimgraph/remote/list_batch.h"
#include "slimgraph/remote/served_source.h"

namespace slimgraph {

// How long a thread has had lists on their way, and how much of this it has had nothing else to do.
struct FetchTimes {
  std::uint64_t under_way_ns = 0;
  std::uint64_t waited_ns = 0;
};

class ListReader {
 public:
  static constexpr std::size_t kBatches = 3;

  // `answers`: asks the memory nodes' servers; null: reads by itself.
  ListReader(Endpoint& endpoint, Fabric& fabric, ListAnswers* answers);
  ListReader(const ListReader&) = delete;
  ListReader& operator=(const ListReader&) = delete;

  bool has_room() const { return busy_ < batches_.size(); }
  bool busy() const { return busy_ > 0; }

  // Whether so many lists of so many arcs should be asked for without waiting for more. A single
  // longer list is a batch of its own.
  bool IsBatch(std::size_t lists, EdgeOffset arcs) const {
    return arcs >= batch_arcs_ || lists >= kBatchLists;
  }

  // Asks for the lists of `vertices` of a part; leaves it empty. Needs room.
  void Start(DelegatedLists& lists, std::vector<VertexId>& vertices);

  // visit(lists, v, neighbours) for all that has arrived; waits for at least one batch if asked to.
  template <typename Visit>
  Status Finish(bool wait, Visit visit);

  const FetchTimes& times() const { return times_; }

 private:
  static constexpr EdgeOffset kMinBatchArcs = 1 << 14;
  static constexpr std::size_t kBatchLists = 4096;

  void Plan(ListBatch& batch, std::vector<VertexId>& vertices);
  void PlanInIndex(ListBatch& batch, std::span<const VertexId> wanted);
  // Whether the wanted vertices of a group, whose lists have so many arcs, should go into the cache
  // with all of the group.
  bool Claims(ListBatch& batch, VertexId group, EdgeOffset wanted_arcs);
  // What has come into the cache, as far as it goes there.
  void Keep(ListBatch& batch);
  // Asks for the rest of a batch, or ends it.
  void GoOn(ListBatch& batch);
  Status Progress(bool wait);
  Status AwaitNews();
  const ListBatch* ArrivedBatch() const;
  // Decodes items from the i-th on, as many as stay near the processor; the first that is not.
  std::size_t DecodeFrom(ListBatch& batch, std::size_t i);
  Neighbours Find(const ListBatch& batch, const ListItem& item) const;

  Endpoint& endpoint_;
  std::array<ListBatch, kBatches> batches_;
  std::array<std::vector<VertexId>, kBatches> claimed_;  // by batch: groups that go into the cache
  std::unique_ptr<ListSource> source_;
  std::size_t busy_ = 0;
  EdgeOffset batch_arcs_ = 1 << 16;
  std::vector<VertexId> decoded_;
  std::size_t decoded_count_ = 0;
  std::vector<Completion> ended_;
  FetchTimes times_;
  std::uint64_t under_way_since_ns_ = 0;
};

template <typename Visit>
Status ListReader::Finish(bool wait, Visit visit) {
  if (busy_ == 0) return {};
  SLIM_TRY(Progress(wait));
  for (ListBatch& batch : batches_) {
    if (!batch.arrived) continue;
    Keep(batch);
    for (std::size_t i = batch.begin; i < batch.end;) {
      const std::size_t next = DecodeFrom(batch, i);
      for (; i < next; ++i) {
        const ListItem& item = batch.items[i];
        if (item.visit) visit(*batch.lists, item.v, Find(batch, item));
      }
    }
    GoOn(batch);
  }
  return {};
}

}  // namespace slimgraph
