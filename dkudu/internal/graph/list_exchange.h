// Answers other compute nodes' requests for lists of this node. A separate thread sleeps until
// requests arrive, gathers the lists, writes them into the requester's memory and notifies the
// requester. The thread also handles other messages to its endpoint. A ListExchange owns the
// ListFetch of each working thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>

#include "dkudu/internal/graph/list_fetch.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph::dkudu {

class ListExchange {
 public:
  // Collective. Serving needs one endpoint besides those of the working threads.
  static Result<std::unique_ptr<ListExchange>> Start(Cluster& cluster, const MiningGraph& graph,
                                                     Fetch fetch);
  ~ListExchange() { StopServing(); }
  ListExchange(const ListExchange&) = delete;
  ListExchange& operator=(const ListExchange&) = delete;

  ListFetch& fetch(std::uint32_t thread) { return fetches_[thread]; }

  // Collective; call it when this node needs no more lists. After it, traffic can be summed up.
  Status Stop();

 private:
  struct Answer {
    std::vector<std::byte> bytes;
    EndpointAddress to;
    std::uint32_t slot = 0;
  };
  ListExchange(Cluster& cluster, const MiningGraph& graph) : cluster_(cluster), graph_(graph) {}
  void Serve(Endpoint& endpoint);
  void TakeRequest(Endpoint& endpoint, const Message& message);
  void StopServing();

  Cluster& cluster_;
  const MiningGraph& graph_;
  RegionId room_ = 0;
  std::deque<ListFetch> fetches_;  // by thread; a deque, because ListFetch objects must not move
  std::deque<Answer> answers_;     // by tag; being written, or free
  std::vector<std::uint64_t> free_answers_;
  std::atomic<bool> stopping_{false};
  Thread thread_;
  HandlerRegistration request_handler_;
  HandlerRegistration answered_handler_;
};

}  // namespace slimgraph::dkudu
