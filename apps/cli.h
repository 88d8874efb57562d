// Parses the command line and runs the command that it names. The commands themselves are in the
// folders of their families.
#pragma once

namespace slimgraph {

// Returns the exit code: 0 done · 1 the verification failed · 2 wrong usage · 3 bad input · 4 the
// environment.
int RunCommand(int argc, char** argv);

}  // namespace slimgraph
