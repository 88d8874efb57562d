// All nodes die by SIGKILL at random moments, also during recovery. Everything reported survives,
// nothing is half there, and the histories of all runs together are as serializable as that of one
// run.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "tests/support/command.h"
#include "tests/support/list_append_checker.h"
#include "tests/support/node_processes.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/disk/batch_log.h"
#include "txnlayer/graph/fold.h"
#include "txnlayer/internal/durability/commit_log.h"
#include "txnlayer/internal/durability/log_folder.h"

namespace slimgraph::test {
namespace {

namespace fs = std::filesystem;

struct DurableSetting {
  TxnSetting txn;
  std::string logs;
  std::string journal;                     // "": none
  std::uint64_t kill_all_after_us = 0;     // after the start of the job; 0: it runs to its end
  std::vector<std::string> journals = {};  // of earlier runs
  std::uint64_t checkpoint_bytes = 64 << 20;
  txn::LedgerOptions ledger = {};
  bool needs_checkpoints = false;  // in a run that is not killed
};

// Kills this process at that time.
Thread Killer(std::uint64_t at_ns) {
  return Thread([at_ns](const std::stop_token& over) {
    while (NowNs() < at_ns && !over.stop_requested()) {
      SleepFor(std::chrono::microseconds(200));
    }
    if (!over.stop_requested()) KillProcess();
  });
}

std::vector<std::string> RunNode(Cluster& cluster, const DurableSetting& setting,
                                 const txn::Protocol& protocol) {
  std::vector<std::string> lines;
  const auto run = [&]() -> Status {
    txn::EngineOptions options;
    options.coroutines = setting.txn.coroutines;
    options.replicas = setting.txn.replicas;
    options.death = setting.txn.death;
    options.ledger = setting.ledger;
    SLIM_ASSIGN(options.stages,
                txn::StageCode::Parse(setting.txn.stages, protocol.name(), protocol.stages()));
    SLIM_ASSIGN(const auto engine, txn::Engine::Make(cluster, protocol, options));
    txn::WorkloadOptions work = setting.txn.work;
    work.journal = setting.journal;
    SLIM_ASSIGN(const auto workload, txn::MakeWorkload(setting.txn.workload, work));
    SLIM_TRY(workload->Load(*engine));
    SLIM_TRY(txn::KeepLogs(*engine, *workload, setting.logs));
    if (work.fold_share > 0 && setting.kill_all_after_us == 0) {
      EXPECT_GT(FoldedEdges(*workload), 0u) << "folded edges are not recovered";
    }
    SLIM_ASSIGN(const txn::DriveResult driven,
                txn::Drive(*engine, *workload,
                           {.seconds = setting.txn.seconds,
                            .transactions = setting.txn.transactions,
                            .checkpoint_bytes = setting.checkpoint_bytes}));
    if (setting.needs_checkpoints) {
      EXPECT_GT(driven.checkpoints, 0u);
    }
    if (workload->history() == nullptr) return {};
    SLIM_ASSIGN(lines, workload->history()->Gather(cluster.all(), setting.journals));
    return {};
  };
  const Status done = run();
  // If another node was killed before this one, keep the journal and wait to be killed too.
  if (!done && setting.kill_all_after_us == 0) cluster.job().Fail(done.error());
  while (!done) ::pause();
  return lines;
}

NodesEnd RunJob(const DurableSetting& setting,
                const std::function<void(const std::vector<std::string>&)>& look = {}) {
  const auto protocol = txn::MakeProtocol(setting.txn.protocol, kBriefWaits);
  const std::uint64_t start_ns = NowNs();
  return RunNodes(setting.txn.nodes, OnLoss::kEndJob, [&](Job& job) {
    std::optional<Thread> killer;
    if (setting.kill_all_after_us > 0) {
      killer.emplace(Killer(start_ns + (setting.kill_all_after_us + job.self() * 300) * 1000));
    }
    auto cluster = Cluster::Start(job, {.compute = setting.txn.compute,
                                        .threads = setting.txn.threads,
                                        .transport = setting.txn.transport});
    while (!cluster && killer) ::pause();
    ASSERT_TRUE(cluster) << cluster.error().message;
    const auto lines = RunNode(**cluster, setting, **protocol);
    if (look && job.self() == 0) look(lines);
    EXPECT_TRUE((*cluster)->Stop());
  });
}

// Appends a copy of the last batch, cut off or with a flipped bit: the result of an interrupted
// write.
void AddTornTail(const std::string& path, std::mt19937_64& random) {
  auto log = txn::BatchLogReader::Open(path);
  ASSERT_TRUE(log) << log.error().message;
  if (log->broken_bytes() > 0 || log->batches().empty()) return;
  const std::uint64_t begin = (log->batches().back().position - 7) * 8;
  std::string bytes = ReadText(path).substr(begin);
  const std::size_t at = random() % bytes.size();
  if (random() % 2 == 0) {
    bytes.resize(at);
  } else {
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
  }
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

class Durable : public ::testing::TestWithParam<std::string> {
 protected:
  DurableSetting Setting(std::mt19937_64& random, const std::string& workload) const {
    DurableSetting setting;
    setting.txn = {.protocol = GetParam(),
                   .stages = RandomStages(GetParam(), random),
                   .workload = workload,
                   .transport = random() % 2 == 0 ? "shm" : "tcp",
                   .coroutines = 6,
                   .transactions = 0};
    setting.txn.work.seed = random();
    setting.logs = scratch_.File("logs");
    return setting;
  }

  static bool HasWritten(const DurableSetting& setting) {
    for (NodeId node = 0; node < setting.txn.nodes; ++node) {
      const std::string journal = txn::JournalOf(setting.journal, node);
      if (fs::exists(journal) && fs::file_size(journal) > 0) return true;
    }
    return false;
  }

  // Whether recovery will find folded edges. A node that has died may leave a file of a fold that
  // never took place, so only the logs that recovery reads count.
  static bool HasFoldedEdges(const DurableSetting& setting) {
    const auto logs = txn::FindAllLogs(setting.logs);
    if (!logs) return false;
    const auto has_edges = [](const auto& batch) {
      return static_cast<txn::LogPart>(batch.label[0]) == txn::LogPart::kAside &&
             static_cast<txn::FoldedPart>(batch.label[1]) == txn::FoldedPart::kEdges;
    };
    return std::ranges::any_of(
        logs->mine, [&](const auto& log) { return std::ranges::any_of(log.batches(), has_edges); });
  }

  // A commit that is in a ledger and in its keeper's log, too, counts once.
  static void ExpectEachCommitOnce(const std::string& folder) {
    const auto logs = txn::FindAllLogs(folder);
    ASSERT_TRUE(logs) << logs.error().message;
    std::set<std::vector<std::uint64_t>> found;
    for (const txn::BatchLogReader& log : logs->mine) {
      for (const auto& batch : log.batches()) {
        if (static_cast<txn::LogPart>(batch.label[0]) != txn::LogPart::kCommits) continue;
        for (auto rest = batch.words; !rest.empty(); rest = rest.subspan(1 + rest[0])) {
          const auto record = rest.subspan(1, rest[0]);
          EXPECT_TRUE(found.emplace(record.begin(), record.end()).second);
        }
      }
    }
  }

  // Several runs that are killed, then one that is not. Together they are one history.
  void ExpectOneGoodHistory(DurableSetting setting, std::mt19937_64& random, int kills) {
    SCOPED_TRACE(NameOf(setting.txn));
    const bool folds = setting.txn.work.fold_share > 0;
    std::uint64_t long_us = 80'000;
    for (int run = 0; run < kills || (folds && !HasFoldedEdges(setting)); ++run) {
      ASSERT_LT(run, kills + 6) << "nothing is folded";
      setting.journal = scratch_.File(fmt::format("journal{}", run));
      // Alternates between kills after long runs, which have committed on any machine, and kills
      // while the job still starts.
      const bool is_long = run == 0 || run >= kills;
      setting.kill_all_after_us = (is_long ? long_us : 5'000) + random() % 150'000;
      if (is_long) long_us *= 2;
      do {
        RunJob(setting);
        setting.kill_all_after_us *= 2;
      } while (run == 0 && !HasWritten(setting));
      for (NodeId node = 0; node < setting.txn.nodes; ++node) {
        const std::string left = txn::JournalOf(setting.journal, node);
        if (fs::exists(left)) setting.journals.push_back(left);
      }
      if (setting.ledger.remote) ExpectEachCommitOnce(setting.logs);
      for (const auto& entry : fs::directory_iterator(scratch_.path() + "/logs")) {
        if (random() % 2 == 0) AddTornTail(entry.path(), random);
      }
    }
    setting.journal = "";
    setting.kill_all_after_us = 0;
    setting.txn.transactions = 40;
    setting.txn.seconds = 60;
    setting.txn.death = {};
    const NodesEnd end = RunJob(setting, [&](const std::vector<std::string>& lines) {
      const bool strict = IsStrict(setting.txn.protocol);
      const Level level = strict ? Level::kStrictSerializable : Level::kSerializable;
      const NodeId computing = setting.txn.compute == 0 ? setting.txn.nodes : setting.txn.compute;
      EXPECT_GT(lines.size(), std::size_t{2} * computing * setting.txn.threads *
                                  setting.txn.coroutines * setting.txn.transactions)
          << "the events of earlier runs are missing";
      EXPECT_EQ(CheckListAppend(lines, level), "");
      EXPECT_EQ(AskAdya(lines, strict), "");
    });
    EXPECT_TRUE(end.all_succeeded()) << end.output;
  }

  const ScratchDirectory scratch_;
};
INSTANTIATE_TEST_SUITE_P(All, Durable,
                         ::testing::Values("nowait", "waitdie", "occ", "to", "mvcc", "sundial",
                                           "calvin"),
                         [](const auto& one) { return one.param; });

TEST_P(Durable, CommitsSurviveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  ExpectOneGoodHistory(Setting(random, "list-append"), random, 3);
}

TEST_P(Durable, CommitsOnGraphsSurviveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  ExpectOneGoodHistory(Setting(random, OnGraph(random)), random, 2);
}

// Commits are in the memory of other nodes, in rings that become full again and again.
TEST_P(Durable, CommitsInLedgersSurviveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  for (const NodeId compute : {3, 2, 1}) {
    const bool on_graph = random() % 2 == 0;
    fs::remove_all(scratch_.File("logs"));
    fs::create_directory(scratch_.File("logs"));
    DurableSetting setting = Setting(random, on_graph ? OnGraph(random) : "list-append");
    setting.journals.clear();
    setting.txn.compute = compute;
    setting.txn.threads = static_cast<std::uint32_t>(1 + random() % 2);
    setting.ledger = {.remote = true,
                      .flush = random() % 2 == 0 ? FlushBy::kHome : FlushBy::kRead,
                      .align = random() % 2 == 0 ? txn::LedgerAlign::kYes : txn::LedgerAlign::kNo,
                      .ring_bytes = random() % 2 == 0 ? 8U << 10 : 1U << 20};
    if (on_graph && random() % 2 == 0) {
      setting.txn.work.fold_share = 0.01;
      setting.txn.work.rows = 150;
    }
    ExpectOneGoodHistory(setting, random, 2);
  }
}

// Each fold begins new logs, beside a file of what was folded.
TEST_P(Durable, CommitsOnFoldedGraphsSurviveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, OnGraph(random));
  setting.txn.work.fold_share = 0.01;
  setting.txn.work.rows = 150;  // lists; with fewer, most tries abort and little is folded
  ExpectOneGoodHistory(setting, random, 2);
}

TEST_P(Durable, CommitsOnFoldedGraphsSurviveOneDeathThenAll) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, OnGraph(random));
  setting.txn.replicas = 2;
  setting.txn.death = {.node = 1, .stage = txn::Stage::kCommit, .times = 1 + random() % 300};
  setting.txn.work.fold_share = 0.01;
  setting.txn.work.rows = 150;  // lists; with fewer, most tries abort and little is folded
  ExpectOneGoodHistory(setting, random, 2);
}

// The smallest limit, so that checkpoints follow each other without a break.
TEST_P(Durable, CommitsSurviveTheDeathOfAllNodesWithCheckpoints) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, "list-append");
  setting.checkpoint_bytes = 1;
  ExpectOneGoodHistory(setting, random, 2);
}

TEST_P(Durable, CommitsOnGraphsSurviveTheDeathOfAllNodesWithCheckpoints) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, OnGraph(random));
  setting.checkpoint_bytes = 1;
  ExpectOneGoodHistory(setting, random, 2);
}

TEST_P(Durable, CommitsSurviveOneDeathThenAllWithCheckpoints) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, "list-append");
  setting.checkpoint_bytes = 1;
  setting.txn.replicas = 2;
  setting.txn.death = {.node = 1, .stage = txn::Stage::kCommit, .times = 1 + random() % 100};
  ExpectOneGoodHistory(setting, random, 2);
}

// However much is committed, the logs are not much longer than the tables.
TEST(DurableLogs, AreReplacedWhenLongerThanTheTables) {
  const ScratchDirectory scratch;
  DurableSetting setting;
  setting.txn = {.protocol = "occ", .workload = "ycsb", .nodes = 2, .transactions = 500};
  setting.txn.work.rows = 500;
  setting.logs = scratch.File("logs");
  setting.checkpoint_bytes = 1;
  setting.needs_checkpoints = true;
  EXPECT_TRUE(RunJob(setting).all_succeeded());
  std::set<std::uint64_t> generations;
  const auto names = txn::ListLogs(setting.logs);
  ASSERT_TRUE(names);
  for (const txn::LogName& name : *names) {
    generations.insert(name.generation);
    const auto log = txn::BatchLogReader::Open(txn::LogPath(setting.logs, name));
    ASSERT_TRUE(log);
    EXPECT_TRUE(std::any_of(log->batches().begin(), log->batches().end(), [](const auto& batch) {
      return static_cast<txn::LogPart>(batch.label[0]) == txn::LogPart::kRecords;
    })) << "the tables are not in it";
  }
  EXPECT_EQ(generations.size(), 1u);
  EXPECT_GT(*generations.begin(), 1u);
  setting.needs_checkpoints = false;
  EXPECT_TRUE(RunJob(setting).all_succeeded()) << "recovery from the last checkpoint";
}

// A node dies, the others take over its partitions, then all die.
TEST_P(Durable, CommitsSurviveOneDeathThenAll) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, "list-append");
  setting.txn.replicas = 2;
  setting.txn.death = {.node = 1, .stage = txn::Stage::kCommit, .times = 1 + random() % 100};
  ExpectOneGoodHistory(setting, random, 2);
}

TEST(DurableLogs, DamagedOrMissingLogsAreNotRecovered) {
  std::mt19937_64 random(TestSeed());
  const ScratchDirectory scratch;
  DurableSetting setting;
  setting.txn = {.protocol = "occ", .nodes = 2, .transactions = 20};
  setting.logs = scratch.File("logs");
  EXPECT_TRUE(RunJob(setting).all_succeeded());
  // The run has ended well, so a mark follows the last commit.
  const std::string path = scratch.File("logs/commits.1.1");
  const std::string whole = ReadText(path);
  const auto expect_refused = [&](const std::string& reason) {
    const NodesEnd end = RunJob(setting);
    EXPECT_FALSE(end.all_succeeded());
    EXPECT_NE(end.output.find(reason), std::string::npos) << end.output;
  };
  for (int i = 0; i < 3; ++i) {
    std::string damaged = whole;
    const std::size_t at = random() % (whole.size() - 56);
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << random() % 8);
    WriteText(path, damaged);
    expect_refused("damaged");
  }
  fs::remove(path);
  expect_refused("the log of node 1 is missing");
  WriteText(path, whole);
  setting.txn.work.rows = 9;
  setting.txn.nodes = 3;
  EXPECT_TRUE(RunJob(setting).all_succeeded()) << "with another number of nodes";
}

TEST(CommitLog, WritesNothingAfterAStop) {
  std::uint64_t written = 0;
  txn::CommitLog log({.write =
                          [&](std::span<const std::uint64_t>, std::uint64_t records) {
                            written += records;
                            return Status();
                          },
                      .wake = [] {},
                      .fail = [](const Error&) {}});
  const std::uint64_t record[] = {1, 2, 3};
  log.Add(record);
  EXPECT_TRUE(log.Flush());
  EXPECT_EQ(written, 1u);
  log.Stop();
  const std::uint64_t number = log.Add(record);
  EXPECT_FALSE(log.Flush());
  EXPECT_LT(log.durable(), number);
  EXPECT_EQ(written, 1u);
}

// Wherever the log is cut, all whole batches before the cut are found. Any flipped bit is detected.
// Only in the last batch it may pass for an incomplete write.
TEST(BatchLog, IsReadUpToTheLastWholeBatch) {
  std::mt19937_64 random(TestSeed());
  const ScratchDirectory scratch;
  const std::string path = scratch.File("log");
  std::vector<std::vector<std::uint64_t>> batches(5);
  std::vector<std::uint64_t> ends;
  {
    auto writer = txn::BatchLogWriter::Open(path, 0);
    ASSERT_TRUE(writer);
    for (auto& batch : batches) {
      batch.resize(random() % 10);
      for (std::uint64_t& word : batch) word = random();
      ASSERT_TRUE(writer->Append({random(), random(), random()}, batch));
      ends.push_back(writer->bytes());
    }
  }
  const std::string whole = ReadText(path);
  const auto expect_batches = [&](const txn::BatchLogReader& log, std::size_t count) {
    ASSERT_EQ(log.batches().size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(std::equal(batches[i].begin(), batches[i].end(), log.batches()[i].words.begin(),
                             log.batches()[i].words.end()));
    }
  };
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    WriteText(path, whole.substr(0, bytes));
    const auto log = txn::BatchLogReader::Open(path);
    ASSERT_TRUE(log) << log.error().message;
    const auto count = std::upper_bound(ends.begin(), ends.end(), bytes) - ends.begin();
    expect_batches(*log, static_cast<std::size_t>(count));
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    const std::size_t at = bit / 8;
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit % 8);
    WriteText(path, damaged);
    const auto log = txn::BatchLogReader::Open(path);
    if (at < ends[ends.size() - 2]) {
      ASSERT_FALSE(log) << "byte " << at;
      EXPECT_NE(log.error().message.find("damaged"), std::string::npos);
    } else {
      ASSERT_TRUE(log);
      expect_batches(*log, batches.size() - 1);
    }
  }
}

}  // namespace
}  // namespace slimgraph::test
