// Makes a protocol by its name, for a level of isolation:
// - serializable: as if transactions ran one after the other.
// - repeatable-read: what a transaction has read does not change until it ends, but a key that it
//   has found absent may be inserted. Two transactions may each miss what the other inserts.
// - read-committed: a transaction reads only what has been committed, each record at another time.
//   A record that it writes after reading it is read again, and does not change after that.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

struct ProtocolOptions {
  Isolation isolation = Isolation::kSerializable;  // below it, only two-phase locking
  std::uint64_t lock_timeout_ns = 10'000'000;      // how long BOUNDEDWAIT waits for a lock
  Timestamps timestamps = Timestamps::kNone;       // else only NOWAIT, WAITDIE, BOUNDEDWAIT and OCC
};

std::vector<std::string_view> ProtocolNames();
Result<std::unique_ptr<Protocol>> MakeProtocol(std::string_view name,
                                               const ProtocolOptions& options = {});

const char* IsolationName(Isolation isolation);
const char* TimestampsName(Timestamps timestamps);

}  // namespace slimgraph::txn
