#include "tests/session/processes.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace slimgraph::test {

std::string SelfPath() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::vector<pid_t> ChildProcesses() {
  std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return {std::istream_iterator<pid_t>(in), {}};
}

}  // namespace slimgraph::test
