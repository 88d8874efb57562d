// Aside files form a chain: each adds to the one before.
#include <filesystem>
#include <set>

#include "tests/support/command.h"
#include "tests/support/node_processes.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/internal/durability/durability.h"

namespace slimgraph::test {
namespace {

constexpr std::uint64_t kKind = 7;
constexpr std::uint64_t kIdentity = 1;
constexpr NodeId kNodes = 2;

// Keeps a set of words aside.
class KeptWords : public txn::AsideOwner {
 public:
  Status RestoreBatch(std::uint64_t kind, std::span<const std::uint64_t> words) override {
    EXPECT_EQ(kind, kKind);
    taken.insert(words.begin(), words.end());
    return {};
  }
  Status FinishRestore() override { return {}; }
  Status WriteAll(const Write& write) override {
    return write(kKind, std::vector<std::uint64_t>(taken.begin(), taken.end()));
  }
  std::set<std::uint64_t> taken;
};

class AsideLogs : public ::testing::Test {
 protected:
  // Calls `work` on each node, after it has begun with the logs in the folder.
  using Work = std::function<void(Cluster&, Result<std::unique_ptr<txn::Durability>>, KeptWords&)>;
  void OnNodes(const Work& work) const {
    const NodesEnd end = RunNodes(kNodes, OnLoss::kEndJob, [&](Job& job) {
      auto cluster = Cluster::Start(job, {.compute = kNodes, .threads = 1, .transport = "shm"});
      ASSERT_TRUE(cluster) << cluster.error().message;
      const auto protocol = txn::MakeProtocol("occ");
      const auto engine = txn::Engine::Make(**cluster, **protocol, {});
      ASSERT_TRUE(engine);
      KeptWords aside;
      work(**cluster,
           txn::Durability::Begin((*engine)->tables(), folder_, {.identity = kIdentity}, &aside),
           aside);
      EXPECT_TRUE((*cluster)->Stop());
    });
    EXPECT_TRUE(end.all_succeeded()) << end.output;
  }
  // Each word must be on one node.
  void ExpectRestored(std::size_t count) const {
    OnNodes([&](Cluster& cluster, const auto& logs, KeptWords& aside) {
      ASSERT_TRUE(logs) << logs.error().message;
      EXPECT_EQ(*cluster.all().AllSum(aside.taken.size()), count);
    });
  }
  std::vector<txn::LogName> Names() const {
    const auto names = txn::ListLogs(folder_);
    EXPECT_TRUE(names);
    return *names;
  }

  const ScratchDirectory scratch_;
  const std::string folder_ = scratch_.File("logs");
};

// The bytes written stay within a few times the live data. A recovery finds everything, even if the
// last next log is incomplete.
TEST_F(AsideLogs, EachFileAddsToTheOneBefore) {
  constexpr std::uint64_t kRounds = 40;
  constexpr std::uint64_t kWords = 100;  // per node and round
  OnNodes([&](Cluster& cluster, const auto& begun, KeptWords&) {
    ASSERT_TRUE(begun) << begun.error().message;
    txn::Durability& logs = **begun;
    std::uint64_t written = 0;
    std::uint64_t anew_times = 0;
    for (std::uint64_t round = 0; round <= kRounds; ++round) {
      const auto anew = logs.BeginNext(cluster.all());
      ASSERT_TRUE(anew) << anew.error().message;
      std::vector<std::uint64_t> words;
      if (*anew) {
        ++anew_times;
        ASSERT_TRUE(logs.ReadAside([&](std::uint64_t, std::span<const std::uint64_t> before) {
          words.insert(words.end(), before.begin(), before.end());
        }));
        EXPECT_EQ(words.size(), round * kWords);
      }
      for (std::uint64_t i = 0; i < kWords; ++i) {
        words.push_back((round * kNodes + cluster.self()) * kWords + i);
      }
      ASSERT_TRUE(logs.AddAsideToNext(kKind, words));
      written += words.size();
      if (round == kRounds) break;  // as if it had been killed
      ASSERT_TRUE(logs.CompleteNext({}, 0));
      ASSERT_TRUE(cluster.all().Barrier());
      ASSERT_TRUE(logs.SwitchToNext());
      ASSERT_TRUE(cluster.all().Barrier());
      ASSERT_TRUE(logs.RemovePrevious());
    }
    EXPECT_GT(anew_times, 2u);
    EXPECT_LT(anew_times, kRounds / 4);
    EXPECT_LE(written, 4 * kRounds * kWords);
  });
  std::set<std::uint64_t> chain;
  for (const txn::LogName& name : Names()) {
    if (name.kind == txn::LogKind::kAside) chain.insert(name.generation);
  }
  EXPECT_GT(chain.size(), 2u);
  ExpectRestored(kRounds * kNodes * kWords);
  ExpectRestored(kRounds * kNodes * kWords);
}

TEST_F(AsideLogs, AMissingFileIsAnError) {
  ExpectRestored(0);
  for (const txn::LogName& name : Names()) {
    if (name.kind == txn::LogKind::kAside && name.node == 1) {
      std::filesystem::remove(txn::LogPath(folder_, name));
    }
  }
  OnNodes([&](Cluster&, const auto& logs, KeptWords&) {
    ASSERT_FALSE(logs);
    EXPECT_NE(logs.error().message.find("aside.1.1: the log of node 1 is missing"),
              std::string::npos)
        << logs.error().message;
  });
}

// Older programs kept all of it in the logs of commits.
TEST_F(AsideLogs, CommitLogsOfOlderProgramsAreRead) {
  ASSERT_TRUE(txn::MakeLogFolder(folder_));
  for (std::uint64_t node = 0; node < kNodes; ++node) {
    auto log = txn::BatchLogWriter::Open(txn::LogPath(folder_, {3, node}), 0);
    ASSERT_TRUE(log);
    const std::uint64_t run = 2;
    const std::uint64_t words[] = {10 + node, 20 + node};
    const auto append = [&](txn::LogPart part, std::uint64_t one, std::uint64_t other,
                            std::span<const std::uint64_t> of) {
      ASSERT_TRUE(log->Append({static_cast<std::uint64_t>(part), one, other}, of));
    };
    append(txn::LogPart::kHead, kIdentity, kNodes, std::span(&run, 1));
    append(txn::LogPart::kAside, kKind, 0, words);
    append(txn::LogPart::kComplete, 0, 0, {});
    append(txn::LogPart::kBegun, 0, 0, {});
  }
  OnNodes([&](Cluster& cluster, const auto& logs, KeptWords& aside) {
    ASSERT_TRUE(logs) << logs.error().message;
    const std::uint64_t self = cluster.self();
    EXPECT_EQ(aside.taken, (std::set<std::uint64_t>{10 + self, 20 + self}));
    EXPECT_EQ((*logs)->run(), 3u);
  });
  ExpectRestored(4);
}

}  // namespace
}  // namespace slimgraph::test
