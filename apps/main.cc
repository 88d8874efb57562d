// The `slimgraph` command.
#include "apps/cli.h"

int main(int argc, char** argv) { return slimgraph::RunCommand(argc, argv); }
