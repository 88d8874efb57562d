#ifdef SLIMGRAPH_SIM
#include "tests/support/simulated_world.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"

namespace slimgraph::test {
namespace {

const std::string kSecret = "what all nodes of this job know";

}  // namespace

void World::StartNodes(NodeId nodes, std::function<void(NodeId)> body) {
  nodes_ = nodes;
  for (NodeId node = 0; node < nodes; ++node) {
    scheduler_.Start(node, "main", [this, node, body] {
      body(node);
      Note("ends");
    });
  }
}

Result<std::unique_ptr<Job>> World::Join(OnLoss on_loss) {
  JoinConfig config;
  config.self = scheduler_.node();
  config.nodes = nodes_;
  config.secret = kSecret;
  if (config.self == 0) {
    SLIM_ASSIGN(config.listener, ListenTcp("0.0.0.0"));
    const SocketAddress own = LocalAddress(config.listener.get());
    hub_address_ = fmt::format("{}:{}", own.host(), own.port());
  } else {
    // A launcher starts nodes at different times, and they know the hub only once it listens.
    SleepFor(std::chrono::nanoseconds(Random(50 * kMs)));
    while (hub_address_.empty()) {
      if (killed(0)) return EnvironmentError("the hub died before it listened");
      SleepFor(std::chrono::milliseconds(1));
    }
    config.hub_address = hub_address_;
  }
  return Job::Join(std::move(config), on_loss);
}

void World::StartFaults(const Faults& faults) {
  if (faults.most == 0) return;
  // A node of its own, which is not part of any job.
  scheduler_.Start(nodes_, "faults", [this, faults] {
    const std::uint64_t count = Random(faults.most + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      SleepFor(std::chrono::nanoseconds(Random(faults.within_ns / count)));
      MakeFault(faults);
    }
  });
}

void World::MakeFault(const Faults& faults) {
  const auto first = static_cast<NodeId>(faults.spares_hub ? 1 : 0);
  const auto node = static_cast<NodeId>(first + Random(nodes_ - first));
  const std::uint64_t length_ns = Random(2) == 0 ? Random(100 * kMs) : Random(faults.longest_ns);
  switch (Random(3)) {
    case 0:
      if (!faults.kills || killed(node)) return;
      Note(fmt::format("kills node {}", node));
      scheduler_.EndNode(node, 128 + SIGKILL);
      break;
    case 1:
      if (!faults.stops || killed(node)) return;
      Note(fmt::format("stops node {} for {} ms", node, length_ns / kMs));
      scheduler_.PauseNode(node, length_ns);
      break;
    default: {
      if (!faults.cuts) return;
      const auto other = static_cast<NodeId>(Random(nodes_));
      if (other == node) return;
      Note(fmt::format("cuts the link from {} to {} for {} ms", node, other, length_ns / kMs));
      scheduler_.network().Cut(node, other);
      scheduler_.Start(nodes_, "healer", [this, node, other, length_ns] {
        SleepFor(std::chrono::nanoseconds(length_ns));
        scheduler_.network().Heal(node, other);
      });
    }
  }
  ++faults_made_;
}

void World::Note(std::string what) {
  story_.push_back({scheduler_.now_ns(), scheduler_.node(), std::move(what)});
}

}  // namespace slimgraph::test
#endif
