// The thread and the connections behind a Job: a star of TCP connections around node 0. The hub
// gathers exchanges and is the one who decides that a node is lost; word of it goes to all.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/internal/frame.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

struct Loss {
  NodeId node = 0;
  int exit_code = 0;
  std::string reason;
  bool announced = false;  // the hub has told us, and so has told the person
  bool died = false;       // its process has ended: it does nothing any more
};

// Parts of a job are formed on lines below this; a part's own line is that one and a multiple of
// it.
constexpr std::uint32_t kLines = 16;

class ControlPlane {
 public:
  // What every node learns of the others when the job forms.
  struct Roster {
    std::vector<std::uint32_t> hosts;
    std::vector<std::string> addresses;
  };

  // Collective. `on_loss` is called on the control thread, on every node, once for each lost node;
  // `depends_on` are descriptors whose end (the launcher's, say) ends this node: `on_orphaned`.
  static Result<std::unique_ptr<ControlPlane>> Form(JobPlace place, std::string_view host_identity,
                                                    std::function<void(const Loss&)> on_loss,
                                                    std::vector<int> depends_on,
                                                    std::function<void()> on_orphaned);
  ~ControlPlane();

  const Roster& roster() const { return roster_; }
  // Of a line, exchanges are made by one thread at a time. With `among`: it fails once one of them
  // has died. Of a line that is given up all fail.
  Result<std::vector<std::string>> Exchange(std::string_view mine, bool last,
                                            std::uint32_t line = 0,
                                            const std::vector<NodeId>& among = {});
  // Of the part that has been formed on a line, by the thread that makes its exchanges.
  std::uint32_t LineOfNextPart(std::uint32_t line) { return line + kLines * ++parts_formed_[line]; }
  bool alive(NodeId node) const { return alive_[node].load(std::memory_order_acquire); }
  void SurviveDeaths(bool survive) { survive_deaths_ = survive; }
  bool survives_deaths() const { return survive_deaths_; }
  std::string loss() const;
  void AddWatcher(std::weak_ptr<LossWatch::Watcher> watcher);

  // Gives up all parts that are formed on a line; returns when the hub has said so, or who was
  // first.
  void GiveUpLine(std::uint32_t line, const Error& error);
  std::optional<Error> given_up(std::uint32_t line) const;
  // Whether that node did.
  bool gave_up(std::uint32_t line, NodeId node) const {
    return who_gave_up_[line % kLines].load(std::memory_order_acquire) == node;
  }

  // Tells the hub that this node gives up.
  void Fail(int exit_code, const std::string& reason);
  void SayGoodbye();
  // On the control thread, before the process ends: waits until the others have read what was sent.
  void Drain();

 private:
  struct Peer {
    NodeId node = 0;
    UniqueFd fd;
    FrameReader reader;
    std::uint32_t silent_beats = 0;  // since it was heard
    bool left = false;
  };

  ControlPlane(NodeId self, NodeId nodes);
  Status GatherPeers(JobPlace& place, std::string_view identity);
  Status ArriveAtHub(const JobPlace& place, std::string_view identity);
  void Run();
  void HearFrom(Peer& peer);
  void Handle(Peer& peer, Frame frame);
  void BeatHearts();
  void SendHeartbeats();
  void GiveUp(const Loss& failure, std::optional<std::uint32_t> line = {});
  void Suspect(Loss failure);
  void Declare(const Loss& loss);
  void DeclareGivenUp(std::uint32_t line, const Loss& loss);
  static void Call(const std::vector<std::weak_ptr<LossWatch::Watcher>>& watchers, NodeId node,
                   std::optional<std::uint32_t> line = {});
  void AddContribution(NodeId node, ExchangeId exchange, std::string body);
  bool Complete(ExchangeId exchange);
  bool Survives(const Loss& loss) const;
  void SendTo(Peer& peer, const Frame& frame);
  bool is_hub() const { return self_ == 0; }

  const NodeId self_;
  const NodeId nodes_;
  Roster roster_;
  std::vector<Peer> peers_;  // the hub's: all others · the others': the hub
  UniqueFd wake_;
  std::vector<int> depends_on_;
  std::function<void()> on_orphaned_;
  std::function<void(const Loss&)> on_loss_;
  std::vector<std::atomic<bool>> alive_;
  std::optional<Loss> failure_;  // the hub's: what a node has said, not declared yet
  std::uint64_t failure_at_ns_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> leaving_{false};
  std::atomic<bool> survive_deaths_{false};
  std::array<std::atomic<NodeId>, kLines> who_gave_up_;
  std::array<std::uint32_t, kLines> parts_formed_{};  // by line, each of one thread alone

  mutable std::mutex mutex_;  // guards what follows, and the writing to peers
  std::condition_variable changed_;
  std::map<std::uint32_t, std::uint32_t> sequences_;  // by line
  std::map<ExchangeId, std::vector<std::optional<std::string>>> contributions_;
  std::map<ExchangeId, std::vector<std::string>> gathered_;
  std::optional<Loss> first_loss_;
  std::optional<Loss> own_failure_;
  std::map<std::uint32_t, Loss> giving_up_;  // by line: what this node has not told yet
  std::map<std::uint32_t, Loss> given_up_;
  std::vector<std::weak_ptr<LossWatch::Watcher>> watchers_;
  std::thread thread_;
};

}  // namespace slimgraph
