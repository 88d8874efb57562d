// Keeps the lists that D-Kudu mines in the graph's .slim file (slim_format.h), so that no job has
// to make them again. Their ranks are the degree order.
#pragma once

#include <cstddef>

#include "slimgraph/files/ranked_sections.h"

namespace slimgraph::dkudu {

Result<RankedSections> MakeRankedLists(const GraphSource& graph, std::size_t threads);

// Whether the file's ranked lists are those of its graph. `threads` = 0 uses every processor.
Status CheckRankedLists(const GraphSource& file, std::size_t threads = 0);

}  // namespace slimgraph::dkudu
