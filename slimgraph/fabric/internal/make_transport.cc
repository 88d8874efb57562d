#include "slimgraph/fabric/internal/make_transport.h"

#include <algorithm>
#include <array>

namespace slimgraph {

// Used if the build has no libibverbs; see the Makefile.
#ifndef SLIMGRAPH_HAVE_VERBS
Result<std::unique_ptr<Transport>> MakeVerbsTransport(Job& /*job*/,
                                                      const FabricOptions& /*options*/) {
  return EnvironmentError(
      "--transport verbs: this slimgraph was built without rdma-core; install libibverbs-dev and "
      "build it anew, or use tcp");
}
#endif

namespace {

struct NamedTransport {
  std::string_view name;
  Result<std::unique_ptr<Transport>> (*make)(Job& job, const FabricOptions& options);
};
constexpr std::array kTransports = {
#ifdef SLIMGRAPH_SIM
    NamedTransport{"sim", MakeSimTransport},
    NamedTransport{"sim-datagrams", MakeSimDatagramTransport},
#endif
    NamedTransport{"shm", MakeShmTransport},
    NamedTransport{"tcp", MakeTcpTransport},
    NamedTransport{"mpi", MakeMpiTransport},
    NamedTransport{"verbs", MakeVerbsTransport}};

const NamedTransport* Find(std::string_view name) {
  const auto* const found =
      std::find_if(kTransports.begin(), kTransports.end(),
                   [&](const NamedTransport& one) { return one.name == name; });
  return found == kTransports.end() ? nullptr : found;
}

}  // namespace

Status CheckTransport(std::string_view name) {
  if (Find(name) != nullptr) return {};
  std::string names;
  for (const NamedTransport& one : kTransports) names += fmt::format(" {}", one.name);
  return UsageError("--transport {} is unknown; there are{}", name, names);
}

Result<std::unique_ptr<Transport>> MakeTransport(Job& job, const FabricOptions& options) {
  SLIM_TRY(CheckTransport(options.transport));
  return Find(options.transport)->make(job, options);
}

}  // namespace slimgraph
