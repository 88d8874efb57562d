// Starts a program as a child process.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

struct ProgramToStart {
  std::vector<std::string> words;  // the first is the program, which is looked up in PATH
  // (name, value): they replace variables of this process's environment.
  std::vector<std::pair<std::string, std::string>> variables = {};
  std::string input = {};   // the file that it reads as its standard input; "": this process's
  std::string output = {};  // likewise its standard output
  // (ours, its): files that it inherits, besides those that are not closed on exec.
  std::vector<std::pair<int, int>> files = {};
  int close_from = -1;       // files from this number on are closed; -1: none
  std::string folder = {};   // in which it starts; "": this process's
  bool new_session = false;  // signals of this process's terminal do not reach it
  // It is killed when the thread that starts it ends, even while it is stopped. The more memory
  // this process has, the longer starting it takes.
  bool ends_with_starter = false;
};

Result<pid_t> StartProgram(const ProgramToStart& program);

// Whether a child has ended; it is reaped then. If this process ignores SIGCHLD or reaps all
// children itself, an ended child is not known any more.
bool HasEnded(pid_t child);

// A descriptor that is readable once the process has ended, also before it is reaped. Empty if
// there is no such process.
UniqueFd WatchProcess(pid_t process);

}  // namespace slimgraph
