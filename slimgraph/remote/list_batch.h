// Lists of one part that travel together, and who fetches them. The requester says which lists it
// wants; a source brings their bytes and says where they are.
#pragma once

#include <cstdint>
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
};

struct ListBatch {
  // In ascending order of vertex.
  std::vector<ListItem> items;
  DelegatedLists* lists = nullptr;
  bool arrived = false;
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
  std::vector<std::uint32_t> wanted;  // items to ask for
  std::size_t answered = 0;           // of them
  std::size_t filled = 0;             // of `bytes`
  std::size_t answer_begin = 0;
};

class ListSource {
 public:
  virtual ~ListSource() = default;
  // Brings the items with `fetch`, in whatever time: then `arrived` is set, on this thread.
  virtual void Ask(ListBatch& batch) = 0;
  // What the thread's endpoint has told of `batch`.
  virtual Status Ended(ListBatch& batch, Outcome outcome) = 0;
  // Whether `node` can still bring what was asked of it.
  virtual Status Check(NodeId node) const = 0;
};

}  // namespace slimgraph
