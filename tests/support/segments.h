// Shared memory that outlives its processes: jobs must not leave any.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace slimgraph {

// All named segments in /dev/shm, and for jobs over `transport` mpi System V segments without
// users. Only MPI makes these, and an MPI process that is killed as it begins may leave one.
std::set<std::string> Segments(std::string_view transport);

// New segments since `before` that persist and that no living process has mapped; "" if there are
// none. Other programs also create segments; those disappear after a while or are mapped.
std::string SegmentsLeftSince(const std::set<std::string>& before, std::string_view transport);

}  // namespace slimgraph
