// Checks for what only a bug can get wrong. Checks stay on in release builds and have no side
// effects. A failed check prints one line and aborts, which ends the whole job.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace slimgraph {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace slimgraph

#define SLIM_CHECK(condition, ...)                                                           \
  do {                                                                                       \
    if (!(condition)) [[unlikely]]                                                           \
      ::slimgraph::CheckFailed(__FILE__, __LINE__, #condition, fmt::format("" __VA_ARGS__)); \
  } while (false)
