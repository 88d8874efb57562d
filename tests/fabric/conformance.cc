#include "tests/fabric/conformance.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "slimgraph/base/sync.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/launch/started_by.h"
#include "tests/support/node_processes.h"

namespace slimgraph {

namespace {

// mpiexec starts this test again; its body then finds that it runs as a node.
int RunThisTestUnderMpiexec(NodeId nodes) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(info->test_suite_name()) + "." + info->name();
  const auto code = RunLocalJob(nodes, {"--gtest_filter=" + name});
  if (!code) ADD_FAILURE() << code.error().message;
  return code.value_or(4);
}

// When a node was killed, mpiexec does not report the exit codes of the other nodes. So each node
// that succeeds appends a mark to this file.
constexpr const char* kSurvivorsVariable = "SLIMGRAPH_TEST_SURVIVORS";

class SurvivorList {
 public:
  explicit SurvivorList(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  void Sign() const { std::ofstream(path_, std::ios::app) << 'x' << std::flush; }
  std::size_t Count() const {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path_, none);
    std::filesystem::remove(path_);
    return none ? 0 : bytes;
  }

 private:
  std::string path_;
};

}  // namespace

void FabricConformance::OnEveryNode(const Body& body, FabricOptions options, int limit_s) {
  const auto closing = [&](Job& job, const std::unique_ptr<Fabric>& fabric) {
    body(job, *fabric);
    const Status closed = fabric->Close();
    EXPECT_TRUE(closed) << closed.error().message;
  };
  OnEveryNodeUnclosed(closing, std::move(options), limit_s);
}

void FabricConformance::OnEveryNodeUnclosed(const OwningBody& body, FabricOptions options,
                                            int limit_s) {
  options.transport = transport();
  SCOPED_TRACE(fmt::format("SLIMGRAPH_TEST_SEED={}", TestSeed()));
  if (transport() != "mpi") {
    ExpectNodesRun(nodes(), [&](Job& job) { RunNode(job, body, options); }, limit_s,
                   {.encrypts = GetParam().encrypts});
  } else if (StartedBy() == Starter::kPmi) {
    auto job = Job::JoinFromEnvironment(PmiUse::kMpi);
    ASSERT_TRUE(job) << job.error().message;
    RunNode(**job, body, options);
    ASSERT_TRUE((*job)->Leave(HasFailure() ? 1 : 0));
  } else {
    EXPECT_EQ(RunThisTestUnderMpiexec(nodes()), 0);
  }
}

void FabricConformance::OnSurvivors(NodeId killed, const Body& body, int limit_s) {
  const auto owning = [&](Job& job, const std::unique_ptr<Fabric>& fabric) { body(job, *fabric); };
  OnSurvivorsUnclosed(killed, owning, limit_s);
}

void FabricConformance::OnSurvivorsUnclosed(NodeId killed, const OwningBody& body, int limit_s) {
  const FabricOptions options{.transport = transport(), .network = "none", .endpoints = 1};
  if (transport() != "mpi") {
    const NodesEnd end =
        RunNodes(nodes(), OnLoss::kReport, [&](Job& job) { RunNode(job, body, options); }, limit_s,
                 {.encrypts = GetParam().encrypts});
    for (NodeId node = 0; node < nodes(); ++node) {
      EXPECT_EQ(end.codes[node], node == killed ? 128 + SIGKILL : 0) << end.output;
    }
  } else if (StartedBy() == Starter::kPmi) {
    auto job = Job::JoinFromEnvironment(PmiUse::kMpi, OnLoss::kReport);
    ASSERT_TRUE(job) << job.error().message;
    RunNode(**job, body, options);
    if (!HasFailure()) SurvivorList(std::getenv(kSurvivorsVariable)).Sign();
    std::fflush(nullptr);
    ::_exit(HasFailure() ? 1 : 0);
  } else {
    SurvivorList survivors(::testing::TempDir() + fmt::format("survivors.{}", ::getpid()));
    ::setenv(kSurvivorsVariable, survivors.path().c_str(), 1);
    // When a process dies, hydra's proxy kills the others about every second time, whatever its
    // options. Then no survivor is left to test, so this tries again.
    std::size_t count = 0;
    for (int attempt = 0; attempt < 25 && count + 1 < nodes(); ++attempt) {
      EXPECT_NE(RunThisTestUnderMpiexec(nodes()), 0);
      count = survivors.Count();
    }
    EXPECT_EQ(count, nodes() - 1);
  }
}

void FabricConformance::RunNode(Job& job, const OwningBody& body, const FabricOptions& options) {
  ChooseRdmaDevice(job.self());
  auto fabric = Fabric::Open(job, options);
  ASSERT_TRUE(fabric) << fabric.error().message;
  body(job, *std::move(fabric));
}

std::vector<Setting> AllSettings() {
  std::vector<Setting> settings;
#ifdef SLIMGRAPH_SIM
  constexpr std::array kTransports = {"sim", "sim-datagrams", "shm", "tcp"};
#else
  constexpr std::array kTransports = {"shm", "tcp", "mpi", "verbs"};
#endif
  for (const char* const transport : kTransports) {
    for (const NodeId nodes : {1, 2, 4, 8}) {
      // MPI's own waits spin, and eight nodes are more than most machines have processors.
      if (nodes <= 4 || transport != std::string("mpi")) settings.push_back({transport, nodes});
    }
  }
#ifndef SLIMGRAPH_SIM
  settings.push_back({"tcp", 2, /*encrypts=*/true});
#endif
  return settings;
}

std::vector<Setting> MultiNodeSettings(NodeId most) {
  auto settings = AllSettings();
  std::erase_if(settings, [most](const Setting& s) { return s.nodes < 2 || s.nodes > most; });
  return settings;
}

std::vector<Setting> ShmAndTcpSettings(NodeId most) {
  auto settings = MultiNodeSettings(most);
  std::erase_if(settings,
                [](const Setting& s) { return s.transport != "shm" && s.transport != "tcp"; });
  return settings;
}

std::string NameOfSetting(const ::testing::TestParamInfo<Setting>& info) {
  std::string name = fmt::format("{}{}{}", info.param.transport, info.param.nodes,
                                 info.param.encrypts ? "encrypted" : "");
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<std::byte> Pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> pattern(bytes);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (std::byte& byte : pattern) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::byte>(state >> 56);
  }
  return pattern;
}

NodeId RightOf(const Job& job) { return (job.self() + 1) % job.nodes(); }

MutableBytes AsBytes(std::vector<std::byte>& bytes) { return bytes; }

std::vector<Completion> Complete(Endpoint& endpoint) {
  std::vector<Completion> completions;
  endpoint.Ring();
  EXPECT_TRUE(
      endpoint.WaitUntil([&] { return endpoint.outstanding() == 0; }, std::chrono::seconds(30)));
  endpoint.Poll(completions);
  return completions;
}

bool AwaitWord(Endpoint& endpoint, std::byte* address, std::uint64_t least) {
  const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(address));
  for (int i = 0; i < 20'000; ++i) {
    if (endpoint.WaitUntil([&] { return word.load() >= least; }, std::chrono::milliseconds(1))) {
      return true;
    }
  }
  return false;
}

// A node that has reached the second word knows that all nodes have reached the first. An addition
// to the second word may fail, because its target may have ended already.
void BarrierWithout(NodeId dead, Job& job, Endpoint& endpoint, const SharedRegion& meeting) {
  for (const std::uint64_t word : {0, 8}) {
    for (NodeId node = 0; node < job.nodes(); ++node) {
      if (node != dead) endpoint.FetchAdd(node, meeting.id, word, 1, nullptr);
    }
    const Outcome outcome = endpoint.Flush();
    EXPECT_TRUE(outcome == Outcome::kOk || word > 0) << OutcomeName(outcome);
    EXPECT_TRUE(AwaitWord(endpoint, meeting.memory.data() + word, job.nodes() - 1));
  }
}

void BarrierWhileServing(Job& job, Endpoint& endpoint) {
  std::atomic<bool> met = false;
  Thread meeting([&] {
    EXPECT_TRUE(job.Exchange(""));
    met = true;
    endpoint.Wake();
  });
  while (!endpoint.WaitUntil([&] { return met.load(); }, std::chrono::milliseconds(100))) {
  }
  meeting.join();
}

}  // namespace slimgraph
