// Lists of a standing pool as D-Kudu mines them: made once from the graph's file, then read by any
// number of jobs. Each node of the pool is a home (mining_graph.h) and keeps one part.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dkudu/internal/graph/file_lists.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph::dkudu {

// A pool keeps each kind of lists as a view of its own, under this name: "upper", "all" or "arcs".
std::string_view ViewName(ListPart part);
Result<ListPart> PartOfView(std::string_view name);

// Makes the lists of home `home` of `homes`.
Result<StandingPart> LoadStandingLists(const std::string& path, const std::string& shown,
                                       ListPart part, NodeId home, NodeId homes);

// One home's lists in the memory of a pool.
class StandingLists {
 public:
  // A home's lists are described to other nodes by a head, then the length of each list, then the
  // dense id of each list's vertex.
  struct Head {
    DegreeSums sums;
    EdgeOffset arcs = 0;  // in the lists as they are kept
  };
  static std::uint64_t DescriptionBytes(VertexId count) {
    return sizeof(Head) + count * (sizeof(std::uint32_t) + sizeof(VertexId));
  }

  // The memories must outlive the fabric of the job.
  static Result<StandingLists> Open(const std::string& facts,
                                    std::span<const std::unique_ptr<SharedMemory>> memories);

  ListPart part() const { return part_; }
  // The memories of a part, by number.
  static constexpr std::size_t kDescription = 0;
  static constexpr std::size_t kLists = 1;
  const SharedMemory& description() const { return *memories_[kDescription]; }
  const SharedMemory& lists() const { return *memories_[kLists]; }

 private:
  ListPart part_ = ListPart::kAll;
  std::span<const std::unique_ptr<SharedMemory>> memories_;
};

}  // namespace slimgraph::dkudu
