// What an engine keeps for each of its threads.
#pragma once

#include "txnlayer/engine.h"
#include "txnlayer/rpc.h"

namespace slimgraph::txn {

struct Engine::Thread {
  Thread(Engine& engine, std::uint32_t index)
      : worker(engine.cluster().fabric(), index),
        server(engine, worker),
        cache(engine.options().cache_bytes) {}

  Worker worker;
  RpcServer server;
  std::unique_ptr<Companion> companion;  // null: the protocol needs none
  LocationCache cache;
  TimestampSource clock;
  Figures figures;
  bool stop = false;  // set by word of node 0
};

}  // namespace slimgraph::txn
