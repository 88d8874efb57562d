#ifdef SLIMGRAPH_SIM
#include "tests/support/simulated_world.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "slimgraph/base/mix.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"

namespace slimgraph::test {
namespace {

const std::string kSecret = "what all nodes of this job know";
// With half of the seeds, threads interfere at atomics too.
bool HasPointsAtAtomics(std::uint64_t seed) { return Mix64(seed + 2) % 2 == 0; }

sim::SchedulerOptions OptionsOf(std::uint64_t seed, const LeftOut& left_out,
                                sim::SchedulerOptions options) {
  options.seed = Mix64(seed + (left_out.another_order << 32));
  options.points_at_atomics =
      left_out.points_at_atomics.value_or(!options.calibrated && HasPointsAtAtomics(seed));
  return options;
}

}  // namespace

// Each use has random numbers of its own, so that none depends on how many another has drawn.
World::World(std::uint64_t seed, LeftOut left_out, sim::SchedulerOptions options)
    : left_out_(std::move(left_out)),
      scheduler_(OptionsOf(seed, left_out_, options)),
      drawn_(Mix64(~seed)),
      seed_of_faults_(Mix64(seed) + 1) {}

NodeId World::DrawNodes(NodeId least, NodeId count) {
  const auto drawn = static_cast<NodeId>(least + Draw(count));
  return std::min(drawn, std::max(least, left_out_.most_nodes));
}

std::uint64_t World::DrawAmount(std::uint64_t least, std::uint64_t count) {
  return least + Draw(count) * left_out_.percent / 100;
}

// Clocks of nodes differ, by up to 10 s and 100 parts in a million.
void World::SetClocks(NodeId nodes) {
  constexpr std::uint64_t kMostAheadNs = 10'000 * kMs;
  constexpr std::int64_t kMostDrift = 100;
  const bool differ = Draw(2) == 0;
  for (NodeId node = 0; node < nodes; ++node) {
    const std::uint64_t ahead_ns = Draw(kMostAheadNs);
    const auto drift = static_cast<std::int64_t>(Draw(2 * kMostDrift)) - kMostDrift;
    if (differ) scheduler_.SetClock(node, {.ahead_ns = ahead_ns, .drift_ppm = drift});
  }
}

void World::StartNodes(NodeId nodes, std::function<void(NodeId)> body) {
  if (nodes_ == 0) SetClocks(nodes);
  nodes_ = nodes;
  hub_address_.clear();
  for (NodeId node = 0; node < nodes; ++node) {
    scheduler_.ReviveNode(node);
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
    std::mt19937_64 random(seed_of_faults_);
    const auto count = static_cast<std::uint32_t>(random() % (faults.most + 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      SleepFor(std::chrono::nanoseconds(random() % (faults.within_ns / count)));
      if (const auto fault = BeginFault()) MakeFault(faults, i, *fault);
    }
  });
}

std::optional<RandomOfFault> World::BeginFault() {
  const std::uint32_t number = faults_begun_++;
  if (left_out_.faults.contains(number)) return std::nullopt;
  return RandomOfFault(seed_of_faults_ ^ Mix64(number + 1));
}

void World::MakeFault(const Faults& faults, std::uint32_t number, RandomOfFault random) {
  const auto below = [&random](std::uint64_t limit) { return random.Below(limit); };
  const auto first = static_cast<NodeId>(faults.spares_hub ? 1 : 0);
  const auto node = static_cast<NodeId>(first + below(nodes_ - first));
  const std::uint64_t length_ns = below(2) == 0 ? below(100 * kMs) : below(faults.longest_ns);
  switch (below(3)) {
    case 0:
      if (!faults.kills || killed(node)) return;
      Note(fmt::format("fault {}: kills node {}", number, node));
      scheduler_.EndNode(node, 128 + SIGKILL);
      break;
    case 1:
      if (!faults.stops || killed(node)) return;
      Note(fmt::format("fault {}: stops node {} for {} ms", number, node, length_ns / kMs));
      scheduler_.PauseNode(node, length_ns);
      break;
    default: {
      if (!faults.cuts) return;
      const auto other = static_cast<NodeId>(below(nodes_));
      if (other == node) return;
      Note(fmt::format("fault {}: cuts the link from {} to {} for {} ms", number, node, other,
                       length_ns / kMs));
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
