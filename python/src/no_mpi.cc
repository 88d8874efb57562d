// Sessions do not use the mpi transport. The module defines its factory, so that the linker takes
// nothing of that transport from the library, and the module does not load MPI, whose libraries
// install signal handlers.
#include <memory>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

Result<std::unique_ptr<Transport>> MakeMpiTransport(Job& job, const FabricOptions& options);

Result<std::unique_ptr<Transport>> MakeMpiTransport(Job& /*job*/,
                                                    const FabricOptions& /*options*/) {
  return UsageError("the Python package has no transport mpi: give shm, tcp or verbs");
}

}  // namespace slimgraph
