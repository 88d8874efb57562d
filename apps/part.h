// What a command computes on a loaded graph, without loading it: `slimgraph run` does several such
// parts on one graph.
#pragma once

#include "apps/command.h"

namespace slimgraph {

class Part {
 public:
  virtual ~Part() = default;

  // Declares the options of the part itself, without those of the job and the graph.
  virtual void Declare(Options& options) = 0;
};

}  // namespace slimgraph
