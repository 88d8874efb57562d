// Runs every kind of program in a session on random graphs, and compares with plain serial code.
#pragma once

#include <cstdint>

#include "slimgraph/session/session.h"

namespace slimgraph::test {

// On all compute nodes of a session alike. The graphs follow from the seed.
void CheckPrograms(Session& session, std::uint64_t seed);
void CheckSeveralGraphs(Session& session, std::uint64_t seed);
void CheckAlgorithms(Session& session, std::uint64_t seed);
void CheckNeighbourhoods(Session& session, std::uint64_t seed);
void CheckPatterns(Session& session, std::uint64_t seed);
void CheckMatches(Session& session, std::uint64_t seed);

}  // namespace slimgraph::test
