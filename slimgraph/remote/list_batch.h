// A batch of lists of one part that are fetched together, and the interface of sources that fetch
// them. The requester says which lists it wants. A source fetches their bytes into the batch, and
// sets where each list is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slimgraph/remote/delegated_lists.h"

namespace slimgraph {

struct ListItem {
  VertexId v = 0;
  bool visit = false;  // the requester wants the list
  bool fetch = false;  // the list must be fetched
  bool fill = false;   // the list goes into the edge cache
  // The list is in the edge cache, or will be after the fetch: decoded, or coded at this place.
  bool cached_decoded = false;
  std::byte* cached_coded = nullptr;
  // The requester sets these three if it has an index; otherwise the source sets what it needs.
  EdgeOffset length = 0;
  EdgeOffset first_arc = 0;
  std::uint64_t first_byte = 0;
  std::size_t coded_at = 0;    // in the batch's bytes; the source sets it
  std::size_t weights_at = 0;  // as coded_at
  std::size_t decoded_at = 0;  // the requester sets it
};

// The most items that a batch has at a time, if it has an index. They fit into the second cache.
constexpr std::size_t kMaxBatchItems = 8192;

// The most arcs that are in flight for one batch, unless a single list has more.
constexpr EdgeOffset kMaxBatchArcs = 1 << 18;

struct ListBatch {
  // What the requester wants, in strictly ascending order. `planned` of them are items, or were.
  std::vector<VertexId> wanted;
  std::size_t planned = 0;
  // In strictly ascending order of vertices. Sources rely on this order.
  std::vector<ListItem> items;
  DelegatedLists* lists = nullptr;
  // Items are fetched in rounds, because their bytes are bounded and the requester may not know the
  // lengths. This round has the items begin .. end-1; the next round begins at `end`.
  std::size_t begin = 0;
  std::size_t end = 0;
  bool arrived = false;
  std::span<ListItem> travelling() { return std::span(items).subspan(begin, end - begin); }
  std::vector<std::byte> bytes;  // the fetched bytes, then ListCode::kSlackBytes

  // Only sources use the following members.
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::size_t into;  // the position in `bytes` or in `offset_groups`
  };
  std::uint64_t number = 0;      // of this batch; the tag of its operations
  bool reading_offsets = false;  // reads of `offset_groups` are in flight
  std::vector<Range> ranges;
  std::vector<OffsetGroup> offset_groups;
  std::vector<std::size_t> requested;  // the indices of the requested items
  std::size_t filled = 0;              // how much of `bytes` has arrived
};

class ListSource {
 public:
  virtual ~ListSource() = default;
  // Starts to fetch the items with `fetch` from `begin` on: as many as the byte limit allows, and
  // at least one. When they have arrived, `end` and `arrived` are set on this thread.
  virtual void StartFetch(ListBatch& batch) = 0;
  // Handles a completion of `batch` that the thread's endpoint has reported.
  virtual Status HandleCompletion(ListBatch& batch, Outcome outcome) = 0;
  // An error if `node` may never answer the requests that were sent to it.
  virtual Status CheckAlive(NodeId node) const = 0;
};

}  // namespace slimgraph
