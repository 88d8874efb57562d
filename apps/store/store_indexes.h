// The indexes of a store, as options and in words.
#pragma once

#include <string>
#include <vector>

#include "apps/command.h"
#include "txnlayer/graph_model/property_index.h"

namespace slimgraph {

void DeclareIndexes(Options& options, const char* name, std::vector<txn::PropertyIndex>& indexes);
std::string IndexesInWords(const std::vector<txn::PropertyIndex>& indexes);

}  // namespace slimgraph
