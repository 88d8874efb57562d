// Random bytes from the system. Seeded generators are defined where they are used.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

inline Status FillWithRandom(MutableBytes bytes) {
  ssize_t filled = -1;
  do {
    filled = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (filled < 0 && errno == EINTR);
  if (filled == static_cast<ssize_t>(bytes.size())) return {};
  return EnvironmentError("the system gives no random bytes: {}", std::strerror(errno));
}

}  // namespace slimgraph
