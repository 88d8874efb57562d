// The `slimgraph` command.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "apps/cli.h"
#include "apps/exhaustion.h"
#include "apps/job/job_runner.h"
#include "slimgraph/pool/attach.h"

namespace {

// Opens standard descriptors that are closed: otherwise the next opened file would get such a
// number, and results or errors would be written into it. Ignores SIGPIPE, so that writing to a
// closed pipe is an error and does not kill the process.
void SecureStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  SecureStandardDescriptors();
  if (const slimgraph::Status confined = slimgraph::ConfineDeputy(); !confined) {
    return slimgraph::PrintError(confined.error());
  }
  slimgraph::EndProcessWhenExhausted();
  return slimgraph::RunCommand(argc, argv);
}
