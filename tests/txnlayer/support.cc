#include "tests/txnlayer/support.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "tests/support/node_processes.h"
#include "tests/support/rdma_devices.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::test {
namespace {

// The nodes of a job are forked by one process, whose id makes the path the same for all of them.
std::string JournalPath() { return ::testing::TempDir() + fmt::format("journal.{}", ::getppid()); }

}  // namespace

// A death during the repair of another ends the job. So this waits until earlier deaths have been
// repaired.
std::optional<Thread> KillerOf(const TxnSetting& setting, txn::Engine& engine) {
  const auto mine = setting.killed_after_us.find(engine.self());
  if (mine == setting.killed_after_us.end()) return std::nullopt;
  const std::chrono::microseconds time(mine->second);
  std::size_t earlier = 0;
  for (const auto& [node, us] : setting.killed_after_us) earlier += us < mine->second ? 1 : 0;
  return Thread([&engine, time, earlier](const std::stop_token& over) {
    while (!engine.running() && !over.stop_requested()) {
      SleepFor(std::chrono::milliseconds(1));
    }
    SleepFor(time);
    while (engine.lost().size() < earlier && !over.stop_requested()) {
      SleepFor(std::chrono::milliseconds(1));
    }
    if (earlier > 0) SleepFor(time);
    // While this node runs, the run has ended on no node. A death after the run ends the job.
    if (engine.running() && !engine.over()) KillProcess();
  });
}

std::string NameOf(const TxnSetting& s) {
  std::string deaths;
  for (const NodeId node : s.victims()) deaths += fmt::format(", node {} dies", node);
  const bool timed = s.timestamps != txn::Timestamps::kNone;
  return fmt::format(
      "{} {}{} {} on {} nodes, {} computing, {} x {}, {}, delay {} us, without '{}'{}", s.workload,
      s.protocol, timed ? std::string("+") + txn::TimestampsName(s.timestamps) : "", s.stages,
      s.nodes, s.compute, s.threads, s.coroutines, s.transport, s.delay_us, s.without, deaths);
}

std::vector<std::string> AllProtocols() {
  const auto names = txn::ProtocolNames();
  return {names.begin(), names.end()};
}

std::string RandomStages(const std::string& protocol, std::mt19937_64& random) {
  std::string code;
  const auto made = txn::MakeProtocol(protocol);
  for (std::size_t i = 0; i < (*made)->stages().size(); ++i) code += random() % 2 == 0 ? '0' : '1';
  return code;
}

bool IsStrict(const std::string& protocol) {
  return protocol != "to" && protocol != "mvcc" && protocol != "sundial";
}

void OnTxnJob(const TxnSetting& setting, const std::function<void(Cluster&)>& body) {
  SCOPED_TRACE(NameOf(setting));
  const NodesEnd end = RunNodes(setting.nodes, OnLoss::kEndJob, [&](Job& job) {
    ChooseRdmaDevice(job.self());
    auto cluster = Cluster::Start(job, {.compute = setting.compute,
                                        .threads = setting.threads,
                                        .transport = setting.transport,
                                        .network = setting.network});
    ASSERT_TRUE(cluster) << cluster.error().message;
    body(**cluster);
    if (::testing::Test::HasFatalFailure()) return;
    const Status stopped = (*cluster)->Stop();
    EXPECT_TRUE(stopped) << stopped.error().message;
  });
  for (NodeId node = 0; node < setting.nodes; ++node) {
    const bool killed = setting.victims().contains(node) && end.codes[node] == 128 + SIGKILL;
    EXPECT_TRUE(killed || end.codes[node] == 0)
        << "node " << node << " ended with " << end.codes[node] << "\n"
        << end.output;
  }
}

std::set<NodeId> TxnSetting::victims() const {
  std::set<NodeId> all;
  if (death.node) all.insert(*death.node);
  if (death_in_repair.node) all.insert(*death_in_repair.node);
  for (const auto& [node, time] : killed_after_us) all.insert(node);
  return all;
}

std::vector<std::string> Lines(txn::Engine& engine, txn::Workload& workload,
                               const txn::DriveResult& result) {
  std::vector<std::string> journals;
  for (const NodeId node : result.lost) journals.push_back(txn::JournalOf(JournalPath(), node));
  auto lines = workload.history()->Gather(engine.cluster().all(), journals);
  EXPECT_TRUE(lines) << lines.error().message;
  return std::move(lines).value_or(std::vector<std::string>());
}

std::string AskAdya(const std::vector<std::string>& lines, bool strict) {
  static const bool installed = std::system("adya --version >/dev/null 2>&1") == 0;
  if (!installed) return "";
  const std::string path = ::testing::TempDir() + fmt::format("history.{}.jsonl", ::getpid());
  {
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << '\n';
  }
  const std::string command = fmt::format("adya check -m list-append -c {} {} >/dev/null 2>&1",
                                          strict ? "strict-serializable" : "serializable", path);
  const int code = std::system(command.c_str());
  std::remove(path.c_str());
  return code == 0 ? "" : fmt::format("adya ended with {}", code);
}

void DriveSetting(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
                  const Check& check) {
  txn::EngineOptions options;
  options.coroutines = setting.coroutines;
  const auto code = txn::StageCode::Parse(setting.stages, protocol.name(), protocol.stages());
  ASSERT_TRUE(code) << code.error().message;
  options.stages = *code;
  options.mix_stages = setting.mix_stages;
  options.replicas = setting.replicas;
  options.death = setting.death;
  options.death_in_repair = setting.death_in_repair;
  ASSERT_TRUE(txn::SwitchOff(setting.without, options));
  auto engine = txn::Engine::Make(cluster, protocol, options);
  ASSERT_TRUE(engine) << engine.error().message;
  txn::WorkloadOptions work = setting.work;
  if (setting.replicas > 1) work.journal = JournalPath();
  auto workload = txn::MakeWorkload(setting.workload, work);
  ASSERT_TRUE(workload) << workload.error().message;
  const Status loaded = (*workload)->Load(**engine);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (NodeId node = 0; setting.delay_us > 0 && node < setting.nodes; ++node) {
    for (std::uint32_t thread = 0; thread < setting.threads; ++thread) {
      // Different delays, so that messages can overtake each other.
      const auto delay = std::chrono::microseconds(setting.delay_us * (1 + (node + thread) % 3));
      cluster.fabric().endpoint(thread).faults().Delay(node, delay);
    }
  }
  std::optional<Thread> killer = KillerOf(setting, **engine);
  const auto result = txn::Drive(**engine, **workload,
                                 {.seconds = setting.seconds,
                                  .transactions = setting.transactions,
                                  .per_second = setting.per_second});
  killer.reset();
  ASSERT_TRUE(result) << result.error().message;
  if (check) check(**engine, **workload, *result);
}

std::uint64_t FoldedEdges(txn::Workload& workload) { return workload.graph()->base().edges(); }

void RunSetting(const TxnSetting& setting, const Check& check) {
  txn::ProtocolOptions concurrency = kBriefWaits;
  concurrency.timestamps = setting.timestamps;
  const auto protocol = txn::MakeProtocol(setting.protocol, concurrency);
  ASSERT_TRUE(protocol) << protocol.error().message;
  OnTxnJob(setting, [&](Cluster& cluster) { DriveSetting(cluster, setting, **protocol, check); });
}

void OnNodeZero(const std::string& name, const std::string& stages, const WithTupleAfar& body) {
  OnTxnJob({.protocol = name, .nodes = 2}, [&](Cluster& cluster) {
    const auto protocol = *txn::MakeProtocol(name);
    txn::EngineOptions options{.coroutines = 1};
    options.stages = *txn::StageCode::Parse(stages, name, protocol->stages());
    const auto engine = *txn::Engine::Make(cluster, *protocol, options);
    txn::Table* const table = *engine->tables().Add({"t", 8, 10});
    EXPECT_TRUE(engine->Run([&](txn::Transaction& transaction) {
      if (cluster.self() == 1) return;
      txn::Key key = 1;
      while (table->Home(key) != 1) ++key;
      body(*engine, *table, key, transaction);
    }));
  });
}

void WithTwoAfar(const std::string& name, const std::string& stages, const WithTwo& body) {
  SCOPED_TRACE(stages);
  OnNodeZero(name, stages,
             [&](txn::Engine& engine, txn::Table& table, txn::Key key, txn::Transaction& one) {
               txn::Transaction other(engine, one.task(), 0);
               body(table, key, one, other);
               other.Drain();
             });
}

}  // namespace slimgraph::test
