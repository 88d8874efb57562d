// Reads ranges of another node's regions by message: its processor copies them into replies. For
// memory that no transaction changes, where the stage code says that reads are two-sided.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/fabric/fabric.h"
#include "txnlayer/internal/execution/worker.h"

namespace slimgraph::txn {

class RangeReads {
 public:
  // Adds a range to what is read next, in as many requests as it takes. `into` receives it.
  void Add(RegionId region, std::uint64_t offset, MutableBytes into);
  // Reads all that was added. False: the node has died, or the worker has failed.
  bool Run(Task& task, const EndpointAddress& server);

  // At home: appends the ranges of such a request to `reply`.
  static void Serve(Fabric& fabric, std::uint16_t ranges, Bytes request,
                    std::vector<std::byte>& reply);

 private:
  struct Range {
    std::uint64_t region;
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  // In the order of the ranges in the requests.
  struct Piece {
    std::size_t call;
    MutableBytes into;
  };

  std::deque<Call> calls_;  // the worker refers to them; the first used_ are in use
  std::size_t used_ = 0;
  std::size_t room_ = 0;  // for bytes in the reply to the last one
  std::vector<Piece> pieces_;
};

}  // namespace slimgraph::txn
