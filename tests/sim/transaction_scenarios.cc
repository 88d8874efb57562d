// The scenarios of transactions: all protocols, stage codes and replicas, on lists, graphs with
// folds and accounts. The histories of lists are checked; the other workloads verify their data.
#include <optional>

#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "tests/sim/scenario.h"
#include "tests/support/list_append_checker.h"
#include "tests/support/unwrap.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph::test {
namespace {

struct TxnSetting {
  NodeId nodes = 2;
  NodeId compute = 1;
  std::uint32_t threads = 1;
  std::string transport;
  std::string protocol;
  std::string stages;
  std::string workload;
  std::string without;
  std::uint64_t transactions = 0;  // of each coroutine
  txn::EngineOptions engine;
  txn::WorkloadOptions work;
  std::optional<NodeId> killed;
  std::uint64_t killed_after_us = 0;  // after the begin of the run
};

std::string RandomStages(World& world, const std::string& protocol) {
  std::string code;
  const auto made = Unwrap(txn::MakeProtocol(protocol));
  for (std::size_t i = 0; i < made->stages().size(); ++i) code += OneOf(world, {"0", "1"});
  return code;
}

enum class Deaths { kNone, kAtAStage, kAtAnyMoment, kDuringRepair };

TxnSetting DrawSetting(World& world, Deaths deaths, bool folds) {
  const NodeId least_nodes = deaths == Deaths::kDuringRepair ? 3 : 2;
  TxnSetting drawn;
  drawn.nodes = world.DrawNodes(least_nodes, 3);
  drawn.compute = static_cast<NodeId>(1 + world.Draw(drawn.nodes));
  drawn.threads = static_cast<std::uint32_t>(1 + world.Draw(2));
  drawn.transport = DrawTransport(world, drawn.nodes);
  drawn.protocol = OneOf(world, {"nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"});
  drawn.stages = RandomStages(world, drawn.protocol);
  drawn.workload =
      folds ? "graph-append" : OneOf(world, {"list-append", "graph-append", "smallbank"});
  drawn.without = OneOf(world, {"", "", "", "passive", "cache", "doorbells", "outstanding"});
  drawn.transactions = world.DrawAmount(5, 30);
  drawn.engine.coroutines = static_cast<std::uint32_t>(1 + world.Draw(6));
  drawn.engine.mix_stages = world.Draw(8) == 0;
  drawn.work.seed = world.Draw(~std::uint64_t{0});
  drawn.work.rows = world.DrawAmount(5, 40);
  if (folds) drawn.work.fold_share = 0.01;
  const std::uint64_t most_replicas = std::min<std::uint64_t>(3, drawn.nodes);
  if (deaths == Deaths::kNone) {
    drawn.engine.replicas = static_cast<std::uint32_t>(1 + world.Draw(most_replicas));
    return drawn;
  }
  const bool two = deaths == Deaths::kDuringRepair;
  drawn.engine.replicas = static_cast<std::uint32_t>(two ? 3 : 2 + world.Draw(most_replicas - 1));
  const auto victim = static_cast<NodeId>(1 + world.Draw(drawn.nodes - 1));
  const auto protocol = Unwrap(txn::MakeProtocol(drawn.protocol));
  if (deaths == Deaths::kAtAnyMoment) {
    drawn.killed = victim;
    drawn.killed_after_us = world.Draw(3'000);
    return drawn;
  }
  drawn.engine.death.node = victim;
  drawn.engine.death.stage = protocol->stages()[world.Draw(protocol->stages().size())];
  drawn.engine.death.times = 1 + world.Draw(40);
  if (two) {
    NodeId second = 0;
    do {
      second = static_cast<NodeId>(1 + world.Draw(drawn.nodes - 1));
    } while (second == victim);
    drawn.engine.death_in_repair = {
        .node = second,
        .step = static_cast<std::uint32_t>(1 + world.Draw(txn::DeathInRepair::kSteps))};
  }
  return drawn;
}

std::string NameOf(const TxnSetting& s) {
  return fmt::format("{} under {} {} with {} replicas on ({},{}), {} x {}, {}, without '{}'{}",
                     s.workload, s.protocol, s.engine.mix_stages ? "mixed" : s.stages,
                     s.engine.replicas, s.nodes, s.compute, s.threads, s.engine.coroutines,
                     s.transport, s.without, s.work.fold_share > 0 ? ", with folds" : "");
}

// Kills this node while the run is under way. A death after the run would end the job.
void KillDuringRun(World& world, txn::Engine& engine, std::uint64_t after_us,
                   const std::stop_token& over) {
  while (!engine.running() && !over.stop_requested()) SleepFor(std::chrono::microseconds(50));
  SleepFor(std::chrono::microseconds(after_us));
  if (over.stop_requested() || !engine.running() || engine.over()) return;
  world.Note("dies");
  KillProcess();
}

void RunTransactions(World& world, Job& job, const TxnSetting& setting) {
  const auto cluster = Unwrap(Cluster::Start(
      job,
      {.compute = setting.compute, .threads = setting.threads, .transport = setting.transport}));
  {
    const auto protocol = Unwrap(txn::MakeProtocol(setting.protocol));
    txn::EngineOptions options = setting.engine;
    options.stages =
        Unwrap(txn::StageCode::Parse(setting.stages, protocol->name(), protocol->stages()));
    if (protocol->has_atomics() && !cluster->fabric().atomics_by_processor()) {
      options.stages = txn::StageCode::All(/*one_sided=*/true);
      options.mix_stages = false;
    }
    Unwrap(txn::SwitchOff(setting.without, options));
    const auto engine = Unwrap(txn::Engine::Make(*cluster, *protocol, options));
    txn::WorkloadOptions work = setting.work;
    const bool deaths = setting.killed || options.death.node;
    if (deaths) work.journal = ScenarioFolder() + "/journal";
    const auto workload = Unwrap(txn::MakeWorkload(setting.workload, work));
    Unwrap(workload->Load(*engine));
    std::optional<Thread> killer;
    if (setting.killed == job.self()) {
      killer.emplace([&](const std::stop_token& over) {
        KillDuringRun(world, *engine, setting.killed_after_us, over);
      });
    }
    const auto result = Unwrap(
        txn::Drive(*engine, *workload, {.seconds = 20, .transactions = setting.transactions}));
    killer.reset();
    if (workload->history() != nullptr) {
      std::vector<std::string> journals;
      for (const NodeId node : result.lost) journals.push_back(txn::JournalOf(work.journal, node));
      const auto lines = Unwrap(workload->history()->Gather(cluster->all(), journals));
      const bool strict = setting.protocol != "mvcc" && setting.protocol != "sundial";
      const std::string wrong =
          CheckListAppend(lines, strict ? Level::kStrictSerializable : Level::kSerializable);
      world.Check(wrong.empty(), "{}", wrong);
    }
    if (job.self() == 0) {
      world.Note(
          fmt::format("{} commits, {} deaths", result.figures.committed, result.lost.size()));
    }
  }
  Unwrap(cluster->Stop());
}

std::function<std::string()> PrepareTransactions(World& world, Deaths deaths, bool folds,
                                                 const World::Faults& faults, NodeId more = 0) {
  const auto setting = std::make_shared<TxnSetting>(DrawSetting(world, deaths, folds));
  setting->nodes += more;
  if (setting->nodes > kCrowd) setting->transport = "sim";
  return OnAllNodes(world, setting->nodes, faults, [&world, setting](Job& job) {
    if (job.self() == 0) world.Note(NameOf(*setting));
    RunTransactions(world, job, *setting);
  });
}

}  // namespace

std::vector<Scenario> TransactionScenarios() {
  const World::Faults stops{
      .most = 3, .kills = false, .cuts = false, .within_ns = 100 * kMs, .longest_ns = 1'000 * kMs};
  return {
      {"transactions", "histories are serializable and data is consistent; nodes stop for a while",
       [=](World& world) { return PrepareTransactions(world, Deaths::kNone, false, stops); }},
      {"folds", "the same on graphs whose changes are folded into their base",
       [=](World& world) { return PrepareTransactions(world, Deaths::kNone, true, stops); }},
      {"transactions-crowd", "the same as transactions on more nodes than a word has bits",
       [](World& world) {
         return PrepareTransactions(world, Deaths::kNone, world.Draw(4) == 0, {}, kCrowd);
       },
       kOneSeedOfCrowds},
      {"deaths", "a node dies during the run, at any moment, and the others go on",
       [](World& world) {
         return PrepareTransactions(world, Deaths::kAtAnyMoment, world.Draw(4) == 0, {});
       }},
      {"deaths-at-stages", "a node dies at the end of a stage",
       [](World& world) {
         return PrepareTransactions(world, Deaths::kAtAStage, world.Draw(4) == 0, {});
       }},
      {"deaths-in-repair", "a second node dies in each step of the repair",
       [](World& world) { return PrepareTransactions(world, Deaths::kDuringRepair, false, {}); }},
  };
}

}  // namespace slimgraph::test
