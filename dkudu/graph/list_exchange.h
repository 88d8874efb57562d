// Answers other compute nodes' requests for lists of this node: a thread of its own, which sleeps
// while nobody asks, gathers the lists, writes them into the requester's memory and tells it when
// they are there. Other messages to that thread's endpoint are handled as well. Holds what each
// working thread fetches lists with.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <thread>

#include "dkudu/graph/list_fetch.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph {

class ListExchange {
 public:
  // Collective. To serve it takes an endpoint besides those of the working threads.
  static Result<std::unique_ptr<ListExchange>> Start(Cluster& cluster, const MiningGraph& graph,
                                                     Fetch fetch);
  ~ListExchange() { StopServing(); }
  ListExchange(const ListExchange&) = delete;
  ListExchange& operator=(const ListExchange&) = delete;

  ListFetch& fetch(std::uint32_t thread) { return fetches_[thread]; }

  // Collective: when nobody asks any more. Traffic can be summed up from then on.
  Status Stop();

 private:
  struct Answer {
    std::vector<VertexId> entries;
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
  std::deque<ListFetch> fetches_;  // by thread; they stay where they are
  std::deque<Answer> answers_;     // by tag; on their way, or free
  std::vector<std::uint64_t> free_answers_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace slimgraph
