// The command line: which command, with which options. Each command's own work is in the file of
// its name beside this one.
#pragma once

namespace slimgraph {

// Returns the exit code: 0 done · 1 the verification failed · 2 wrong usage · 3 bad input · 4 the
// environment.
int RunCommand(int argc, char** argv);

}  // namespace slimgraph
