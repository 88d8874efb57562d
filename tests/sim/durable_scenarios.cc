// The scenarios of durable transactions: nodes with logs on disk run a workload while nodes are
// killed, the power or a link is cut, and disks fail or are full. Then they are started again. All
// runs together are one history, in which everything that was told committed is there.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "slimgraph/base/process.h"
#include "slimgraph/base/sim/disk.h"
#include "slimgraph/base/sync.h"
#include "tests/sim/engines.h"
#include "tests/support/unwrap.h"
#include "txnlayer/internal/durability/durability.h"

namespace slimgraph::test {
namespace {

namespace fs = std::filesystem;

struct DurableSetting {
  NodeId nodes = 1;
  EngineSetting engine;
  std::string workload;
  bool shared_folder = false;  // on the disk of node 0; otherwise each node has its own
  std::uint64_t checkpoint_bytes = 0;
  std::uint64_t transactions = 0;  // of each coroutine, in a run with faults
  std::uint64_t runs_with_faults = 0;
  txn::WorkloadOptions work;
};

DurableSetting DrawDurableSetting(World& world) {
  DurableSetting drawn;
  drawn.nodes = world.DrawNodes(1, 4);
  drawn.engine = DrawEngine(world, drawn.nodes);
  drawn.workload =
      OneOf(world, {"list-append", "list-append", "graph-append", "index-append", "smallbank"});
  DrawConcurrency(world, drawn.workload, drawn.engine);
  drawn.shared_folder = world.Draw(2) == 0;
  constexpr std::uint64_t kCheckpoints[] = {1, 2'000, 64 << 20};
  drawn.checkpoint_bytes = kCheckpoints[world.Draw(3)];
  drawn.engine.options.coroutines = static_cast<std::uint32_t>(1 + world.Draw(4));
  drawn.engine.options.replicas =
      static_cast<std::uint32_t>(1 + world.Draw(std::min<std::uint64_t>(2, drawn.nodes)));
  if (drawn.engine.options.replicas == 1 && world.Draw(2) == 0) {
    drawn.engine.options.ledger = {
        .remote = true,
        .align = world.Draw(2) == 0 ? txn::LedgerAlign::kYes : txn::LedgerAlign::kNo,
        .ring_bytes = std::uint64_t{8 << 10} << world.Draw(4)};
  }
  drawn.work.seed = world.Draw(~std::uint64_t{0});
  drawn.transactions = world.DrawAmount(5, 20);
  drawn.runs_with_faults = 1 + world.Draw(3);
  drawn.work.rows = world.DrawAmount(5, 20);
  const bool on_graph = drawn.workload == "graph-append" || drawn.workload == "index-append";
  if (on_graph && world.Draw(2) == 0) drawn.work.fold_share = 0.01;
  return drawn;
}

class DurableOperator {
 public:
  DurableOperator(World& world, const DurableSetting& setting)
      : world_(world), setting_(setting), kept_(ScenarioFolder() + "/durable") {
    fs::remove_all(kept_);  // what an earlier seed has left
    fs::create_directory(kept_);
  }

  void Work() {
    const EngineSetting& engine = setting_.engine;
    world_.Note(fmt::format(
        "{} under {} {} with {} replicas on ({},{}), {} x {}, {}, {}, checkpoints at {} bytes{}{}",
        setting_.workload, engine.protocol, engine.stages, engine.options.replicas, setting_.nodes,
        engine.compute, engine.threads, engine.options.coroutines, engine.transport,
        setting_.shared_folder ? "one folder" : "a folder for each", setting_.checkpoint_bytes,
        setting_.work.fold_share > 0 ? ", with folds" : "",
        engine.options.ledger.remote ? ", commits in ledgers" : ""));
    for (run_ = 0; run_ < setting_.runs_with_faults; ++run_) Run(world_.BeginFault());
    is_last_ = true;
    Run(std::nullopt);
    world_.Check(done_.size() == setting_.nodes, "only {} of {} nodes have recovered", done_.size(),
                 setting_.nodes);
  }

 private:
  using Fault = std::optional<RandomOfFault>;
  enum class Kind { kNone, kKill, kPowerCut, kBlackout, kError, kFull, kCut };

  void Run(Fault fault);
  void AwaitMoment(RandomOfFault& fault);
  void KillNodes(RandomOfFault& fault, Kind kind);
  void CutLink(RandomOfFault& fault);
  void EndNode(NodeId node, bool cuts_power);
  NodeId DiskOf(NodeId node) const { return setting_.shared_folder ? 0 : node; }
  void RunNode(Job& job);
  // The events of a node in an earlier run.
  std::string JournalPath(std::uint64_t run) const { return fmt::format("{}/{}", kept_, run); }
  bool over() const { return done_.size() + failed_.size() == setting_.nodes; }

  World& world_;
  const DurableSetting& setting_;
  const std::string kept_;
  std::uint64_t run_ = 0;
  bool is_last_ = false;
  bool fault_made_ = false;
  std::optional<std::pair<NodeId, NodeId>> cut_;  // the link that is cut
  std::set<NodeId> done_;
  std::set<NodeId> failed_;  // or killed
};

void DurableOperator::Run(Fault fault) {
  done_.clear();
  failed_.clear();
  const auto kind = fault ? static_cast<Kind>(fault->Below(7)) : Kind::kNone;
  fault_made_ = kind == Kind::kError || kind == Kind::kFull;
  sim::Disks& disks = world_.scheduler().disks();
  const NodeId bad = DiskOf(fault ? static_cast<NodeId>(fault->Below(setting_.nodes)) : 0);
  if (kind == Kind::kError) {
    const std::uint64_t operations = fault->Below(fault->Below(2) == 0 ? 50 : 400);
    world_.Note(fmt::format("the disk of node {} fails once after {} operations", bad, operations));
    disks.FailAfter(bad, operations);
  } else if (kind == Kind::kFull) {
    const std::uint64_t bytes = fault->Below(40'000);
    world_.Note(fmt::format("the disk of node {} has room for {} bytes", bad, bytes));
    disks.LimitRoom(bad, bytes);
  }
  world_.StartNodes(setting_.nodes, [this](NodeId self) {
    try {
      const auto job = Unwrap(world_.Join(OnLoss::kEndJob));
      RunNode(*job);
      Unwrap(job->Leave(0));
      done_.insert(self);
    } catch (const std::exception& failure) {
      const std::string_view why = failure.what();
      world_.Note(std::string(why));
      world_.Check(fault_made_ && why.find("damaged") == why.npos, "node {}: {}", self, why);
      EndProcess(1);
    }
  });
  if (kind == Kind::kKill || kind == Kind::kPowerCut || kind == Kind::kBlackout) {
    KillNodes(*fault, kind);
  } else if (kind == Kind::kCut) {
    CutLink(*fault);
  }
  while (true) {
    for (NodeId node = 0; node < setting_.nodes; ++node) {
      if (world_.killed(node)) failed_.insert(node);
    }
    if (over()) break;
    SleepFor(std::chrono::milliseconds(1));
  }
  if (cut_) world_.scheduler().network().Heal(cut_->first, cut_->second);
  cut_.reset();
  disks.FailAfter(bad, sim::kForever);
  disks.LimitRoom(bad, sim::kForever);
}

void DurableOperator::EndNode(NodeId node, bool cuts_power) {
  if (!done_.contains(node)) world_.scheduler().EndNode(node, 128 + SIGKILL);
  if (cuts_power) world_.scheduler().disks().CutPower(node);
}

// Faults come at any moment, also after the run, or right after an operation of a disk.
void DurableOperator::AwaitMoment(RandomOfFault& fault) {
  const std::uint64_t way = fault.Below(4);
  const std::uint64_t within_ns = fault.Below(way == 0 ? 60 * kMs : 250 * kMs);
  const NodeId disk = DiskOf(static_cast<NodeId>(fault.Below(setting_.nodes)));
  const std::uint64_t operations = fault.Below(400);
  if (way < 2) return SleepFor(std::chrono::nanoseconds(within_ns));
  sim::Disks& disks = world_.scheduler().disks();
  const std::uint64_t end = disks.operations(disk) + operations;
  while (disks.operations(disk) < end && !over()) SleepFor(std::chrono::microseconds(3));
}

// Kills nodes, with or without a power cut.
void DurableOperator::KillNodes(RandomOfFault& fault, Kind kind) {
  AwaitMoment(fault);
  fault_made_ = true;
  const bool cuts_power = kind != Kind::kKill;
  if (kind == Kind::kBlackout || fault.Below(3) == 0) {
    world_.Note(cuts_power ? "cuts the power of all nodes" : "kills all nodes");
    for (NodeId node = 0; node < setting_.nodes; ++node) EndNode(node, cuts_power);
    return;
  }
  const auto node = static_cast<NodeId>(fault.Below(setting_.nodes));
  world_.Note(fmt::format("{} node {}", cuts_power ? "cuts the power of" : "kills", node));
  EndNode(node, cuts_power);
}

// Cuts a link to or from the hub in one direction, for the rest of the run, which ends because one
// of the two hears nothing any more.
void DurableOperator::CutLink(RandomOfFault& fault) {
  AwaitMoment(fault);
  NodeId from = 0;
  auto to = static_cast<NodeId>(fault.Below(setting_.nodes));
  if (to == 0) return;
  if (fault.Below(2) == 0) std::swap(from, to);
  fault_made_ = true;
  world_.Note(fmt::format("cuts the link from {} to {}", from, to));
  cut_ = {from, to};
  world_.scheduler().network().Cut(from, to);
}

void DurableOperator::RunNode(Job& job) {
  const auto cluster = StartCluster(job, setting_.engine);
  {
    const StartedEngine engine = StartEngine(*cluster, setting_.engine);
    txn::WorkloadOptions work = setting_.work;
    work.journal = JournalPath(run_);
    const auto workload = Unwrap(txn::MakeWorkload(setting_.workload, work));
    Unwrap(workload->Load(*engine));
    Unwrap(txn::KeepLogs(*engine, *workload, fmt::format("/sim/{}/logs", DiskOf(job.self()))));
    if (job.self() == 0) {
      world_.Note(fmt::format("has recovered {} records, {} transactions",
                              engine->durability()->recovered().records,
                              engine->durability()->recovered().transactions));
    }
    const auto driven = txn::Drive(*engine, *workload,
                                   {.seconds = 20,
                                    .transactions = is_last_ ? 15 : setting_.transactions,
                                    .checkpoint_bytes = setting_.checkpoint_bytes});
    if (workload->history() != nullptr && !is_last_) {
      const std::string journal = txn::JournalOf(work.journal, job.self());
      fs::copy_file(journal, journal + ".kept");  // the journal itself is removed with the workload
    }
    const txn::DriveResult result = Unwrap(driven);
    if (job.self() == 0) {
      world_.Note(fmt::format("{} commits, {} checkpoints, {} deaths", result.figures.committed,
                              result.checkpoints, result.lost.size()));
    }
    if (workload->history() != nullptr && is_last_) {
      std::vector<std::string> journals;
      for (const auto& entry : fs::directory_iterator(kept_)) {
        const std::string path = entry.path();
        if (!path.starts_with(JournalPath(run_)) && !fs::exists(path + ".kept")) {
          journals.push_back(path);
        }
      }
      std::ranges::sort(journals);
      CheckHistory(world_, *cluster, *workload, setting_.engine, journals);
    }
  }
  Unwrap(cluster->Stop());
}

}  // namespace

std::vector<Scenario> DurableScenarios() {
  return {
      {"durable", "what was told committed survives kills, power cuts and failing disks",
       [](World& world) {
         const auto setting = std::make_shared<DurableSetting>(DrawDurableSetting(world));
         const auto done = std::make_shared<bool>(false);
         world.scheduler().Start(setting->nodes, "operator", [&world, setting, done] {
           DurableOperator(world, *setting).Work();
           *done = true;
         });
         return [done]() -> std::string { return *done ? "" : "the operator has not finished"; };
       }},
  };
}

}  // namespace slimgraph::test
