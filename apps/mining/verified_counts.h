// --verify of the commands that count patterns: a serial computation on node 0 counts again.
#pragma once

#include <string>
#include <vector>

#include "apps/mining/mining_command.h"
#include "dkudu/plan/matching_order.h"
#include "dkudu/plan/pattern.h"

namespace slimgraph {

class VerifiedCounts {
 public:
  Option& Declare(Options& options);

  // The memory that node 0 takes to verify.
  std::uint64_t Bytes(const dkudu::MiningGraph& graph) const;
  // To be verified after the time was taken.
  void Add(dkudu::Pattern pattern, dkudu::Induced induced, std::uint64_t count) {
    counts_.push_back({std::move(pattern), induced, count});
  }
  // The step's `finish`, which verifies what was added.
  MiningWork Finish();

 private:
  struct Counted {
    dkudu::Pattern pattern;
    dkudu::Induced induced;
    std::uint64_t count;
  };
  bool wanted_ = false;
  std::vector<Counted> counts_;
};

}  // namespace slimgraph
