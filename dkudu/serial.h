// The figures of vertices by simple serial code over a whole graph. Results of the engine are
// verified against it.
#pragma once

#include <vector>

#include "dkudu/local.h"
#include "slimgraph/files/csr.h"

namespace slimgraph::dkudu::serial {

// By dense id. Self-loops and duplicate edges are ignored.
std::vector<LocalFigures> Local(const Csr& out_lists, bool directed);

}  // namespace slimgraph::dkudu::serial
