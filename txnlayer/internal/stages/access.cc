#include "txnlayer/internal/stages/access.h"

namespace slimgraph::txn {

const char* AbortReasonName(AbortReason reason) {
  constexpr const char* kNames[kNumAbortReasons] = {
      "none",      "locked",    "changed",   "died",       "too_late",  "no_version",
      "lease",     "timed_out", "user",      "table_full", "node_lost", "unnamed",
      "overtaken", "no_room",   "too_large", "named_late", "bad_value", "time_ended"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace slimgraph::txn
