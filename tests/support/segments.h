// Shared memory that outlives its users: what jobs have to leave none of.
#pragma once

#include <set>
#include <string>

namespace slimgraph {

// What there is under a name, in /dev/shm or of System V without users.
std::set<std::string> Segments();

// Those that have come since, stay, and are of no process that lives; "" if there are none. Other
// programs make some too, which go in time or are somebody's.
std::string SegmentsLeftSince(const std::set<std::string>& before);

}  // namespace slimgraph
