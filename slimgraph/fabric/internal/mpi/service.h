// The only thread of a node that calls MPI. It transfers the parts and messages of this node's
// endpoints, and serves this node's regions. Without work it first yields and then sleeps for
// growing times. So an unused memory node costs almost no processor time.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "slimgraph/base/sync.h"
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

  // Collective: starts MPI and tests its windows.
  Status Start();

  // Collective: waits until all nodes have called it, and fails when one is lost.
  Status Publish(RegionId id, const RegionMemory& memory);
  // Local: no other node takes part.
  void Revoke(RegionId id);

  // Called on an endpoint's thread.
  void Post(std::uint32_t endpoint, std::uint64_t id, std::span<const Operation> operations,
            bool continues);
  void Send(NodeId node, Frame frame);
  MpiMailbox& mailbox(std::uint32_t endpoint) { return endpoints_[endpoint].mailbox; }
  Job& job() { return job_; }

  // Whether a collective MPI call was abandoned because a node was lost. The thread may never
  // return from that call, so this object must never be destroyed.
  bool stuck() const { return stuck_; }
  // Called if stuck(): if the MPI call returns after all, the thread ends.
  void EndWhenMpiReturns() { thread_.request_stop(); }

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

  // --- on the service thread
  void Run(const std::stop_token& stop);
  bool StartMpi();
  bool RunCommands(const std::stop_token& stop);
  bool TakeFrames();
  void TakeFrame(MpiFrames::Arrived arrived);
  bool ProgressTransfers();
  void DeliverEnded();
  void EndRevocations();
  void ForgetLostNodes();
  void ForgetNode(NodeId node);
  void FailJob();
  void YieldOrSleep(bool active, const std::stop_token& stop);
  bool Transferring() const;
  void WakeAwaitedNodes();
  MpiLane& LaneOf(std::uint32_t endpoint, NodeId node);

  Job& job_;
  WakeSocket wake_;
  std::vector<EndpointState> endpoints_;

  Mutex mutex_;
  std::vector<Command> commands_;  // guarded by mutex_
  std::atomic<bool> has_commands_ = false;
  std::atomic<bool> asleep_ = false;
  std::atomic<bool> loss_ = false;
  std::promise<Status> started_;
  std::atomic<bool> stuck_ = false;

  // --- used by the service thread only
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
  Thread thread_;
};

}  // namespace slimgraph
