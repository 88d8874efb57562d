#include "apps/measure/build_facts.h"

#ifndef SLIMGRAPH_COMMIT
#define SLIMGRAPH_COMMIT ""
#endif

namespace slimgraph {

std::string VersionAndCommit() {
  const std::string commit = SLIMGRAPH_COMMIT;
  return std::string(SLIMGRAPH_VERSION) +
         (commit.empty() ? ", built outside of a repository" : ", commit " + commit);
}

}  // namespace slimgraph
