#include "tests/sim/engines.h"

#include "tests/support/list_append_checker.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {

EngineSetting DrawEngine(World& world, NodeId nodes) {
  EngineSetting drawn;
  drawn.compute = static_cast<NodeId>(1 + world.Draw(nodes));
  drawn.threads = static_cast<std::uint32_t>(1 + world.Draw(2));
  drawn.transport = DrawTransport(world, nodes);
  drawn.protocol =
      OneOf(world, {"nowait", "waitdie", "boundedwait", "occ", "to", "mvcc", "sundial", "calvin"});
  const auto protocol = Unwrap(txn::MakeProtocol(drawn.protocol));
  for (std::size_t i = 0; i < protocol->stages().size(); ++i) {
    drawn.stages += OneOf(world, {"0", "1"});
  }
  constexpr txn::Timestamps kOthers[] = {txn::Timestamps::kGlobal, txn::Timestamps::kVector};
  const bool other = world.Draw(4) == 0;
  const txn::ProtocolOptions timed{.timestamps =
                                       other ? kOthers[world.Draw(2)] : txn::Timestamps::kDst};
  if (world.Draw(2) == 0 && txn::MakeProtocol(drawn.protocol, timed)) {
    drawn.concurrency = timed;
    drawn.options.version_bytes = 16 << 10;  // little, so that it becomes full
    drawn.hasty = static_cast<NodeId>(world.Draw(nodes));
    drawn.ahead_us = world.Draw(2) * world.Draw(300);
  }
  return drawn;
}

void DrawConcurrency(World& world, const std::string& workload, EngineSetting& setting) {
  constexpr std::uint64_t kTimeouts[] = {100'000, 2'000'000, 100'000'000};
  setting.concurrency.lock_timeout_ns = kTimeouts[world.Draw(3)];
  if (setting.concurrency.timestamps != txn::Timestamps::kNone) return;
  const auto level = static_cast<txn::Isolation>(world.Draw(3));
  const bool on_graph = workload != "list-append" && workload != "smallbank";
  if (on_graph || !txn::MakeProtocol(setting.protocol, {.isolation = level})) return;
  setting.concurrency.isolation = level;
}

std::unique_ptr<Cluster> StartCluster(Job& job, const EngineSetting& setting) {
  return Unwrap(Cluster::Start(
      job,
      {.compute = setting.compute, .threads = setting.threads, .transport = setting.transport}));
}

StartedEngine StartEngine(Cluster& cluster, const EngineSetting& setting) {
  auto protocol = Unwrap(txn::MakeProtocol(setting.protocol, setting.concurrency));
  txn::EngineOptions options = setting.options;
  options.stages =
      Unwrap(txn::StageCode::Parse(setting.stages, protocol->name(), protocol->stages()));
  if (protocol->has_atomics() && !cluster.fabric().atomics_by_processor()) {
    options.stages = txn::StageCode::All(/*one_sided=*/true);
    options.mix_stages = false;
  }
  Unwrap(txn::SwitchOff(setting.without, options));
  if (cluster.self() == setting.hasty) options.clock_ahead_us = setting.ahead_us;
  auto engine = Unwrap(txn::Engine::Make(cluster, *protocol, options));
  return {std::move(protocol), std::move(engine)};
}

void CheckHistory(World& world, Cluster& cluster, const txn::Workload& workload,
                  const EngineSetting& setting, const std::vector<std::string>& journals) {
  if (workload.history() == nullptr) return;
  const auto lines = Unwrap(workload.history()->Gather(cluster.all(), journals));
  const txn::Isolation isolation = setting.concurrency.isolation;
  const bool strict = setting.concurrency.timestamps == txn::Timestamps::kNone &&
                      setting.protocol != "to" && setting.protocol != "mvcc" &&
                      setting.protocol != "sundial";
  const Level level = isolation == txn::Isolation::kReadCommitted    ? Level::kReadCommitted
                      : isolation == txn::Isolation::kRepeatableRead ? Level::kRepeatableRead
                      : strict                                       ? Level::kStrictSerializable
                                                                     : Level::kSerializable;
  const std::string wrong = CheckListAppend(lines, level);
  world.Check(wrong.empty(), "{}", wrong);
}

}  // namespace slimgraph::test
