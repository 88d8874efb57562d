// The steps of each of OCC's stages on a tuple, and the checks of their results (occ.h). `Port` and
// `Access` are those of stages/, or those of a check under relacy (tests/relacy).
#pragma once

#include <functional>

#include "txnlayer/internal/stages/protocol.h"
#include "txnlayer/protocol/internal/guarded_read.h"

namespace slimgraph::txn::occ_steps {

template <typename Port, typename Access>
inline void PostUnlock(Port& port, Access& access, std::uint64_t to) {
  access.put[0] = to;
  port.Unlock(access, 0, sequence_word::LockedBy(access.seen[0], access.owner), access.put[0]);
}

template <typename Port, typename Access>
inline void Post(Stage stage, Port& port, Access& access) {
  using namespace sequence_word;
  const auto& table = *access.table;
  switch (stage) {
    case Stage::kRead:
      if (!access.absent) PostGuardedRead(port, access);
      break;
    case Stage::kLock:
      port.CompareSwap(access, 0, access.seen[0], LockedBy(access.seen[0], access.owner),
                       &access.old_word);
      break;
    case Stage::kValidate:
      port.Read(access, 0, kWordBytes, &access.reread[0]);
      break;
    case Stage::kCommit:
      port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
      PostUnlock(port, access, NextSequence(access.seen[0]));
      break;
    default:
      PostUnlock(port, access, access.seen[0]);
  }
}

template <typename Access>
inline Step Check(Stage stage, Access& access) {
  switch (stage) {
    case Stage::kRead:
      if (access.absent) return Step::Done();
      return ReadIsWhole(access, std::identity()) ? Step::Done() : Step::Busy();
    case Stage::kLock:
      if (access.old_word == access.seen[0]) {
        access.locked = true;
        return Step::Done();
      }
      return Step::Abort(Locked(access.old_word) ? AbortReason::kLocked : AbortReason::kChanged);
    case Stage::kValidate:
      if (access.reread[0] == access.seen[0]) return Step::Done();
      return Step::Abort(Locked(access.reread[0]) ? AbortReason::kLocked : AbortReason::kChanged);
    default:
      access.locked = false;
      return Step::Done();
  }
}

}  // namespace slimgraph::txn::occ_steps
