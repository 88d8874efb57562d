// The `slimgraph` command.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "apps/cli.h"

namespace {

// A closed standard descriptor would become the next file that is opened, and a result or an error
// would be written into that. A reader that has gone is an error, not a death.
void SecureStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  SecureStandardDescriptors();
  return slimgraph::RunCommand(argc, argv);
}
