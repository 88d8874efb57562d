// Random bytes from the system. Seeded generators are defined where they are used.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/result.h"
#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sim/scheduler.h"
#endif
#include "slimgraph/base/types.h"

namespace slimgraph {

inline Status FillWithRandom(MutableBytes bytes) {
#ifdef SLIMGRAPH_SIM
  if (auto* const scheduler = sim::Scheduler::Current()) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(scheduler->Random(256));
    return {};
  }
#endif
  ssize_t filled = -1;
  do {
    filled = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (filled < 0 && errno == EINTR);
  if (filled == static_cast<ssize_t>(bytes.size())) return {};
  return EnvironmentError("the system gives no random bytes: {}", std::strerror(errno));
}

}  // namespace slimgraph
