// Strangers connect to every socket on which a job listens; the job still gives the right answer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "tests/support/command.h"
#include "tests/support/strangers.h"

namespace slimgraph {
namespace {

// Waits until the launcher's socket exists. Returns its name.
std::string LauncherSocketOf(pid_t launcher) {
  const std::string sign = "@slimgraph-" + std::to_string(launcher) + "-";
  for (int tries = 0; tries < 100'000; ++tries) {
    std::ifstream table("/proc/net/unix");
    for (std::string line; std::getline(table, line);) {
      const std::size_t at = line.find(sign);
      if (at != std::string::npos) return line.substr(at + 1);
    }
  }
  return "";
}

// At first only the hub runs, and strangers send to it. Then the other nodes start.
TEST(JobUnderStrangers, GivesTheRightAnswerOverTcp) {
  const ScratchDirectory scratch;
  const std::string graph = scratch.File("kron.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "12", "-o", graph}).code, 0);
  const std::string gate = scratch.File("gate");
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  const UniqueFd opener(::open(gate.c_str(), O_RDWR | O_CLOEXEC));
  const std::string start = "[ $PMI_RANK = 0 ] || read line <" + gate + "; exec \"$@\"";
  RunningCommand command({"mpiexec.hydra", "-n", "4", "sh", "-c", start, "sh", CommandPath(),
                          "pagerank", graph, "--iterations", "3000", "--compute", "2", "--threads",
                          "2", "--transport", "tcp", "--verify"});
  StrangerAttack attack([&] {
    std::vector<pid_t> nodes;
    for (int node = 0; node < 4; ++node) {
      if (const auto process = command.NodeProcess(node)) nodes.push_back(*process);
    }
    return nodes;
  });
  const std::size_t all_words = StrangerMessages(1).size();
  for (int tries = 0; tries < 10'000 && attack.connections() < 2 * all_words; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_GE(attack.connections(), 2 * all_words);
  ASSERT_EQ(::write(opener.get(), "\n\n\n", 3), 3);
  const CommandEnd end = command.Wait(std::chrono::seconds(60));
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("serial computation"), std::string::npos) << end.out << end.err;
}

// Three kinds of sockets listen: node 0's hub, both nodes' tcp transport, and the bare socket of
// the comparison. A wrapper of mpiexec delays node 1 until the test has seen the hub's socket.
TEST(BenchFabric, ListensOnLoopbackAloneWhenAllNodesAreLocal) {
  const ScratchDirectory scratch;
  const std::string gate = scratch.File("gate");
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  const UniqueFd opener(::open(gate.c_str(), O_RDWR | O_CLOEXEC));
  const std::string path = std::getenv("PATH");
  const std::string held = "[ $PMI_RANK = 0 ] || read line <" + gate + "; exec \"$@\"";
  WriteText(scratch.File("mpiexec.hydra"), "#!/bin/bash\nPATH='" + path +
                                               "'\nexec mpiexec.hydra \"${@:1:7}\" sh -c '" + held +
                                               "' sh \"${@:8}\"\n");
  ASSERT_EQ(::chmod(scratch.File("mpiexec.hydra").c_str(), 0700), 0);
  RunningCommand command({CommandPath(), "bench", "fabric", "--transport", "tcp", "--seconds",
                          "0.01", "--max-bytes", "64K"},
                         {"PATH=" + scratch.path() + ":" + path});
  std::map<std::uint16_t, std::string> listening;  // by port
  siginfo_t ended = {};
  bool held_back = true;
  while (ended.si_pid == 0) {
    for (int node = 0; node < 2; ++node) {
      const auto process = command.NodeProcess(node);
      if (!process) continue;
      for (const ListeningSocket& socket : ListeningSockets(*process)) {
        listening[socket.port] = socket.address;
      }
    }
    if (held_back && !listening.empty()) {
      ASSERT_EQ(::write(opener.get(), "\n", 1), 1);
      held_back = false;
    }
    ASSERT_EQ(
        ::waitid(P_PID, static_cast<id_t>(command.pid()), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
  }
  const CommandEnd end = command.Wait();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_FALSE(held_back);
  EXPECT_GE(listening.size(), 4U);
  for (const auto& [port, address] : listening) EXPECT_EQ(address, "127.0.0.1") << port;
}

// The strangers send nothing. Waiting for each of them would exceed the command's time limit.
TEST(JobUnderStrangers, IsNotDelayedAtTheSocketOfItsLauncher) {
  const ScratchDirectory scratch;
  const std::string graph = scratch.File("kron.slim");
  ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "10", "-o", graph}).code, 0);
  RunningCommand command({CommandPath(), "scan", graph, "--nodes", "4"});
  const std::string name = LauncherSocketOf(command.pid());
  ASSERT_NE(name, "");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 50; ++i) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
    strangers.push_back(std::move(fd));
  }
  const CommandEnd end = command.Wait(std::chrono::seconds(40));
  EXPECT_EQ(end.code, 0) << end.err;
}

}  // namespace
}  // namespace slimgraph
