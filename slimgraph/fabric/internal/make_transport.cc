#include "slimgraph/fabric/internal/make_transport.h"

#include "slimgraph/fabric/internal/mpi_transport.h"
#include "slimgraph/fabric/internal/shm_transport.h"
#include "slimgraph/fabric/internal/tcp_transport.h"

namespace slimgraph {

Result<std::unique_ptr<Transport>> MakeTransport(std::string_view name, Job& job,
                                                 std::uint32_t endpoints) {
  if (name == "shm") return MakeShmTransport(job, endpoints);
  if (name == "tcp") return MakeTcpTransport(job, endpoints);
  if (name == "mpi") return MakeMpiTransport(job, endpoints);
  return UsageError("--transport {} is unknown; there are shm, tcp, mpi", name);
}

}  // namespace slimgraph
