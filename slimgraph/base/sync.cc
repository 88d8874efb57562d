#include "slimgraph/base/sync.h"

#ifndef SLIMGRAPH_SIM
#include <pthread.h>

namespace slimgraph {

SignalBlocker::SignalBlocker() {
  sigset_t held;
  ::sigfillset(&held);
  // Signals that a thread's own fault causes, and those that profilers send, stay unblocked.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    ::sigdelset(&held, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalBlocker::~SignalBlocker() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace slimgraph
#endif
