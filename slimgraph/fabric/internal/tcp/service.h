// The thread of a node that answers for its regions over tcp. It sleeps while nobody asks, takes
// new connections, and passes those for messages on to the endpoint that they are for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "slimgraph/fabric/internal/executor.h"
#include "slimgraph/fabric/internal/tcp/served_link.h"
#include "slimgraph/fabric/internal/tcp/socket.h"

namespace slimgraph {

class TcpService {
 public:
  struct MessageConnection {
    UniqueFd fd;
    EndpointAddress from;
    std::uint32_t endpoint;
  };

  // `take_messages` is called on the service's thread. `endpoints`: how many the node may open.
  TcpService(Poller poller, UniqueFd listener, TcpToken token, std::uint32_t endpoints,
             std::function<void(MessageConnection)> take_messages);
  ~TcpService();

  // When these return, the service's thread has taken note.
  void Publish(RegionId id, const RegionMemory& memory);
  void Revoke(RegionId id);
  // Returns when all that `node`, which has died, has still sent is carried out. Takes nothing more
  // of it.
  void Fence(NodeId node);

 private:
  class Listener;
  class Stranger;

  void Run(const std::stop_token& stop);
  void RunOnThread(const std::function<void()>& task);
  void RunTasks();
  void TakeConnections();
  void SortStrangers();
  void DropLost();

  Poller poller_;
  const TcpToken token_;
  const std::uint32_t endpoints_;
  const std::function<void(MessageConnection)> take_messages_;
  Executor executor_;

  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Stranger>> strangers_;  // who have not said who they are
  std::vector<std::unique_ptr<TcpServedLink>> served_;
  std::set<NodeId> fenced_;

  std::mutex mutex_;
  std::condition_variable task_done_;
  const std::function<void()>* task_ = nullptr;  // under mutex_

  std::jthread thread_;
};

}  // namespace slimgraph
