// Fetches lists as simply as possible, for comparison: whether a list has neighbours, then where it
// begins, then the list, each by a read of its own. The reader has one list in flight at a time.
#pragma once

#include "slimgraph/remote/one_sided_source.h"

namespace slimgraph {

class NaiveSource : public OneSidedSource {
 public:
  explicit NaiveSource(Endpoint& endpoint) : OneSidedSource(endpoint), endpoint_(endpoint) {}

  void StartFetch(ListBatch& batch) override;
  Status HandleCompletion(ListBatch& batch, Outcome outcome) override;

 private:
  Endpoint& endpoint_;
  bool asking_ = false;  // a read of length_ is in flight
  std::uint32_t length_ = 0;
};

}  // namespace slimgraph
