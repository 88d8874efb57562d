// The scenarios of durable transactions: nodes with logs on disk run a workload while nodes are
// killed, the power is cut, and disks fail or are full. Then they are started again. All runs
// together are one history, in which everything that was told committed is there.
#include <algorithm>
#include <filesystem>
#include <set>

#include "slimgraph/base/process.h"
#include "slimgraph/base/sim/disk.h"
#include "slimgraph/base/sync.h"
#include "tests/sim/scenario.h"
#include "tests/support/list_append_checker.h"
#include "tests/support/unwrap.h"
#include "txnlayer/internal/durability/durability.h"
#include "txnlayer/protocol/make_protocol.h"
#include "txnlayer/workload/driver.h"

namespace slimgraph::test {
namespace {

namespace fs = std::filesystem;

struct DurableSetting {
  NodeId nodes = 1;
  NodeId compute = 1;
  std::uint32_t threads = 1;
  std::string transport;
  std::string protocol;
  std::string stages;
  std::string workload;
  bool shared_folder = false;  // on the disk of node 0; otherwise each node has its own
  std::uint64_t checkpoint_bytes = 0;
  std::uint64_t transactions = 0;  // of each coroutine, in a run with faults
  txn::EngineOptions engine;
  txn::WorkloadOptions work;
};

DurableSetting DrawDurableSetting(World& world) {
  DurableSetting drawn;
  drawn.nodes = world.DrawNodes(1, 4);
  drawn.compute = static_cast<NodeId>(1 + world.Draw(drawn.nodes));
  drawn.threads = static_cast<std::uint32_t>(1 + world.Draw(2));
  drawn.transport = DrawTransport(world, drawn.nodes);
  drawn.protocol = OneOf(world, {"nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"});
  const auto protocol = Unwrap(txn::MakeProtocol(drawn.protocol));
  for (std::size_t i = 0; i < protocol->stages().size(); ++i) {
    drawn.stages += OneOf(world, {"0", "1"});
  }
  drawn.workload = OneOf(world, {"list-append", "list-append", "graph-append", "smallbank"});
  drawn.shared_folder = world.Draw(2) == 0;
  constexpr std::uint64_t kCheckpoints[] = {1, 2'000, 64 << 20};
  drawn.checkpoint_bytes = kCheckpoints[world.Draw(3)];
  drawn.engine.coroutines = static_cast<std::uint32_t>(1 + world.Draw(4));
  drawn.engine.replicas =
      static_cast<std::uint32_t>(1 + world.Draw(std::min<std::uint64_t>(2, drawn.nodes)));
  drawn.work.seed = world.Draw(~std::uint64_t{0});
  drawn.transactions = world.DrawAmount(5, 20);
  drawn.work.rows = world.DrawAmount(5, 20);
  if (drawn.workload == "graph-append" && world.Draw(2) == 0) drawn.work.fold_share = 0.01;
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
    world_.Note(fmt::format(
        "{} under {} {} with {} replicas on ({},{}), {} x {}, {}, {}, checkpoints at {} bytes{}",
        setting_.workload, setting_.protocol, setting_.stages, setting_.engine.replicas,
        setting_.nodes, setting_.compute, setting_.threads, setting_.engine.coroutines,
        setting_.transport, setting_.shared_folder ? "one folder" : "a folder for each",
        setting_.checkpoint_bytes, setting_.work.fold_share > 0 ? ", with folds" : ""));
    const std::uint64_t runs = 1 + world_.Random(3);
    for (run_ = 0; run_ < runs; ++run_) Run(static_cast<Fault>(world_.Random(6)));
    is_last_ = true;
    Run(Fault::kNone);
    world_.Check(done_.size() == setting_.nodes, "only {} of {} nodes have recovered", done_.size(),
                 setting_.nodes);
  }

 private:
  enum class Fault { kNone, kKill, kPowerCut, kBlackout, kError, kFull };

  void Run(Fault fault);
  void MakeFault(Fault fault);
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
  std::set<NodeId> done_;
  std::set<NodeId> failed_;  // or killed
};

void DurableOperator::Run(Fault fault) {
  done_.clear();
  failed_.clear();
  fault_made_ = fault == Fault::kError || fault == Fault::kFull;
  sim::Disks& disks = world_.scheduler().disks();
  const NodeId bad = DiskOf(static_cast<NodeId>(world_.Random(setting_.nodes)));
  if (fault == Fault::kError) disks.FailAfter(bad, world_.Random(world_.Random(2) == 0 ? 50 : 400));
  if (fault == Fault::kFull) disks.LimitRoom(bad, world_.Random(40'000));
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
  MakeFault(fault);
  while (true) {
    for (NodeId node = 0; node < setting_.nodes; ++node) {
      if (world_.killed(node)) failed_.insert(node);
    }
    if (over()) break;
    SleepFor(std::chrono::milliseconds(1));
  }
  disks.FailAfter(bad, sim::kForever);
  disks.LimitRoom(bad, sim::kForever);
}

void DurableOperator::EndNode(NodeId node, bool cuts_power) {
  if (!done_.contains(node)) world_.scheduler().EndNode(node, 128 + SIGKILL);
  if (cuts_power) world_.scheduler().disks().CutPower(node);
}

// Kills, with or without a power cut, come at any moment, also after the run.
void DurableOperator::MakeFault(Fault fault) {
  if (fault == Fault::kNone || fault == Fault::kError || fault == Fault::kFull) return;
  SleepFor(std::chrono::nanoseconds(world_.Random(world_.Random(2) == 0 ? 60 * kMs : 250 * kMs)));
  fault_made_ = true;
  const bool cuts_power = fault != Fault::kKill;
  if (fault == Fault::kBlackout || world_.Random(3) == 0) {
    world_.Note(cuts_power ? "cuts the power of all nodes" : "kills all nodes");
    for (NodeId node = 0; node < setting_.nodes; ++node) EndNode(node, cuts_power);
    return;
  }
  const auto node = static_cast<NodeId>(world_.Random(setting_.nodes));
  world_.Note(fmt::format("{} node {}", cuts_power ? "cuts the power of" : "kills", node));
  EndNode(node, cuts_power);
}

void DurableOperator::RunNode(Job& job) {
  const auto cluster = Unwrap(Cluster::Start(
      job,
      {.compute = setting_.compute, .threads = setting_.threads, .transport = setting_.transport}));
  {
    const auto protocol = Unwrap(txn::MakeProtocol(setting_.protocol));
    txn::EngineOptions options = setting_.engine;
    options.stages =
        Unwrap(txn::StageCode::Parse(setting_.stages, protocol->name(), protocol->stages()));
    if (protocol->has_atomics() && !cluster->fabric().atomics_by_processor()) {
      options.stages = txn::StageCode::All(/*one_sided=*/true);
    }
    const auto engine = Unwrap(txn::Engine::Make(*cluster, *protocol, options));
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
      const auto lines = Unwrap(workload->history()->Gather(cluster->all(), journals));
      const bool strict = setting_.protocol != "mvcc" && setting_.protocol != "sundial";
      const std::string wrong =
          CheckListAppend(lines, strict ? Level::kStrictSerializable : Level::kSerializable);
      world_.Check(wrong.empty(), "{}", wrong);
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
