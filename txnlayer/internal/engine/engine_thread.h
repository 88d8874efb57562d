// What an engine keeps for each of its threads.
#pragma once

#include "txnlayer/engine.h"
#include "txnlayer/internal/durability/commit_waits.h"
#include "txnlayer/internal/durability/durability.h"
#include "txnlayer/internal/engine/rpc.h"
#include "txnlayer/internal/execution/timestamp.h"
#include "txnlayer/internal/replication/log_writer.h"

namespace slimgraph::txn {

struct Engine::Thread {
  Thread(Engine& engine, std::uint32_t index)
      : worker(engine.cluster().fabric(), index),
        server(engine, worker),
        cache(engine.options().cache_bytes),
        log(engine.replication(), engine.cluster().topology().nodes(), worker) {}

  Worker worker;
  RpcServer server;
  std::unique_ptr<Companion> companion;  // null: the protocol needs none
  LocationCache cache;
  LogWriter log;
  CommitWaits commit_waits;
  TimestampSource clock;
  Figures figures;
};

}  // namespace slimgraph::txn
