// The thread of a node that serves its regions over tcp. It sleeps without requests, accepts new
// connections, and passes connections for messages to their endpoints.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/executor.h"
#include "slimgraph/fabric/internal/tcp/opening.h"
#include "slimgraph/fabric/internal/tcp/served_link.h"

namespace slimgraph {

class TcpService {
 public:
  struct MessageConnection {
    UniqueFd fd;
    EndpointAddress from;
    std::uint32_t endpoint;
    std::optional<TcpStreamKeys> keys;
  };

  // What a connection must prove to be admitted.
  struct AdmissionRules {
    HandshakeKey key;
    Challenge challenge;
    NodeId nodes;
    std::uint32_t endpoints;  // how many endpoints a node may open
    bool encrypts = false;
  };

  // `take_messages` is called on the service's thread.
  TcpService(Poller poller, UniqueFd listener, const AdmissionRules& rules,
             std::function<void(MessageConnection)> take_messages);
  ~TcpService();

  // When these return, the service's thread has carried out the change.
  void Publish(RegionId id, const RegionMemory& memory);
  void Revoke(RegionId id);
  // Called after the death of `node`: returns when everything that it had sent has been executed.
  // Admits no more connections from it.
  void Fence(NodeId node);

 private:
  class Listener;
  class Stranger;

  void Run(const std::stop_token& stop);
  void RunOnThread(const std::function<void()>& task);
  void RunTasks();
  bool TakeConnections();
  void AdmitOrDropStrangers();
  void Admit(Stranger& stranger);
  void DropLost();

  Poller poller_;
  const AdmissionRules rules_;
  const std::function<void(MessageConnection)> take_messages_;
  Executor executor_;

  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Stranger>> strangers_;  // have not identified themselves yet; oldest
                                                      // first
  std::set<Challenge> used_;  // challenges of admitted openers, so that a recorded hello is
                              // rejected
  std::vector<std::unique_ptr<TcpServedLink>> served_;
  std::set<NodeId> fenced_;

  Mutex mutex_;
  Condition task_done_;
  const std::function<void()>* task_ = nullptr;  // guarded by mutex_

  Thread thread_;
};

}  // namespace slimgraph
