#include "apps/job/node_zero.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "apps/command.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {
namespace {

constexpr int kMostDeathsInAStep = 3;
// After 3 s without a sign of it, the other nodes would end the job.
constexpr std::uint64_t kMostStoppedNs = 2'000'000'000;
// Of a crash, or because memory was short. Other signals are meant for the job.
constexpr std::array kUnwanted = {SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

struct ChildEnd {
  int code = 0;
  int signal = 0;  // 0: it has ended by itself
  bool was_stopped = false;
};

// Waits until the child goes on or ends. Kills it if that takes too long, and returns true.
bool KillUnlessContinued(pid_t child) {
  for (const std::uint64_t since_ns = NowNs(); NowNs() - since_ns < kMostStoppedNs;) {
    siginfo_t changed{};
    ::waitid(P_PID, static_cast<id_t>(child), &changed, WEXITED | WCONTINUED | WNOHANG | WNOWAIT);
    if (changed.si_pid == child) return false;
    SleepFor(std::chrono::milliseconds(20));
  }
  ::kill(child, SIGKILL);
  return true;
}

ChildEnd AwaitEnd(pid_t child) {
  ChildEnd end;
  while (true) {
    int status = 0;
    if (::waitpid(child, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      return {.code = static_cast<int>(ErrorKind::kEnvironment)};
    }
    if (WIFSTOPPED(status)) {
      if (WSTOPSIG(status) == SIGSTOP) end.was_stopped = KillUnlessContinued(child);
    } else if (WIFEXITED(status)) {
      return {.code = WEXITSTATUS(status)};
    } else if (WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
      return end;
    }
  }
}

bool IsUnwanted(const ChildEnd& end) {
  return std::find(kUnwanted.begin(), kUnwanted.end(), end.signal) != kUnwanted.end();
}

std::string Describe(const ChildEnd& end) {
  if (end.was_stopped) return "node 0 was stopped for 2 s";
  return fmt::format("node 0 has died by signal {} ({})", end.signal, ::strsignal(end.signal));
}

[[noreturn]] void EndBySignal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  EndProcess(128 + signal);
}

}  // namespace

Status DeathsInStep::Add(std::uint64_t step, const std::string& what) {
  deaths_ = step == step_ ? deaths_ + 1 : 1;
  step_ = step;
  if (deaths_ <= kMostDeathsInAStep) return {};
  return EnvironmentError("{} ({} times in step {})", what, deaths_, step);
}

int RunInChild(const std::function<int(HandoverKeeper&, const NodeZerosBefore&)>& run) {
  const auto keeper = HandoverKeeper::Make();
  if (!keeper) return PrintError(keeper.error());
  NodeZerosBefore before{.began_ns = NowNs()};
  DeathsInStep deaths;
  while (true) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
      return PrintError(
          EnvironmentError("cannot start a process: {}", std::strerror(errno)).value());
    }
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) KillProcess();
      return run(**keeper, before);
    }
    const ChildEnd end = AwaitEnd(child);
    if (end.signal == 0) return end.code;
    if (!IsUnwanted(end)) EndBySignal(end.signal);
    if (const auto code = (*keeper)->exit_code()) return *code;
    if ((*keeper)->has_begun_result()) {  // no object about it: there may be half of another
      std::fputs(
          fmt::format("slimgraph: {}, and its result may be incomplete\n", Describe(end)).c_str(),
          stderr);
      return static_cast<int>(ErrorKind::kEnvironment);
    }
    const auto last = (*keeper)->Last();
    const std::uint64_t step = last ? last->step : 0;
    if (const Status added = deaths.Add(step, Describe(end)); !added) {
      return PrintError(added.error());
    }
    if (const Status renewed = (*keeper)->Renew(); !renewed) return PrintError(renewed.error());
    ++before.deaths;
    std::fputs(
        fmt::format("slimgraph: {}; the job goes on from step {}\n", Describe(end), step).c_str(),
        stderr);
  }
}

}  // namespace slimgraph
