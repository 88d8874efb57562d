// The thread and the connections behind a Job: a star of TCP connections around node 0, the hub.
// The hub gathers exchanges. It alone decides that a node is lost, and tells all others.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/frame.h"
#include "slimgraph/launch/handshake.h"
#include "slimgraph/launch/internal/sealed_frames.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

struct Loss {
  NodeId node = 0;
  int exit_code = 0;
  std::string reason;
  bool announced = false;  // the hub has declared it, and has reported it to the user
  bool died = false;       // its process has ended, so it writes nothing any more
  bool failed = false;     // it has said why itself
};

class ControlPlane {
 public:
  // What every node learns about the others when the job forms.
  struct Roster {
    std::vector<std::uint32_t> hosts;
    std::vector<std::string> addresses;
  };

  // Collective: returns when all nodes have joined.
  static Result<std::unique_ptr<ControlPlane>> Form(JoinConfig config,
                                                    std::string_view host_identity);
  ~ControlPlane();

  // Starts the control thread; called once, after Form(). `on_loss` is called on the control thread
  // of every node, once for each lost node. `depends_on` are descriptors such as the launcher's
  // link: when one of them is closed, `on_orphaned` is called, which ends this node.
  void Start(std::function<void(const Loss&)> on_loss, std::vector<int> depends_on,
             std::function<void()> on_orphaned);

  const Roster& roster() const { return roster_; }
  // For each tag, one thread at a time may exchange. If `among` is given, the exchange
  // fails once one of those nodes has died. After a part has been aborted, all exchanges with its
  // tag fail.
  Result<std::vector<std::string>> Exchange(std::string_view mine, bool last, std::uint32_t tag = 0,
                                            const std::vector<NodeId>& among = {});
  // The tag of the next part with this base tag. Called by the thread that exchanges with that tag.
  std::uint32_t TagOfNextPart(std::uint32_t tag) {
    return tag + kNumBaseTags * ++parts_formed_[tag];
  }
  bool alive(NodeId node) const { return alive_[node].load(std::memory_order_acquire); }
  // Whether no node has been lost and no part has been aborted.
  bool unharmed() const { return unharmed_.load(std::memory_order_acquire); }
  void SurviveDeaths(bool survive) { survive_deaths_ = survive; }
  bool survives_deaths() const { return survive_deaths_; }
  std::string loss() const;
  // The same as an error, if that node has failed with an error of its own.
  std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    if (!first_loss_ || !first_loss_->failed) return std::nullopt;
    return Error{static_cast<ErrorKind>(first_loss_->exit_code),
                 fmt::format("node {}: {}", first_loss_->node, first_loss_->reason)};
  }
  void AddWatcher(std::weak_ptr<LossWatch::Watcher> watcher);

  // Aborts all parts with this base tag. Returns once the hub has declared the abort, which may
  // name another node's earlier error.
  void AbortParts(std::uint32_t tag, const Error& error);
  std::optional<Error> part_error(std::uint32_t tag) const;
  // Whether `node` was the one that aborted the parts with this tag.
  bool aborted_part(std::uint32_t tag, NodeId node) const {
    return aborting_node_[tag % kNumBaseTags].load(std::memory_order_acquire) == node;
  }

  // Tells the hub that this node fails, which ends the job.
  void Fail(int exit_code, const std::string& reason);
  void SayGoodbye();
  // Called on the control thread before the process ends: waits until the others have read what was
  // sent.
  void Drain();

 private:
  struct Peer {
    Peer(NodeId number, UniqueFd connection, FrameReader its_reader)
        : node(number), fd(std::move(connection)), reader(std::move(its_reader)) {}

    NodeId node;
    UniqueFd fd;
    FrameReader reader;
    std::uint32_t silent_beats = 0;  // heartbeats of ours since its last frame
    bool left = false;
    std::optional<SealedFrames> sealing = {};  // if the job encrypts
  };

  ControlPlane(NodeId self, NodeId nodes, Event wake);
  Status GatherPeers(JoinConfig& config, std::string_view identity);
  Status JoinAtHub(const JoinConfig& config, std::string_view identity);
  Result<bool> JoinHub(UniqueFd fd, const HandshakeKey& key, const JoinConfig& config,
                       const std::string& identity, std::uint64_t deadline_ns);
  void Run();
  void ReadFrom(Peer& peer);
  Status HandleAll(Peer& peer);
  Status Handle(Peer& peer, Frame frame);
  void CheckAndSendHeartbeats();
  void SendHeartbeats();
  void ReportFailure(const Loss& failure, std::optional<std::uint32_t> tag = {});
  void DeferFailure(Loss failure);
  void Declare(const Loss& loss);
  void DeclareAborted(std::uint32_t tag, const Loss& loss);
  static void CallWatchers(const std::vector<std::weak_ptr<LossWatch::Watcher>>& watchers,
                           NodeId node, std::optional<std::uint32_t> tag = {});
  std::string DescribeWait(ExchangeId exchange) const;
  std::vector<NodeId> Missing(ExchangeId exchange) const;
  void AddContribution(NodeId node, ExchangeId exchange, std::string body);
  bool Complete(ExchangeId exchange);
  bool Survives(const Loss& loss) const;
  void SendTo(Peer& peer, const Frame& frame);
  bool is_hub() const { return self_ == 0; }

  const NodeId self_;
  const NodeId nodes_;
  Roster roster_;
  std::vector<Peer> peers_;  // on the hub: all other nodes; on other nodes: the hub
  Event wake_;
  std::vector<int> depends_on_;
  std::function<void()> on_orphaned_;
  std::function<void(const Loss&)> on_loss_;
  std::vector<std::atomic<bool>> alive_;
  std::atomic<bool> unharmed_{true};
  std::optional<Loss> failure_;  // on the hub: a node's failure that is not declared yet
  std::uint64_t failure_at_ns_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> leaving_{false};
  std::atomic<bool> survive_deaths_{false};
  std::array<std::atomic<NodeId>, kNumBaseTags> aborting_node_;
  std::array<std::uint32_t, kNumBaseTags> parts_formed_{};  // by base tag; each is used by one
                                                            // thread only

  mutable Mutex mutex_;  // guards the members below, and writes to peers
  Condition changed_;
  std::map<std::uint32_t, std::uint32_t> sequences_;  // by tag
  std::map<ExchangeId, std::vector<std::optional<std::string>>> contributions_;
  std::map<ExchangeId, std::vector<std::string>> gathered_;
  std::optional<Loss> first_loss_;
  std::optional<Loss> own_failure_;
  std::map<std::uint32_t, Loss> pending_aborts_;  // by base tag: not yet sent to the hub
  std::map<std::uint32_t, Loss> part_errors_;
  std::vector<std::weak_ptr<LossWatch::Watcher>> watchers_;
  Thread thread_;
};

}  // namespace slimgraph
