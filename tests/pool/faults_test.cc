// What may befall a pool: nodes, clients and jobs that end at any time, strangers, and files that
// are not what they were.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/launch/host_identity.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/pool/internal/conversation.h"
#include "tests/pool/programs.h"
#include "tests/support/node_processes.h"
#include "tests/support/strangers.h"

namespace slimgraph::test {
namespace {

using internal::Conversation;
using ::testing::HasSubstr;

// Kills a child of this process and reaps it.
void KillNode(const PoolNodeAddress& node) {
  ASSERT_EQ(::kill(node.process, SIGKILL), 0);
  ::waitpid(node.process, nullptr, 0);
}

std::uint16_t PortOf(const PoolNodeAddress& node) {
  return static_cast<std::uint16_t>(std::stoi(node.address.substr(node.address.rfind(':') + 1)));
}

TEST_F(Pools, NameANodeThatHasEndedAndBringItBack) {
  const PoolDescriptor pool = Start("p", 3);
  Unwrap(Load("p", "g", "5000"));
  Unwrap(Load("p", "h", "600"));
  KillNode(pool.nodes[1]);
  PoolView view = Unwrap(ViewPool("p"));
  EXPECT_TRUE(view.nodes[0].status && view.nodes[2].status);
  EXPECT_FALSE(view.nodes[1].runs);
  EXPECT_THAT(view.nodes[1].problem, HasSubstr("node 1 of pool 'p' has ended"));
  EXPECT_THAT(RunJob("p", "g", 1).error().message,
              HasSubstr("node 1 of pool 'p' has ended: 'slimgraph pool start p' starts it again"));
  EXPECT_THAT(Load("p", "i", "1").error().message, HasSubstr("node 1 of pool 'p' has ended"));
  const PoolStarted again = Unwrap(StartPool({.name = "p"}));
  EXPECT_EQ(again.started, 1);
  EXPECT_EQ(again.reloaded, (std::vector<std::string>{"g", "h"}));
  EXPECT_EQ(again.pool.nodes[0].process, pool.nodes[0].process);
  EXPECT_EQ(Unwrap(RunJob("p", "g", 2))[1], "g 5000 of 3: 1, 5000");
}

TEST_F(Pools, DoNotMixAFileWithWhatItWas) {
  const PoolDescriptor pool = Start("p", 2);
  Unwrap(Load("p", "g", "5000"));
  KillNode(pool.nodes[0]);
  WriteGraph(File("g.words"), "7000");
  const auto again = StartPool({.name = "p"});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("has changed since graph 'g' was loaded"));
  EXPECT_FALSE(RunJob("p", "g", 1));
  Unwrap(DropFromPool("p", "g"));
  Unwrap(Load("p", "g", "7000"));
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1))[0], "g 7000 of 2: 0, 7000");
}

TEST_F(Pools, DoNotMindALoaderThatIsStoppedAfterItsWork) {
  Start("p", 2);
  Unwrap(Load("p", "g", "stops"));
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1))[1], "g stops of 2: 1, 1");
  EXPECT_TRUE(AwaitProcesses(2));
}

// Parts of two loads of one name: a client has died between its last two words.
TEST_F(Pools, DoNotMixTwoLoads) {
  const PoolDescriptor pool = Start("p", 2);
  Unwrap(Load("p", "g", "5000"));
  auto node = Unwrap(Conversation::Open(pool, 1));
  Unwrap(node.Ask({"drop", "g"}));
  Unwrap(node.Ask({"load", "g", "another", File("g.words"), "g"}));
  Unwrap(node.Ask({"keep"}));
  EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("another load of graph 'g'"));
  EXPECT_TRUE(AwaitProcesses(2));
}

// The node needs a moment to notice that a client has ended.
TEST_F(Pools, LoadWhatAClientHasJustGivenUp) {
  const PoolDescriptor pool = Start("p", 1);
  WriteGraph(File("g.words"), "5000");
  auto client = std::make_optional(Unwrap(Conversation::Open(pool, 0)));
  Unwrap(client->Ask({"load", "g", "another", File("g.words"), "g"}));
  EXPECT_THAT(Load("p", "g", "5000").error().message, HasSubstr("being loaded by another command"));
  const std::jthread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    client.reset();
  });
  Unwrap(Load("p", "g", "5000"));
}

TEST_F(Pools, RecogniseAStaleDescriptor) {
  PoolDescriptor pool = Start("p", 2);
  for (const PoolNodeAddress& node : pool.nodes) KillNode(node);
  EXPECT_THAT(Load("p", "g", "1").error().message, HasSubstr("have ended, and its graphs"));
  EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("have ended, and its graphs"));
  EXPECT_EQ(Unwrap(ListPools())[0].running, 0);
  // A number that another process has got is not the node's.
  for (PoolNodeAddress& node : pool.nodes) node.process = ::getpid();
  Unwrap(WriteDescriptor(pool));
  EXPECT_THAT(Load("p", "g", "1").error().message, HasSubstr("have ended, and its graphs"));
  EXPECT_EQ(Unwrap(StartPool({.name = "p"})).started, 2);
  Unwrap(Load("p", "g", "1"));
  for (const PoolNodeAddress& node : Unwrap(ViewPool("p")).pool.nodes) KillNode(node);
  Unwrap(StopPool("p", false));
  EXPECT_TRUE(Unwrap(ListPools()).empty());
}

// A killed process exists until its memory has been freed, but accepts no connection any more.
TEST_F(Pools, TakeAProcessThatIsEndingForEnded) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const pid_t process = Fork([] {
      const std::vector<char> memory(32 << 20, 'm');
      while (true) ::pause();
    });
    PoolNodeAddress node{.machine = HostIdentity(), .process = process};
    node.started = StartOfProcess(process);
    EXPECT_TRUE(IsRunning(node));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // it has filled its memory
    ASSERT_EQ(::kill(process, SIGKILL), 0);
    while (!ReadText(fmt::format("/proc/{}/environ", process)).empty()) std::this_thread::yield();
    EXPECT_FALSE(IsRunning(node));
    ASSERT_EQ(::waitpid(process, nullptr, 0), process);
  }
}

TEST_F(Pools, RefuseOtherVersions) {
  PoolDescriptor pool = Start("p", 1);
  pool.version = "0.0.1";
  Unwrap(WriteDescriptor(pool));
  for (const Status& status :
       {Load("p", "g", "1").map([](auto) {}), RunJob("p", "g", 1).map([](const auto&) {}),
        StartPool({.name = "p"}).map([](const auto&) {})}) {
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr("pool 'p' is of slimgraph 0.0.1, and this is"));
  }
  pool.protocol = 77;
  Unwrap(WriteDescriptor(pool));
  EXPECT_THAT(StopPool("p", true).error().message, HasSubstr("stop it with that version"));
  WriteText(DescriptorPath(File("pools"), "p"), fmt::format("{{\"protocol\": {}}}", kPoolProtocol));
  EXPECT_THAT(ViewPool("p").error().message, HasSubstr("is not a pool's descriptor"));
}

TEST_F(Pools, RefuseAWrongKeyAndGoOn) {
  const PoolDescriptor pool = Start("p", 2);
  PoolDescriptor forged = pool;
  forged.key.back() = forged.key.back() == 'a' ? 'b' : 'a';
  EXPECT_THAT(Conversation::Open(forged, 0).error().message,
              HasSubstr("does not accept the key of the descriptor"));
  // The key is right, but the address is another node's.
  PoolDescriptor mixed = pool;
  std::swap(mixed.nodes[0], mixed.nodes[1]);
  EXPECT_THAT(Conversation::Open(mixed, 0).error().message, HasSubstr("it is node 1"));
  Unwrap(Load("p", "g", "1"));
}

TEST_F(Pools, EnduranceOfAThousandStrangers) {
  const PoolDescriptor pool = Start("p", 1);
  std::vector<UniqueFd> strangers;
  std::size_t count = 0;
  for (std::uint64_t seed = 1; count < 1000; ++seed) {
    for (const std::string& word : StrangerMessages(seed)) {
      if (strangers.size() == 200) strangers.clear();
      strangers.push_back(ConnectStranger(PortOf(pool.nodes[0])));
      ASSERT_TRUE(strangers.back());
      ::send(strangers.back().get(), word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (++count % 250 == 0) Unwrap(ViewPool("p"));
    }
  }
  EXPECT_TRUE(Unwrap(ViewPool("p")).nodes[0].status);
  Unwrap(Load("p", "g", "1"));
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1)).size(), 1);
}

// Whoever knows the key but sends nonsense is cut off, and harms nobody else.
TEST_F(Pools, SurviveNonsenseOfAClient) {
  const PoolDescriptor pool = Start("p", 1);
  const std::vector<std::vector<std::string>> nonsense{{"nonsense"},
                                                       {"load"},
                                                       {"keep"},
                                                       {"attach", "g"},
                                                       {"attach", "g", "i", "p", "/", "1"},
                                                       {"find", std::string(100000, 'x')},
                                                       {"", ""}};
  for (const auto& words : nonsense) {
    EXPECT_FALSE(Unwrap(Conversation::Open(pool, 0)).Ask(words));
  }
  auto client = Unwrap(Conversation::Open(pool, 0));
  SendFrame(client.fd(), {.type = FrameType::kSealed, .body = std::string(100, 'x')});
  EXPECT_FALSE(client.Ask({"status"}));
  EXPECT_TRUE(Unwrap(ViewPool("p")).nodes[0].status);
}

TEST_F(Pools, ForgetALoadWhoseClientEnds) {
  Start("p", 2);
  const pid_t client = Fork([&] { static_cast<void>(Load("p", "g", "hang")); });
  ASSERT_TRUE(AwaitProcesses(4));  // two nodes and their loaders
  // Not by Load(), which writes the file that the loaders may still have to read.
  const auto second = LoadIntoPool({.pool = "p", .graph = "g", .file = File("g.words")});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("is being loaded"));
  ::kill(client, SIGKILL);
  ::waitpid(client, nullptr, 0);
  ASSERT_TRUE(AwaitProcesses(2));
  const auto is_empty = [](const PoolNodeView& node) {
    return node.status && node.status->graphs.empty();
  };
  while (!std::ranges::all_of(Unwrap(ViewPool("p")).nodes, is_empty)) std::this_thread::yield();
  Unwrap(Load("p", "g", "1"));
}

// A client that has loaded a graph, but does not say that all nodes have.
TEST_F(Pools, ForgetAGraphThatIsNotKept) {
  const PoolDescriptor pool = Start("p", 1);
  WriteGraph(File("g.words"), "100");
  {
    auto client = Unwrap(Conversation::Open(pool, 0));
    Unwrap(client.Ask({"load", "g", "id", File("g.words"), "g"}));
    EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("still being loaded"));
  }
  while (!Unwrap(ViewPool("p")).nodes[0].status->graphs.empty()) std::this_thread::yield();
}

TEST_F(Pools, EndTheDeputiesOfAJobThatIsKilled) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  for (const char* const command : {kJobCommand, kDeafJobCommand}) {
    const pid_t job = Fork([&] {
      const auto attachment = Attachment::Make({.pool = "p", .graph = "g", .words = {command}});
      while (attachment) ::pause();
    });
    ASSERT_TRUE(AwaitProcesses(4));
    ::kill(job, SIGKILL);
    ::waitpid(job, nullptr, 0);
    EXPECT_TRUE(AwaitProcesses(2)) << command;
  }
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1)).size(), 2);
}

TEST_F(Pools, TellAJobThatItsDeputiesHaveEnded) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  const auto job = RunJob("p", "g", 1, kBrokenJobCommand);
  ASSERT_FALSE(job);
  EXPECT_THAT(job.error().message, HasSubstr("the deputy of node"));
}

TEST_F(Pools, EndIfTheCommandThatStartsThemDies) {
  const pid_t starter = Fork([&] {
    // Nobody can write into the folder of the descriptor, so that the start fails.
    const auto limit = rlimit{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto started = StartPool({.name = "p", .nodes = 2});
    ::_exit(started ? 0 : 7);
  });
  int status = 0;
  ::waitpid(starter, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(AwaitProcesses(0));
  EXPECT_TRUE(Unwrap(ListPools()).empty());
  EXPECT_EQ(Unwrap(StartPool({.name = "p", .nodes = 2})).started, 2);
}

// Clients are killed and stopped at random moments; the pool then has neither graphs nor processes
// of theirs.
TEST_F(Pools, HaveNothingLeftOfClientsThatAreKilled) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  Start("p", 2);
  Unwrap(Load("p", "g", "100000"));
  const UniqueFd never = Unwrap(ListenTcp("127.0.0.1"));
  for (int round = 0; round < 30; ++round) {
    const pid_t client = Fork([&] {
      if (round % 2 == 0) {
        static_cast<void>(Load("p", fmt::format("h{}", round), "50000"));
      } else {
        static_cast<void>(RunJob("p", "g", 2));
      }
    });
    AwaitReadable(never.get(), std::chrono::microseconds(random() % 30'000));
    if (round % 3 == 0) ::kill(client, SIGSTOP);
    ::kill(client, SIGKILL);
    ::waitpid(client, nullptr, 0);
  }
  ASSERT_TRUE(AwaitProcesses(2));
  for (const PoolNodeView& node : Unwrap(ViewPool("p")).nodes) {
    EXPECT_TRUE(node.status->jobs.empty());
    for (const KeptGraphStatus& graph : node.status->graphs) EXPECT_TRUE(graph.ready);
  }
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1)).size(), 2);
}

// How often the process's threads have slept, and how many threads there are.
std::pair<std::uint64_t, std::size_t> SleepsOf(pid_t process) {
  std::uint64_t sleeps = 0;
  std::size_t threads = 0;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process))) {
    const std::string status = ReadText(task.path().string() + "/status");
    const std::string name = "voluntary_ctxt_switches:";
    if (status.find(name) == std::string::npos) continue;  // the thread has just ended
    sleeps += std::stoull(status.substr(status.find(name) + name.size()));
    ++threads;
  }
  return {sleeps, threads};
}

TEST_F(Pools, SleepWhileNobodyAsks) {
  const PoolDescriptor pool = Start("p", 1);
  Unwrap(Load("p", "g", "100"));
  const pid_t node = pool.nodes[0].process;
  while (SleepsOf(node).second > 1) std::this_thread::yield();
  const std::uint64_t before = SleepsOf(node).first;
  const UniqueFd never = Unwrap(ListenTcp("127.0.0.1"));
  AwaitReadable(never.get(), std::chrono::milliseconds(500));
  EXPECT_LE(SleepsOf(node).first, before + 1);  // it may have been about to sleep
}

}  // namespace
}  // namespace slimgraph::test
