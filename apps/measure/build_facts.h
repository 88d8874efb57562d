// Facts about how this program was built.
#pragma once

#include <string>

namespace slimgraph {

// "0.1.0, commit abc"
std::string VersionAndCommit();

}  // namespace slimgraph
