// The scenarios of transactions: all protocols, stage codes and replicas, on lists, graphs with
// folds, accounts and ordered tables. The histories of lists are checked; the other workloads
// verify their data.
#include <optional>

#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "tests/sim/engines.h"
#include "tests/support/unwrap.h"
#include "tests/txnlayer/pairs_workload.h"

namespace slimgraph::test {
namespace {

constexpr const char* kPairs = "pairs";  // PairsWorkload, of which there are only tests

struct TxnSetting {
  NodeId nodes = 2;
  EngineSetting engine;
  std::string workload;
  std::uint64_t transactions = 0;  // of each coroutine
  txn::WorkloadOptions work;
  std::optional<NodeId> killed;
  std::uint64_t killed_after_us = 0;  // after the begin of the run
  std::uint64_t clients = 0;          // of all nodes, that have not finished
};

// Counts the clients that finish. While one has not, the run goes on, on all nodes.
class CountingWorkload : public txn::Workload {
 public:
  CountingWorkload(std::unique_ptr<txn::Workload> counted, std::uint64_t& left)
      : counted_(std::move(counted)), left_(left) {}

  std::string_view name() const override { return counted_->name(); }
  Status Load(txn::Engine& engine) override { return counted_->Load(engine); }
  void Configure(const txn::WorkloadOptions& options) override { counted_->Configure(options); }
  std::unique_ptr<txn::Client> MakeClient(txn::Transaction& transaction) override {
    return counted_->MakeClient(transaction);
  }
  void Collect(txn::Client& client) override {
    counted_->Collect(client);
    --left_;
  }
  Status Verify(txn::Engine& engine) override { return counted_->Verify(engine); }
  txn::TransactionalGraph* graph() override { return counted_->graph(); }
  const txn::History* history() const override { return counted_->history(); }

 private:
  const std::unique_ptr<txn::Workload> counted_;
  std::uint64_t& left_;
};

enum class Deaths { kNone, kAtAStage, kAtAnyMoment, kDuringRepair };

TxnSetting DrawSetting(World& world, Deaths deaths, bool folds) {
  const NodeId least_nodes = deaths == Deaths::kDuringRepair ? 3 : 2;
  TxnSetting drawn;
  drawn.nodes = world.DrawNodes(least_nodes, 3);
  drawn.engine = DrawEngine(world, drawn.nodes);
  drawn.workload =
      folds ? OneOf(world, {"graph-append", "index-append"})
            : OneOf(world, {"list-append", "graph-append", "index-append", "smallbank", kPairs});
  DrawConcurrency(world, drawn.workload, drawn.engine);
  drawn.engine.without =
      OneOf(world, {"", "", "", "passive", "cache", "doorbells", "outstanding", "own-home"});
  drawn.transactions = world.DrawAmount(5, 30);
  txn::EngineOptions& options = drawn.engine.options;
  options.coroutines = static_cast<std::uint32_t>(1 + world.Draw(6));
  options.mix_stages = world.Draw(8) == 0;
  drawn.work.seed = world.Draw(~std::uint64_t{0});
  drawn.work.rows = world.DrawAmount(5, 40);
  if (folds) drawn.work.fold_share = 0.01;
  const std::uint64_t most_replicas = std::min<std::uint64_t>(3, drawn.nodes);
  if (deaths == Deaths::kNone) {
    options.replicas = static_cast<std::uint32_t>(1 + world.Draw(most_replicas));
    return drawn;
  }
  const bool two = deaths == Deaths::kDuringRepair;
  options.replicas = static_cast<std::uint32_t>(two ? 3 : 2 + world.Draw(most_replicas - 1));
  const auto victim = static_cast<NodeId>(1 + world.Draw(drawn.nodes - 1));
  const auto protocol = Unwrap(txn::MakeProtocol(drawn.engine.protocol));
  if (deaths == Deaths::kAtAnyMoment) {
    drawn.killed = victim;
    drawn.killed_after_us = world.Draw(3'000);
    return drawn;
  }
  options.death.node = victim;
  options.death.stage = protocol->stages()[world.Draw(protocol->stages().size())];
  options.death.times = 1 + world.Draw(40);
  if (two) {
    NodeId second = 0;
    do {
      second = static_cast<NodeId>(1 + world.Draw(drawn.nodes - 1));
    } while (second == victim);
    options.death_in_repair = {
        .node = second,
        .step = static_cast<std::uint32_t>(1 + world.Draw(txn::DeathInRepair::kSteps))};
  }
  return drawn;
}

std::string NameOf(const TxnSetting& s) {
  const EngineSetting& e = s.engine;
  return fmt::format(
      "{} under {}{} at {} {} with {} replicas on ({},{}), {} x {}, {}, without '{}'{}", s.workload,
      e.protocol, NameOfTimestamps(e), txn::IsolationName(e.concurrency.isolation),
      e.options.mix_stages ? "mixed" : e.stages, e.options.replicas, s.nodes, e.compute, e.threads,
      e.options.coroutines, e.transport, e.without, s.work.fold_share > 0 ? ", with folds" : "");
}

// Kills this node while the run is under way on all nodes. A death after the run would end the job,
// also when the run is over on node 0 only.
void KillDuringRun(World& world, const txn::Engine& engine, const TxnSetting& setting,
                   const std::stop_token& over) {
  while (!engine.running() && !over.stop_requested()) SleepFor(std::chrono::microseconds(50));
  SleepFor(std::chrono::microseconds(setting.killed_after_us));
  if (over.stop_requested() || !engine.running() || setting.clients == 0) return;
  world.Note("dies");
  KillProcess();
}

void RunTransactions(World& world, Job& job, TxnSetting& setting) {
  const auto cluster = StartCluster(job, setting.engine);
  {
    const StartedEngine engine = StartEngine(*cluster, setting.engine);
    txn::WorkloadOptions work = setting.work;
    const bool deaths = setting.killed || setting.engine.options.death.node;
    if (deaths) work.journal = ScenarioFolder() + "/journal";
    auto counted = setting.workload == kPairs
                       ? std::make_unique<PairsWorkload>(2 * work.rows, work.seed)
                       : Unwrap(txn::MakeWorkload(setting.workload, work));
    const auto workload = std::make_unique<CountingWorkload>(std::move(counted), setting.clients);
    Unwrap(workload->Load(*engine));
    std::optional<Thread> killer;
    if (setting.killed == job.self()) {
      killer.emplace(
          [&](const std::stop_token& over) { KillDuringRun(world, *engine, setting, over); });
    }
    const auto result = Unwrap(
        txn::Drive(*engine, *workload, {.seconds = 20, .transactions = setting.transactions}));
    killer.reset();
    std::vector<std::string> journals;
    for (const NodeId node : result.lost) journals.push_back(txn::JournalOf(work.journal, node));
    CheckHistory(world, *cluster, *workload, setting.engine, journals);
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
  if (setting->nodes > kCrowd) setting->engine.transport = "sim";
  setting->clients = std::uint64_t{setting->engine.compute} * setting->engine.threads *
                     setting->engine.options.coroutines;
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
