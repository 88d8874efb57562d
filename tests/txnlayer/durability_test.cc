// The death of all nodes, by SIGKILL at random moments, also while they recover from the last one:
// all that was reported is there, nothing is half there, and the histories of all runs together are
// as good as that of one.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "slimgraph/base/clock.h"
#include "tests/support/command.h"
#include "tests/support/list_append_checker.h"
#include "tests/support/node_processes.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/disk/batch_log.h"

namespace slimgraph::test {
namespace {

namespace fs = std::filesystem;

struct DurableSetting {
  TxnSetting txn;
  std::string logs;
  std::string journal;                     // "": none
  std::uint64_t kill_all_after_us = 0;     // from the start of the job; 0: it runs to its end
  std::vector<std::string> journals = {};  // that earlier runs have left
};

// Kills this process at that time, and a little later where it is another node.
std::jthread Killer(std::uint64_t at_ns) {
  return std::jthread([at_ns](const std::stop_token& over) {
    while (NowNs() < at_ns && !over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    if (!over.stop_requested()) ::kill(::getpid(), SIGKILL);
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
    SLIM_ASSIGN(options.stages,
                txn::StageCode::Parse(setting.txn.stages, protocol.name(), protocol.stages()));
    SLIM_ASSIGN(const auto engine, txn::Engine::Make(cluster, protocol, options));
    txn::WorkloadOptions work = setting.txn.work;
    work.journal = setting.journal;
    SLIM_ASSIGN(const auto workload, txn::MakeWorkload(setting.txn.workload, work));
    SLIM_TRY(workload->Load(*engine));
    SLIM_TRY(txn::KeepLogs(*engine, *workload, setting.logs));
    SLIM_TRY(
        txn::Drive(*engine, *workload,
                   {.seconds = setting.txn.seconds, .transactions = setting.txn.transactions}));
    SLIM_ASSIGN(lines, workload->history()->Gather(cluster.all(), setting.journals));
    return {};
  };
  const Status done = run();
  // Where another was killed before this one, what was noted is to stay.
  if (!done && setting.kill_all_after_us == 0) cluster.job().Fail(done.error());
  while (!done) ::pause();
  return lines;
}

NodesEnd RunJob(const DurableSetting& setting,
                const std::function<void(const std::vector<std::string>&)>& look = {}) {
  const auto protocol = txn::MakeProtocol(setting.txn.protocol);
  const std::uint64_t start_ns = NowNs();
  return RunNodes(setting.txn.nodes, OnLoss::kEndJob, [&](Job& job) {
    std::optional<std::jthread> killer;
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

// What a write leaves behind that was cut off in the middle: of a batch that looks like the last.
void AddTornTail(const std::string& path, std::mt19937_64& random) {
  auto log = txn::BatchLogReader::Open(path);
  ASSERT_TRUE(log) << log.error().message;
  if (log->broken_bytes() > 0 || log->batches().empty()) return;
  const std::uint64_t begin = (log->batches().back().place - 7) * 8;
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

  // Runs that are killed, one after the other, and one that is not; all of them are one history.
  void ExpectOneGoodHistory(DurableSetting setting, std::mt19937_64& random, int kills) {
    SCOPED_TRACE(NameOf(setting.txn));
    for (int run = 0; run < kills; ++run) {
      setting.journal = scratch_.File(fmt::format("journal{}", run));
      // When it has committed for long, whatever else the machine does, then also when the job is
      // hardly there.
      setting.kill_all_after_us = (run == 0 ? 80'000 : 5'000) + random() % 150'000;
      do {
        RunJob(setting);
        setting.kill_all_after_us *= 2;
      } while (run == 0 && !HasWritten(setting));
      for (NodeId node = 0; node < setting.txn.nodes; ++node) {
        const std::string left = txn::JournalOf(setting.journal, node);
        if (fs::exists(left)) setting.journals.push_back(left);
      }
      for (const auto& entry : fs::directory_iterator(scratch_.path() + "/logs")) {
        if (random() % 2 == 0) AddTornTail(entry.path(), random);
      }
    }
    setting.journal = "";
    setting.kill_all_after_us = 0;
    setting.txn.transactions = 40;
    setting.txn.death = {};
    const NodesEnd end = RunJob(setting, [&](const std::vector<std::string>& lines) {
      const bool strict = IsStrict(setting.txn.protocol);
      const Level level = strict ? Level::kStrictSerializable : Level::kSerializable;
      EXPECT_GT(lines.size(), std::size_t{2} * setting.txn.nodes * setting.txn.coroutines *
                                  setting.txn.transactions)
          << "nothing of the first runs";
      EXPECT_EQ(CheckListAppend(lines, level), "");
      EXPECT_EQ(AskAdya(lines, strict), "");
    });
    EXPECT_TRUE(end.all_well()) << end.output;
  }

  const ScratchDirectory scratch_;
};
INSTANTIATE_TEST_SUITE_P(All, Durable,
                         ::testing::Values("nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"),
                         [](const auto& one) { return one.param; });

TEST_P(Durable, CommitsOutliveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  ExpectOneGoodHistory(Setting(random, "list-append"), random, 3);
}

TEST_P(Durable, CommitsOnGraphsOutliveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  ExpectOneGoodHistory(Setting(random, "graph-append"), random, 2);
}

// Each fold begins the logs anew, with what has been folded.
TEST_P(Durable, CommitsOnGraphsThatAreFoldedOutliveTheDeathOfAllNodes) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, "graph-append");
  setting.txn.work.fold_share = 0.01;
  ExpectOneGoodHistory(setting, random, 2);
}

TEST_P(Durable, CommitsOnFoldedGraphsOutliveADeathAndThenAll) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, "graph-append");
  setting.txn.replicas = 2;
  setting.txn.death = {.node = 1, .stage = txn::Stage::kCommit, .times = 1 + random() % 300};
  setting.txn.work.fold_share = 0.01;
  ExpectOneGoodHistory(setting, random, 2);
}

// A node dies, the others take over what was its own, then all die.
TEST_P(Durable, CommitsOutliveADeathAndThenAll) {
  std::mt19937_64 random(TestSeed());
  fs::create_directory(scratch_.File("logs"));
  DurableSetting setting = Setting(random, "list-append");
  setting.txn.replicas = 2;
  setting.txn.death = {.node = 1, .stage = txn::Stage::kCommit, .times = 1 + random() % 100};
  ExpectOneGoodHistory(setting, random, 2);
}

TEST(DurableLogs, ThatAreDamagedInTheMiddleOrMissingAreNotRecovered) {
  std::mt19937_64 random(TestSeed());
  const ScratchDirectory scratch;
  DurableSetting setting;
  setting.txn = {.protocol = "occ", .nodes = 2, .transactions = 20};
  setting.logs = scratch.File("logs");
  EXPECT_TRUE(RunJob(setting).all_well());
  // It has ended well, so there is something behind every commit.
  const std::string path = scratch.File("logs/commits.1.1");
  const std::string whole = ReadText(path);
  const auto expect_refused = [&](const std::string& reason) {
    const NodesEnd end = RunJob(setting);
    EXPECT_FALSE(end.all_well());
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
  EXPECT_TRUE(RunJob(setting).all_well()) << "on other nodes";
}

// Wherever a log is cut, its whole batches are found; wherever a bit is wrong, it is found out, and
// only of the last batch it may be taken for a tail that was being written.
TEST(BatchLog, IsReadAsFarAsItIsWhole) {
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
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << random() % 8);
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
