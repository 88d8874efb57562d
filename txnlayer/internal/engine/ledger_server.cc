#include "txnlayer/internal/engine/ledger_server.h"

#include <cstring>

#include "txnlayer/internal/durability/ledger_writer.h"
#include "txnlayer/internal/execution/message_bytes.h"

namespace slimgraph::txn {

void LedgerServer::Serve(Durability& logs, const Message& message) {
  Bytes rest = message.body;
  const auto header = Take<CallHeader>(rest);
  const Caller caller{message.from, header.call};
  const auto drain = Take<DrainUpTo>(rest);
  const auto ring = static_cast<std::uint32_t>(drain.ring);
  if (const auto record = logs.DrainLedger(ring, drain.position)) {
    drained_.push_back({caller, *record, ring, drain.position});
  }
}

// The writer may use the room again when the file tells that nobody needs what is there.
void LedgerServer::Release(Durability& logs) {
  Ledger& ledger = *logs.ledger();
  while (!drained_.empty() && drained_.front().record <= logs.log().durable()) {
    const Drained& drained = drained_.front();
    ledger.SetDrained(drained.ring, drained.position);
    synced_.push_back({drained.caller, ledger.AskSync()});
    drained_.pop_front();
  }
  while (!synced_.empty() && synced_.front().number <= ledger.synced()) {
    std::vector<std::byte> reply;
    Append(reply, CallHeader{.call = synced_.front().caller.call});
    worker_.endpoint().Send(synced_.front().caller.at, kReplyHandler, reply);
    synced_.pop_front();
  }
}

}  // namespace slimgraph::txn
