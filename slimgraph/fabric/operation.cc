#include "slimgraph/fabric/operation.h"

#include <array>

namespace slimgraph {

std::string_view OutcomeName(Outcome outcome) {
  constexpr std::array<std::string_view, 9> kNames = {"ok",
                                                      "out of the region's range",
                                                      "no such region",
                                                      "region was revoked",
                                                      "misaligned",
                                                      "the node died or was cut off",
                                                      "failed",
                                                      "flushed after a failure",
                                                      "may only be read"};
  return kNames[static_cast<std::size_t>(outcome)];
}

}  // namespace slimgraph
