#include "slimgraph/fabric/network_model.h"

#include <algorithm>
#include <array>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

namespace {

constexpr std::array kNetworks = {NetworkSpec{"none", 0, 0}, NetworkSpec{"fdr", 1'700, 6.0},
                                  NetworkSpec{"edr", 1'200, 11.5}, NetworkSpec{"efa", 16'000, 11.5},
                                  NetworkSpec{"tcp10", 50'000, 1.1}};

const NetworkSpec* Find(std::string_view name) {
  const auto* const found = std::find_if(kNetworks.begin(), kNetworks.end(),
                                         [&](const NetworkSpec& one) { return one.name == name; });
  return found == kNetworks.end() ? nullptr : found;
}

}  // namespace

Status CheckNetwork(std::string_view name) {
  if (Find(name) != nullptr) return {};
  std::string names;
  for (const NetworkSpec& one : kNetworks) names += fmt::format(" {}", one.name);
  return UsageError("--network {} is unknown; there are{}", name, names);
}

NetworkModel::~NetworkModel() = default;

Result<std::unique_ptr<NetworkModel>> NetworkModel::Open(Job& job, std::string_view name) {
  SLIM_TRY(CheckNetwork(name));
  const NetworkSpec* const spec = Find(name);
  if (spec->latency_ns == 0) return std::unique_ptr<NetworkModel>();
  if (!job.one_host()) {
    return UsageError("--network {} imitates a network on one machine; this job has a real one",
                      name);
  }
  std::unique_ptr<NetworkModel> model(new NetworkModel);
  model->spec_ = *spec;
  model->self_ = job.self();
  std::string handle;
  if (job.self() == 0) {
    SLIM_ASSIGN(model->memory_, SharedMemory::Create(job.nodes() * sizeof(Adapter)));
    handle = model->memory_->handle();
  }
  SLIM_ASSIGN(const auto handles, job.Exchange(handle));
  if (job.self() != 0) {
    SLIM_ASSIGN(model->memory_, SharedMemory::Open(handles[0]));
  }
  // Zeroed memory is an adapter that has always been free.
  model->adapters_ = reinterpret_cast<Adapter*>(model->memory_->base());
  SLIM_TRY(job.Exchange(""));
  return model;
}

std::uint64_t NetworkModel::Occupy(std::atomic<std::uint64_t>& free_ns, std::uint64_t from_ns,
                                   std::uint64_t bytes) const {
  const auto needed_ns =
      static_cast<std::uint64_t>(static_cast<double>(bytes) / spec_.bytes_per_ns);
  std::uint64_t seen = free_ns.load();
  while (true) {
    const std::uint64_t end = std::max(seen, from_ns) + needed_ns;
    if (free_ns.compare_exchange_weak(seen, end)) return end;
  }
}

// A transfer occupies the sender's outgoing side and the receiver's incoming side; the one that is
// free later determines its end.
std::uint64_t NetworkModel::Book(NodeId peer, std::uint64_t out_bytes, std::uint64_t in_bytes) {
  const std::uint64_t now = SharedNowNs();
  const std::uint64_t out = std::max(Occupy(adapters_[self_].out_free_ns, now, out_bytes),
                                     Occupy(adapters_[peer].in_free_ns, now, out_bytes));
  if (in_bytes == 0) return out + spec_.latency_ns;
  const std::uint64_t in = std::max(Occupy(adapters_[peer].out_free_ns, now, in_bytes),
                                    Occupy(adapters_[self_].in_free_ns, now, in_bytes));
  return std::max(out, in) + spec_.latency_ns;
}

}  // namespace slimgraph
