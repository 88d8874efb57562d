#include "tests/support/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace slimgraph {
namespace {

namespace fs = std::filesystem;

// The environment with which a process was started, each variable ended by a 0; empty if the
// process is gone.
std::string VariablesOf(const std::string& pid) { return ReadText("/proc/" + pid + "/environ"); }

bool Has(const std::string& variables, const std::string& one) {
  const std::string whole = std::string(1, '\0') + variables;
  return whole.find(std::string(1, '\0') + one + std::string(1, '\0')) != std::string::npos;
}

}  // namespace

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (fs::temp_directory_path() / "slimgraph-test-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string CommandPath() {
  const char* const path = std::getenv("TEST_SLIMGRAPH_COMMAND");
  EXPECT_NE(path, nullptr)
      << "set TEST_SLIMGRAPH_COMMAND to the slimgraph command, or use make test";
  return path == nullptr ? "" : path;
}

RunningCommand::RunningCommand(std::vector<std::string> words,
                               const std::vector<std::string>& variables) {
  static int count = 0;
  mark_ = "TEST_MARK=" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  const std::string base =
      (fs::temp_directory_path() / ("slimgraph-" + mark_.substr(mark_.find('=') + 1))).string();
  out_path_ = base + ".out";
  err_path_ = base + ".err";
  start_ = std::chrono::steady_clock::now();
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::setpgid(0, 0);
  std::signal(SIGINT, SIG_DFL);  // which is ignored in a shell's background
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(::open(out_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600), STDOUT_FILENO);
  ::dup2(::open(err_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600), STDERR_FILENO);
  ::putenv(mark_.data());
  for (const std::string& variable : variables) ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

RunningCommand::~RunningCommand() {
  for (const pid_t process : Processes()) ::kill(process, SIGKILL);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  fs::remove(out_path_);
  fs::remove(err_path_);
}

std::vector<pid_t> RunningCommand::Processes() const {
  std::vector<pid_t> processes;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    if (Has(VariablesOf(name), mark_)) processes.push_back(std::stoi(name));
  }
  return processes;
}

std::optional<pid_t> RunningCommand::NodeProcess(int number) const {
  const std::string rank = "PMI_RANK=" + std::to_string(number);
  for (const pid_t process : Processes()) {
    if (Has(VariablesOf(std::to_string(process)), rank)) return process;
  }
  return std::nullopt;
}

bool RunningCommand::AwaitError(const std::string& text, std::chrono::seconds limit) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (ReadText(err_path_).find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

CommandEnd RunningCommand::Wait(std::chrono::seconds limit) {
  CommandEnd end;
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  end.seconds = took.count();
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.out = ReadText(out_path_);
  end.err = ReadText(err_path_);
  return end;
}

CommandEnd RunSlimgraph(std::vector<std::string> words, const std::vector<std::string>& variables) {
  words.insert(words.begin(), CommandPath());
  return RunningCommand(std::move(words), variables).Wait();
}

}  // namespace slimgraph
