// Lists of one part that travel together, and who fetches them. The requester says which lists it
// wants; a source brings their bytes and says where they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slimgraph/remote/delegated_lists.h"

namespace slimgraph {

struct ListItem {
  VertexId v = 0;
  bool visit = false;            // the requester wants it
  bool fetch = false;            // it is not at hand
  bool keep = false;             // it goes into the edge cache
  EdgeOffset length = 0;         // known to the requester if it has an index,
  EdgeOffset first_arc = 0;      //
  std::uint64_t first_byte = 0;  // else to the source
  std::size_t coded_at = 0;      // in the batch's bytes; told by the source
  std::size_t weights_at = 0;
  std::size_t decoded_at = 0;  // by the requester
};

// What travels at a time, unless a single list has more.
constexpr EdgeOffset kMaxBatchArcs = 1 << 18;

struct ListBatch {
  // In ascending order of vertex.
  std::vector<ListItem> items;
  DelegatedLists* lists = nullptr;
  // Items travel in turns, for bytes are bounded and lengths maybe not known before: those from
  // `begin` to `end` now. The requester begins anew where it ends.
  std::size_t begin = 0;
  std::size_t end = 0;
  bool arrived = false;
  std::span<ListItem> travelling() { return std::span(items).subspan(begin, end - begin); }
  std::vector<std::byte> bytes;  // what has come, and ListCode::kSlackBytes

  // For sources alone.
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::size_t into;  // in `bytes`, or in `places`
  };
  std::uint64_t number = 0;  // of the batch, for the completions of operations
  bool placing = false;      // places are on their way
  std::vector<Range> ranges;
  std::vector<PlaceGroup> places;
  std::vector<std::size_t> asked;  // items
  std::size_t filled = 0;          // of `bytes`
};

class ListSource {
 public:
  virtual ~ListSource() = default;
  // Brings those items with `fetch` from `begin` on that bytes suffice for, but one at least. When
  // they are there, `end` and `arrived` are set, on this thread.
  virtual void Ask(ListBatch& batch) = 0;
  // What the thread's endpoint has told of `batch`.
  virtual Status Ended(ListBatch& batch, Outcome outcome) = 0;
  // Whether `node` can still bring what was asked of it.
  virtual Status Check(NodeId node) const = 0;
};

}  // namespace slimgraph
