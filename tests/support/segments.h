// Shared memory that outlives its processes: jobs must not leave any.
#pragma once

#include <set>
#include <string>

namespace slimgraph {

// All named segments in /dev/shm, and System V segments without users.
std::set<std::string> Segments();

// New segments since `before` that persist and that no living process has mapped; "" if there are
// none. Other programs also create segments; those disappear after a while or are mapped.
std::string SegmentsLeftSince(const std::set<std::string>& before);

}  // namespace slimgraph
