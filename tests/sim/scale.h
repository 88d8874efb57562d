// `simulate scale`: how the engines behave from a few to hundreds of simulated nodes.
#pragma once

namespace slimgraph::test {

// Prints a line of CSV for each point. Returns the exit code.
int MeasureScale(int argc, char** argv);

}  // namespace slimgraph::test
