#include "slimgraph/base/run_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {
namespace {

// From SIGTERM to SIGKILL: a job's launcher needs up to a second to end by itself.
constexpr double kGraceS = 3;
constexpr std::size_t kKeptOfErrors = 4096;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return EnvironmentError("cannot make a pipe: {}", std::strerror(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

[[noreturn]] void ExecChild(const std::vector<std::string>& words, int in, int out, int errors) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const std::string line = fmt::format("cannot start {}: {}\n", words[0], std::strerror(errno));
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::_exit(static_cast<int>(ErrorKind::kEnvironment));
}

// Reads what is available; closes `fd` at end of file.
void ReadAvailable(UniqueFd& fd, std::string& into) {
  std::array<char, 1 << 16> piece;
  const ssize_t n = ::read(fd.get(), piece.data(), piece.size());
  if (n > 0) into.append(piece.data(), static_cast<std::size_t>(n));
  if (n == 0 || (n < 0 && errno != EINTR)) fd.Reset();
}

std::string LastLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::string line = text.substr(text.rfind('\n') + 1);
  const std::string_view own = "slimgraph: ";
  if (line.starts_with(own)) line.erase(0, own.size());
  return line;
}

// The process group of one child, until the child has ended.
class Child {
 public:
  Child(pid_t pid, double limit_s) : pid_(pid), limit_s_(limit_s) {}

  ChildEnd Await(UniqueFd out, UniqueFd errors) {
    std::string words;
    while (out || errors) {
      std::array<pollfd, 2> waits{{{out.get(), POLLIN, 0}, {errors.get(), POLLIN, 0}}};
      Poll(waits, std::chrono::milliseconds(100));
      Supervise();
      if (out && waits[0].revents != 0) ReadAvailable(out, end_.out);
      if (errors && waits[1].revents != 0) ReadAvailable(errors, words);
      if (words.size() > 2 * kKeptOfErrors) words.erase(0, words.size() - kKeptOfErrors);
      if (killed_) break;  // descendants of the child may still hold the pipes open
    }
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      Supervise();
      SleepFor(std::chrono::milliseconds(2));
    }
    end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    end_.seconds = SecondsSince(start_ns_);
    end_.last_line = LastLine(std::move(words));
    return std::move(end_);
  }

 private:
  void Supervise() {
    const double seconds = SecondsSince(start_ns_);
    if (end_at_s_ == 0 && seconds > limit_s_) {
      end_.timed_out = true;
      end_at_s_ = seconds;
      ::kill(-pid_, SIGTERM);
    }
    if (end_at_s_ != 0 && !killed_ && seconds > end_at_s_ + kGraceS) {
      killed_ = true;
      ::kill(-pid_, SIGKILL);
    }
  }

  const pid_t pid_;
  const double limit_s_;
  const std::uint64_t start_ns_ = NowNs();
  double end_at_s_ = 0;
  bool killed_ = false;
  ChildEnd end_;
};

}  // namespace

Result<ChildEnd> RunChild(const std::vector<std::string>& words, double limit_s,
                          const std::string& input) {
  SLIM_CHECK(input.size() <= PIPE_BUF, "an input of {} bytes", input.size());
  SLIM_ASSIGN(Pipe in, MakePipe());
  SLIM_ASSIGN(Pipe out, MakePipe());
  SLIM_ASSIGN(Pipe errors, MakePipe());
  // A pipe has room for so few bytes.
  if (::write(in.write.get(), input.data(), input.size()) < 0) {
    return EnvironmentError("cannot write into a pipe: {}", std::strerror(errno));
  }
  in.write.Reset();
  const pid_t pid = ::fork();
  if (pid < 0) return EnvironmentError("cannot start a process: {}", std::strerror(errno));
  if (pid == 0) ExecChild(words, in.read.get(), out.write.get(), errors.write.get());
  ::setpgid(pid, pid);  // parent and child both set it, as either may run first
  out.write.Reset();
  errors.write.Reset();
  return Child(pid, limit_s).Await(std::move(out.read), std::move(errors.read));
}

}  // namespace slimgraph
