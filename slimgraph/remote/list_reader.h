// Fetches lists of memory nodes for one thread, in batches. Several batches are in flight while the
// thread works on the lists of another. Lists in the edge cache are not fetched. Lists that go into
// the cache decoded are decoded straight into it; all others are decoded just before their visit.
//
// The batch size adapts until work on other batches hides the latency of a batch: it grows after a
// wait and shrinks without one.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "slimgraph/base/waits.h"
#include "slimgraph/remote/list_batch.h"
#include "slimgraph/remote/served_source.h"

namespace slimgraph {

struct FetchTimes {
  std::uint64_t under_way_ns = 0;  // how long the thread had batches in flight
  std::uint64_t waited_ns = 0;     // how much of that it waited without other work
};

class ListReader {
 public:
  static constexpr std::size_t kBatches = 3;

  // With `answers`, it requests lists from the memory nodes' servers; if null, it uses one-sided
  // reads. `naive`: each list is a batch, and only one is in flight.
  ListReader(Endpoint& endpoint, Fabric& fabric, ListAnswers* answers, bool naive);
  ListReader(const ListReader&) = delete;
  ListReader& operator=(const ListReader&) = delete;
  // After an error, waits until the reads in flight are complete.
  ~ListReader();

  bool naive() const { return naive_; }
  bool has_room() const { return busy_ < (naive_ ? 1 : batches_.size()); }
  bool busy() const { return busy_ > 0; }

  // Whether `lists` lists with `arcs` arcs are enough for a batch. A single longer list is a batch
  // of its own.
  bool IsBatch(std::size_t lists, EdgeOffset arcs) const {
    return arcs >= batch_arcs_ || lists >= kBatchLists || naive_;
  }

  // Starts to fetch the lists of `vertices`, which may be in any order, and clears `vertices`.
  // Duplicate vertices are visited once. Requires has_room().
  void StartFetch(DelegatedLists& lists, std::vector<VertexId>& vertices);

  // Calls visit(lists, v, neighbours) for all lists that have arrived. With `wait`, it first waits
  // until at least one batch has arrived.
  template <typename Visit>
  Status VisitArrived(bool wait, Visit visit);

  const FetchTimes& times() const { return times_; }

 private:
  static constexpr EdgeOffset kMinBatchArcs = 1 << 14;
  static constexpr std::size_t kBatchLists = 4096;

  // Makes the next of the wanted lists the batch's items, and starts to fetch them.
  void StartNextItems(ListBatch& batch);
  void PlanWithIndex(ListBatch& batch);
  // Claims the group for the cache if the cache is to take it, now that these of its lists are
  // needed. If the result is kDecoded or kCoded, the whole group must be fetched.
  EdgeCache::Form ClaimGroup(ListBatch& batch, VertexId group, std::span<const ListItem> wanted);
  static void Decode(const ListBatch& batch, const ListItem& item, std::span<VertexId> into);
  // Where the weights of a list that is cached coded are in the cache.
  static std::byte* CachedWeights(const ListBatch& batch, const ListItem& item);
  // The weights of a list that is not cached decoded.
  static const std::byte* Weights(const ListBatch& batch, const ListItem& item);
  // Puts the arrived lists of claimed groups into the cache.
  void FillCache(ListBatch& batch);
  // Starts the next round of a batch. After the last round of its items, publishes the claimed
  // groups. After the last items, frees the batch.
  void StartNextRound(ListBatch& batch);
  Status Progress(bool wait);
  // Waits for up to one second. If nothing arrives, it registers `waiting` as a long wait.
  Status WaitForArrival(Waiting& waiting);
  std::string DescribeWait() const;
  const ListBatch* ArrivedBatch() const;
  // Decodes items from the i-th on, as many as fit into the processor's cache. Returns the first
  // item that it has not decoded.
  std::size_t DecodeFrom(ListBatch& batch, std::size_t i);
  Neighbours Find(const ListBatch& batch, const ListItem& item) const;

  Endpoint& endpoint_;
  std::array<ListBatch, kBatches> batches_;
  struct Claimed {
    VertexId group;
    EdgeCache::Form form;
  };
  std::array<std::vector<Claimed>, kBatches> claimed_;  // by batch: groups claimed for the cache
  std::unique_ptr<ListSource> source_;
  bool naive_;
  std::size_t busy_ = 0;
  EdgeOffset batch_arcs_ = 1 << 16;
  std::vector<VertexId> decoded_;
  std::size_t decoded_count_ = 0;
  std::vector<Completion> ended_;
  FetchTimes times_;
  std::uint64_t under_way_since_ns_ = 0;
};

template <typename Visit>
Status ListReader::VisitArrived(bool wait, Visit visit) {
  if (busy_ == 0) return {};
  SLIM_TRY(Progress(wait));
  for (ListBatch& batch : batches_) {
    if (!batch.arrived) continue;
    FillCache(batch);
    for (std::size_t i = batch.begin; i < batch.end;) {
      const std::size_t next = DecodeFrom(batch, i);
      for (; i < next; ++i) {
        const ListItem& item = batch.items[i];
        if (item.visit) visit(*batch.lists, item.v, Find(batch, item));
      }
    }
    StartNextRound(batch);
  }
  return {};
}

}  // namespace slimgraph
