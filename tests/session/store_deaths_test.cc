// Stores of processes that die, of nodes that die, and of full disks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/session/store_support.h"

namespace slimgraph::test {
namespace {

class HurtStores : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  std::string path_ = folder_ / "store";
};
class HurtStoresWith : public HurtStores, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, HurtStoresWith,
                         ::testing::Values("nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"),
                         [](const auto& one) { return std::string(one.param); });

// What other processes do, which this test starts from its own program.
constexpr const char* kStoreVariable = "TEST_STORE_PATH";

CommandEnd RunSelf(const std::string& test, const std::string& path) {
  RunningCommand command({std::filesystem::read_symlink("/proc/self/exe").string(),
                          "--gtest_also_run_disabled_tests", "--gtest_filter=" + test},
                         {kStoreVariable + ("=" + path)});
  return command.Wait(std::chrono::seconds(60));
}

TEST(DISABLED_Process, DiesAfterCommits) {
  Session session = SessionOf(3);
  GraphStore store = StoreOf(session, std::getenv(kStoreVariable));
  for (std::uint64_t v = 0; v < 8; ++v) {
    const auto outcome = store.Submit([v](WriteTransaction& t) { return t.AddEdge(v, v + 2); });
    if (!const_cast<std::future<TransactionOutcome>&>(outcome).get().committed()) std::_Exit(1);
  }
  std::_Exit(7);
}

TEST_F(HurtStores, KeepCommitsOfAProcessThatDied) {
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_));
  EXPECT_EQ(RunSelf("DISABLED_Process.DiesAfterCommits", path_).code, 7);
  // The store is updated before it has the commits.
  WriteFile(folder_ / "updates", "+ 0 9\n");
  const CommandEnd apply = RunSlimgraph({"store", "apply", path_, "--from", folder_ / "updates"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  {
    GraphStore store = StoreOf(session, path_);
    EXPECT_EQ(EdgesOf(store), 18U);
  }
  const CommandEnd exported = RunSlimgraph({"store", "export", path_, "-o", folder_ / "out.slim"});
  EXPECT_THAT(exported.out, ::testing::HasSubstr("18 edges")) << exported.err;
  ASSERT_OK(session.Close());
}

// A device that is always full takes the place of the log.
TEST(DISABLED_Process, CannotWriteTheLog) {
  Session session = SessionOf(1);
  GraphStore store = StoreOf(session, std::getenv(kStoreVariable));
  const auto link = [&](std::uint64_t u) {
    return store.Submit([u](WriteTransaction& t) { return t.AddEdge(u, u + 2); }).get();
  };
  EXPECT_TRUE(link(1).committed());
  const int full = ::open("/dev/full", O_RDWR);
  ASSERT_GE(full, 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string file = std::filesystem::read_symlink(entry.path(), gone).string();
    if (file.find("/commits.") != std::string::npos) {
      ASSERT_GE(::dup2(full, std::stoi(entry.path().filename().string())), 0);
    }
  }
  const TransactionOutcome lost = link(2);
  EXPECT_EQ(lost.end, End::kUnknown);
  EXPECT_THAT(lost.cause.message, ::testing::HasSubstr("No space left"));
  const TransactionOutcome after = link(3);
  EXPECT_EQ(after.end, End::kAborted);
  EXPECT_EQ(after.cause.message, lost.cause.message);
  EXPECT_EQ(MessageOf(store.Snapshot()), lost.cause.message);
  EXPECT_EQ(MessageOf(store.Close()), lost.cause.message);
  EXPECT_OK(session.Close());
}

TEST_F(HurtStores, SayThatTheLogCannotBeWritten) {
  // So many that the changes are few and are not folded, which would begin a new log.
  constexpr std::uint64_t kEdges = 20'000;
  Session session = SessionOf(1);
  ASSERT_OK(MakePath(session, path_, {}, kEdges));
  const CommandEnd end = RunSelf("DISABLED_Process.CannotWriteTheLog", path_);
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  GraphStore store = StoreOf(session, path_);
  EXPECT_EQ(EdgesOf(store), kEdges + 1);
  ASSERT_OK(session.Close());
}

// The processes that this one has started.
std::vector<pid_t> MemoryNodes() {
  std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return {std::istream_iterator<pid_t>(in), {}};
}

TEST_P(HurtStoresWith, SurviveTheDeathOfAMemoryNode) {
  const std::string path = folder_ / "store";
  std::mt19937_64 random = SeededRandom();
  std::set<std::uint64_t> certain, possible;
  {
    Session session = SessionOf(3);
    ASSERT_OK(MakePath(session, path));
    StoreOptions options;
    options.protocol = GetParam();
    GraphStore store = StoreOf(session, path, options);
    std::vector<std::future<TransactionOutcome>> ends;
    const std::uint64_t killed_at = 20 + random() % 200;
    for (std::uint64_t i = 0; i < 400; ++i) {
      ends.push_back(store.Submit([i](WriteTransaction& t) -> Status {
        SLIM_TRY(t.AddVertex(100 + i));
        return t.AddEdge(i % 10, 100 + i);
      }));
      if (i == killed_at) {
        ends[random() % 20].wait();
        ::kill(MemoryNodes()[0], SIGKILL);
      }
    }
    std::string line;
    for (std::uint64_t i = 0; i < ends.size(); ++i) {
      const TransactionOutcome outcome = ends[i].get();
      if (outcome.committed()) certain.insert(100 + i);
      if (outcome.end == End::kUnknown) possible.insert(100 + i);
      if (outcome.end == End::kAborted) line = outcome.cause.message;
    }
    EXPECT_THAT(line, ::testing::HasSubstr("node ")) << GetParam();
    EXPECT_EQ(MessageOf(store.Snapshot()), line);
    EXPECT_EQ(MessageOf(store.Close()), line);
    EXPECT_EQ(MessageOf(session.Close()), line);
  }
  EXPECT_TRUE(MemoryNodes().empty());
  Session session = SessionOf(1);
  GraphStore store = StoreOf(session, path);
  std::set<std::uint64_t> found;
  EXPECT_TRUE(store
                  .SubmitReadOnly([&](ReadTransaction& t) -> Status {
                    found.clear();
                    for (std::uint64_t v = 100; v < 500; ++v) {
                      SLIM_ASSIGN(const bool exists, t.HasVertex(v));
                      if (exists) found.insert(v);
                    }
                    return {};
                  })
                  .get()
                  .committed());
  for (const std::uint64_t v : certain) EXPECT_TRUE(found.contains(v)) << v;
  for (const std::uint64_t v : found) {
    EXPECT_TRUE(certain.contains(v) || possible.contains(v)) << v;
  }
  EXPECT_EQ(EdgesOf(store), 9 + found.size());
  ASSERT_OK(session.Close());
}

}  // namespace
}  // namespace slimgraph::test
