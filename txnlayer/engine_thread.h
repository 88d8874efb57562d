// What an engine keeps for each of its threads.
#pragma once

#include "txnlayer/durability/commit_waits.h"
#include "txnlayer/engine.h"
#include "txnlayer/replication/log_writer.h"
#include "txnlayer/rpc.h"

namespace slimgraph::txn {

struct Engine::Thread {
  Thread(Engine& engine, std::uint32_t index)
      : worker(engine.cluster().fabric(), index),
        server(engine, worker),
        cache(engine.options().cache_bytes),
        log(engine, worker) {}

  Worker worker;
  RpcServer server;
  std::unique_ptr<Companion> companion;  // null: the protocol needs none
  LocationCache cache;
  LogWriter log;
  CommitWaits commit_waits;
  TimestampSource clock;
  Figures figures;
  bool stop = false;              // set by word of node 0
  std::uint32_t seen_losses = 0;  // of which this thread has taken note
  std::uint32_t seen_pauses = 0;  // the same
  std::uint32_t seen_sweeps = 0;  // the same
};

}  // namespace slimgraph::txn
