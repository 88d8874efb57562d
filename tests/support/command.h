// Runs the `slimgraph` command as a user would, for tests of its output and its exit code.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "tests/support/sanitized.h"

namespace slimgraph {

struct CommandEnd {
  int code = -1;  // exit code, or 128 + signal
  std::string out;
  std::string err;
  double seconds = 0;
};

// The command under test, from TEST_SLIMGRAPH_COMMAND, which tests/run and make set.
std::string CommandPath();

// A command that runs in parallel with the test, in a process group of its own.
class RunningCommand {
 public:
  // `words` is the whole command line; `variables` are environment variables, as NAME=value.
  explicit RunningCommand(std::vector<std::string> words,
                          const std::vector<std::string>& variables = {});
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  pid_t pid() const { return pid_; }

  // The process of node `number`, once it exists.
  std::optional<pid_t> NodeProcess(int number) const;
  // All processes of the job, including the command's own, except zombies of other parents.
  std::vector<pid_t> Processes() const;

  // Waits until the command has written `text` to standard error. False if it has not within
  // `limit`.
  bool AwaitError(const std::string& text,
                  std::chrono::seconds limit = std::chrono::seconds(20)) const;

  // Waits until the command ends. Kills it after `limit`, which gives code 137.
  CommandEnd Wait(std::chrono::seconds limit = std::chrono::seconds(test::kSanitized ? 90 : 30));

 private:
  pid_t pid_ = -1;
  std::string mark_;
  std::string out_path_;
  std::string err_path_;
  std::chrono::steady_clock::time_point start_;
};

// Runs `slimgraph` with these words.
CommandEnd RunSlimgraph(std::vector<std::string> words,
                        const std::vector<std::string>& variables = {});

// A directory that is removed with its contents by the destructor.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);

}  // namespace slimgraph
