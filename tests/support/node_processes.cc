#include "tests/support/node_processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/mix.h"
#include "slimgraph/base/sockets.h"
#ifdef SLIMGRAPH_SIM
#include "tests/support/simulated_world.h"
#endif

namespace slimgraph {
namespace {

// The result of the running test so far.
const ::testing::TestResult& ResultSoFar() {
  return *::testing::UnitTest::GetInstance()->current_test_info()->result();
}

// What a node does; returns its exit code. Failures from before do not count, because the test
// itself reports them.
int RunAsNode(Result<std::unique_ptr<Job>> job, OnLoss on_loss, int failures_before,
              const std::function<void(Job&)>& body) {
  if (!job) {
    fmt::print(stderr, "cannot join: {}\n", job.error().message);
    return 4;
  }
  try {
    body(**job);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "node {} threw: {}\n", (*job)->self(), failure.what());
    return 1;
  }
  int code = 0;
  bool fatal = false;
  for (int part = failures_before; part < ResultSoFar().total_part_count(); ++part) {
    const ::testing::TestPartResult& result = ResultSoFar().GetTestPartResult(part);
    if (result.failed()) code = 1;
    fatal = fatal || result.fatally_failed();
  }
  // Others may wait for what this node has not done any more. Its loss ends the job.
  if (fatal) return code;
  const Status left = (*job)->Leave(code);
  if (left || on_loss == OnLoss::kReport) return code;
  fmt::print(stderr, "cannot leave: {}\n", left.error().message);
  return 4;
}

#ifndef SLIMGRAPH_SIM
std::string ReadAll(int fd, std::uint64_t deadline_ns, const std::vector<pid_t>& children) {
  std::string text;
  std::array<char, 4096> chunk{};
  while (true) {
    pollfd wait{fd, POLLIN, 0};
    const std::uint64_t now = NowNs();
    const bool late = now >= deadline_ns;
    if (late) {
      for (const pid_t child : children) ::kill(child, SIGKILL);
      text += "[the nodes were killed at the test's time limit]\n";
      deadline_ns = ~std::uint64_t{0};
    }
    const std::uint64_t left_ms = late ? 1000 : (deadline_ns - now) / 1'000'000 + 1;
    if (::poll(&wait, 1, static_cast<int>(std::min<std::uint64_t>(left_ms, 1000))) == 0) continue;
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

#endif

}  // namespace

bool NodesEnd::all_succeeded() const {
  return std::all_of(codes.begin(), codes.end(), [](int code) { return code == 0; });
}

#ifdef SLIMGRAPH_SIM
// The nodes of a simulation. Each job has a seed of its own.
NodesEnd RunNodes(NodeId nodes, OnLoss on_loss, const std::function<void(Job&)>& body, int limit_s,
                  const JobTraits& /*traits*/) {
  static std::uint64_t jobs = 0;
  const char* const given = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  test::World world(Mix64(first) + ++jobs, {},
                    {.limit_ns = 1'000'000'000ULL * static_cast<unsigned>(limit_s)});
  NodesEnd end{std::vector<int>(nodes, 4), ""};
  const int failures_before = ResultSoFar().total_part_count();
  world.StartNodes(nodes, [&](NodeId self) {
    end.codes[self] = RunAsNode(world.Join(on_loss), on_loss, failures_before, body);
  });
  end.output = world.scheduler().Run().failure;
  for (const auto& [node, code] : world.scheduler().exit_codes()) end.codes[node] = code;
  return end;
}
#else
NodesEnd RunNodes(NodeId nodes, OnLoss on_loss, const std::function<void(Job&)>& body, int limit_s,
                  const JobTraits& traits) {
  auto listener = ListenTcp("127.0.0.1");
  if (!listener) {
    ADD_FAILURE() << listener.error().message;
    return {{4}, ""};
  }
  const std::string hub = fmt::format("127.0.0.1:{}", LocalAddress(listener->get()).port());
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (NodeId node = 0; node < nodes; ++node) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(pipe[1], STDOUT_FILENO);
      ::dup2(pipe[1], STDERR_FILENO);
      ::close(pipe[1]);
      JoinConfig config;
      config.self = node;
      config.nodes = nodes;
      config.hub_address = hub;
      config.secret = "test";
      config.encrypts = traits.encrypts;
      config.quota = traits.quota;
      config.host_cache = traits.host_cache;
      if (node == 0) {
        config.listener = std::move(*listener);
      } else {
        listener->Reset();
      }
      const int code = RunAsNode(Job::Join(std::move(config), on_loss), on_loss,
                                 ResultSoFar().total_part_count(), body);
      std::fflush(nullptr);
      ::_exit(code);
    }
    children.push_back(child);
  }
  ::close(pipe[1]);
  const auto limit_ns = static_cast<std::uint64_t>(limit_s) * 1'000'000'000;
  NodesEnd end;
  end.output = ReadAll(pipe[0], NowNs() + limit_ns, children);
  ::close(pipe[0]);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    end.codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return end;
}
#endif

void ExpectNodesRun(NodeId nodes, const std::function<void(Job&)>& body, int limit_s,
                    const JobTraits& traits) {
  const NodesEnd end = RunNodes(nodes, OnLoss::kEndJob, body, limit_s, traits);
  if (end.all_succeeded()) return;
  std::string codes;
  for (const int code : end.codes) codes += fmt::format(" {}", code);
  ADD_FAILURE() << nodes << " nodes ended with" << codes << "\n" << end.output;
}

// The first thread remains as a zombie until the parent has waited for it.
void AwaitEnd(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  while (true) {
    std::error_code gone;
    const auto threads =
        std::distance(std::filesystem::directory_iterator(folder / "task", gone), {});
    std::ifstream stat(folder / "stat");
    std::string number, name, state;
    if (gone || !(stat >> number >> name >> state) || (state == "Z" && threads == 1)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace slimgraph
