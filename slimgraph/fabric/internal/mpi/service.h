// The one thread of a node that calls MPI. It carries the parts and messages of this node's
// endpoints, answers for this node's regions, and while there is nothing to do it first yields,
// then sleeps in growing steps, so that a memory node that nobody asks costs next to nothing.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include "slimgraph/fabric/internal/mpi/frames.h"
#include "slimgraph/fabric/internal/mpi/lane.h"
#include "slimgraph/fabric/internal/mpi/mailbox.h"
#include "slimgraph/fabric/internal/mpi/target.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

class MpiService {
 public:
  MpiService(Job& job, WakeSocket wake, std::uint32_t endpoints);
  ~MpiService();

  // Collective: MPI is up and its windows work.
  Status Start();

  // Collective: waits for all nodes inside, and fails when one is lost.
  Status Publish(RegionId id, const RegionMemory& memory);
  // Local.
  void Revoke(RegionId id);

  // From an endpoint's thread.
  void Post(std::uint32_t endpoint, std::uint64_t id, std::span<const Operation> operations,
            bool continues);
  void Send(NodeId node, Frame frame);
  MpiMailbox& mailbox(std::uint32_t endpoint) { return endpoints_[endpoint].mailbox; }
  Job& job() { return job_; }

  // A collective call of MPI was given up because a node was lost: the thread is in it for good,
  // and this object must never be destroyed.
  bool stuck() const { return stuck_; }

 private:
  struct PartCommand {
    std::uint32_t endpoint;
    std::uint64_t id;
    std::span<const Operation> operations;
    bool continues;
  };
  struct FrameCommand {
    NodeId node;
    Frame frame;
  };
  using Task = std::function<void()>;
  using Command = std::variant<PartCommand, FrameCommand, Task>;

  struct EndpointState {
    MpiMailbox mailbox;
    std::vector<Channel::PartResult> ended;       // to be delivered
    std::vector<std::unique_ptr<MpiLane>> lanes;  // by node
  };
  struct Revocation {
    RegionId region;
    std::promise<void> done;
  };

  void Queue(Command command);
  Status Await(std::future<Status> done);

  // --- on the thread
  void Run(const std::stop_token& stop);
  bool StartMpi();
  bool RunCommands();
  bool TakeFrames();
  void TakeFrame(MpiFrames::Arrived arrived);
  bool MoveTransfers();
  void DeliverEnded();
  void EndRevocations();
  void ForgetLostNodes();
  void ForgetNode(NodeId node);
  void GiveUp();
  void Rest(bool active, const std::stop_token& stop);
  bool Transferring() const;
  void NudgeAwaited();
  MpiLane& LaneOf(std::uint32_t endpoint, NodeId node);

  Job& job_;
  WakeSocket wake_;
  std::vector<EndpointState> endpoints_;

  std::mutex mutex_;
  std::vector<Command> commands_;  // under mutex_
  std::atomic<bool> has_commands_ = false;
  std::atomic<bool> asleep_ = false;
  std::atomic<bool> loss_ = false;
  std::promise<Status> started_;
  bool stuck_ = false;

  // --- the thread's own
  std::unique_ptr<MpiWorld> world_;
  std::unique_ptr<MpiFrames> frames_;
  std::unique_ptr<MpiTarget> target_;
  MpiWindows windows_;
  std::vector<Command> running_;
  std::vector<Revocation> revocations_;
  std::vector<bool> forgotten_;  // by node
  std::uint64_t last_active_ns_ = 0;
  bool broken_ = false;

  LossWatch watch_;
  std::jthread thread_;
};

}  // namespace slimgraph
