// What an engine keeps for each of its threads.
#pragma once

#include "txnlayer/engine.h"
#include "txnlayer/internal/durability/commit_waits.h"
#include "txnlayer/internal/durability/durability.h"
#include "txnlayer/internal/durability/ledger_writer.h"
#include "txnlayer/internal/engine/ledger_server.h"
#include "txnlayer/internal/engine/rpc.h"
#include "txnlayer/internal/execution/timestamp.h"
#include "txnlayer/internal/replication/log_writer.h"

namespace slimgraph::txn {

struct Engine::Thread {
  Thread(Engine& engine, std::uint32_t index)
      : worker(engine.cluster().fabric(), index),
        server(engine, worker),
        cache(engine.options().cache_bytes),
        log(engine.replication(), engine.cluster().topology().nodes(), worker),
        ledger(worker),
        ledger_server(worker) {
    if (const OldVersions* const old = engine.tables().old_versions(); old != nullptr) {
      times.emplace(*old, engine.self(), index, engine.cluster().topology().nodes());
      if (!engine.protocol().commits_at_timestamp()) clock.UseTimes();
    }
  }

  Worker worker;
  RpcServer server;
  std::unique_ptr<Companion> companion;  // null: the protocol needs none
  LocationCache cache;
  LogWriter log;
  CommitWaits commit_waits;
  LedgerWriter ledger;
  LedgerServer ledger_server;
  TimestampSource clock;
  // For read timestamps.
  struct Times {
    Times(const OldVersions& old, NodeId self, std::uint32_t index, NodeId nodes)
        : kept(old, self, index, nodes), readers(old, index) {}
    KeptRoom kept;
    OpenReaders readers;
    std::uint64_t horizon_at_ns = 0;  // when the horizon of `kept` was found
    Atomic<Timestamp> last_commit{0};
    std::uint64_t commits = 0;  // under vector timestamps
  };
  std::optional<Times> times;
  Figures figures;
};

}  // namespace slimgraph::txn
