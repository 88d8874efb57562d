#include "slimgraph/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace slimgraph {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
  const std::string text = fmt::format("slimgraph: bug: {}:{}: {} does not hold{}{}\n", file, line,
                                       condition, message.empty() ? "" : ": ", message);
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace slimgraph
