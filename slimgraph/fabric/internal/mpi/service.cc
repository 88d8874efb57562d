#include "slimgraph/fabric/internal/mpi/service.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

namespace {

using std::chrono::nanoseconds;

constexpr int kFramesPerTurn = 64;

// After its last activity the thread yields for kAwakeNs. Then it sleeps, longer the longer it has
// been idle.
constexpr std::uint64_t kAwakeNs = 20'000;
constexpr std::uint64_t kShortestSleepNs = 20'000;
constexpr std::uint64_t kLongestSleepNs = 20'000'000;
// MPI makes no progress while this thread sleeps, and does not report the progress of a transfer,
// so the thread stays awake longer during transfers.
constexpr std::uint64_t kAwakeForTransfersNs = 20'000'000;
constexpr std::uint64_t kLongestSleepWithTransfersNs = 50'000;

constexpr std::chrono::milliseconds kLossCheck{20};

}  // namespace

MpiService::MpiService(Job& job, WakeSocket wake, std::uint32_t endpoints)
    : job_(job), wake_(std::move(wake)), endpoints_(endpoints), forgotten_(job.nodes()) {
  for (EndpointState& endpoint : endpoints_) endpoint.lanes.resize(job.nodes());
}

MpiService::~MpiService() {
  watch_ = {};
  thread_.request_stop();
  wake_.WakeSelf();
}

Status MpiService::Start() {
  std::future<Status> started = started_.get_future();
  thread_ = Thread([this](const std::stop_token& stop) { Run(stop); });
  watch_ = job_.WatchLoss([this](NodeId) {
    loss_ = true;
    wake_.WakeSelf();
  });
  return Await(std::move(started));
}

// A collective MPI call never returns if a node has died, so this stops waiting for it.
Status MpiService::Await(std::future<Status> done) {
  while (done.wait_for(kLossCheck) != std::future_status::ready) {
    if (const std::string loss = job_.loss(); !loss.empty()) {
      stuck_ = true;
      return EnvironmentError("{}", loss);
    }
  }
  return done.get();
}

Status MpiService::Publish(RegionId id, const RegionMemory& memory) {
  auto done = std::make_shared<std::promise<Status>>();
  std::future<Status> future = done->get_future();
  Queue(Task([this, id, memory, done] {
    const auto window = world_->MakeWindow({memory.base, memory.bytes});
    if (window) {
      windows_[id] = *window;
      target_->executor().Publish(id, memory);
      done->set_value({});
    } else {
      done->set_value(tl::unexpected(window.error()));
    }
  }));
  return Await(std::move(future));
}

void MpiService::Revoke(RegionId id) {
  if (stuck_) return;
  std::promise<void> done;
  std::future<void> future = done.get_future();
  auto revocation = std::make_shared<Revocation>(Revocation{id, std::move(done)});
  Queue(Task([this, revocation] {
    target_->executor().Revoke(revocation->region);
    revocations_.push_back(std::move(*revocation));
  }));
  // Another thread sets stuck_ if the service's thread never comes out of a collective call.
  while (future.wait_for(kLossCheck) != std::future_status::ready) {
    if (stuck_) return;
  }
}

void MpiService::Post(std::uint32_t endpoint, std::uint64_t id,
                      std::span<const Operation> operations, bool continues) {
  Queue(PartCommand{endpoint, id, operations, continues});
}

void MpiService::Send(NodeId node, Frame frame) { Queue(FrameCommand{node, std::move(frame)}); }

void MpiService::Queue(Command command) {
  {
    std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    has_commands_ = true;
  }
  if (asleep_) wake_.WakeSelf();
}

void MpiService::Run(const std::stop_token& stop) {
  if (!StartMpi()) return;
  while (!stop.stop_requested()) {
    bool active = RunCommands(stop);
    if (stop.stop_requested()) return;
    if (!broken_) active |= TakeFrames();
    if (!broken_) active |= ProgressTransfers();
    if (loss_.exchange(false)) ForgetLostNodes();
    if (world_->error() && !broken_) FailJob();
    DeliverEnded();
    EndRevocations();
    YieldOrSleep(active, stop);
  }
}

bool MpiService::StartMpi() {
  auto world = MpiWorld::Start(job_.self(), job_.nodes());
  if (!world) {
    started_.set_value(tl::unexpected(world.error()));
    return false;
  }
  world_ = *std::move(world);
  frames_ = std::make_unique<MpiFrames>(*world_, wake_, job_.self(), job_.nodes());
  target_ = std::make_unique<MpiTarget>(*world_, *frames_);
  const Status tested = world_->TestWindows();
  started_.set_value(tested);
  return tested.has_value();
}

bool MpiService::RunCommands(const std::stop_token& stop) {
  if (!has_commands_.load(std::memory_order_relaxed)) return false;
  {
    std::lock_guard lock(mutex_);
    running_.swap(commands_);
    has_commands_ = false;
  }
  for (Command& command : running_) {
    if (stop.stop_requested()) break;
    if (auto* part = std::get_if<PartCommand>(&command)) {
      LaneOf(part->endpoint, part->operations.front().node)
          .Post(part->id, part->operations, part->continues);
    } else if (auto* frame = std::get_if<FrameCommand>(&command)) {
      if (!forgotten_[frame->node]) frames_->Send(frame->node, std::move(frame->frame));
    } else {
      std::get<Task>(command)();
    }
  }
  running_.clear();
  return true;
}

MpiLane& MpiService::LaneOf(std::uint32_t endpoint, NodeId node) {
  auto& lane = endpoints_[endpoint].lanes[node];
  if (!lane) {
    lane =
        std::make_unique<MpiLane>(*world_, *frames_, windows_, node,
                                  static_cast<std::uint16_t>(endpoint), endpoints_[endpoint].ended);
    if (forgotten_[node]) lane->Lose();
  }
  return *lane;
}

bool MpiService::TakeFrames() {
  for (int i = 0; i < kFramesPerTurn; ++i) {
    auto arrived = frames_->Receive();
    if (!arrived) return i > 0;
    TakeFrame(std::move(*arrived));
  }
  return true;
}

void MpiService::TakeFrame(MpiFrames::Arrived arrived) {
  if (forgotten_[arrived.from]) return;
  wire::ReplyFrame frame;
  std::memcpy(&frame, arrived.frame.bytes().data(), sizeof frame);
  switch (frame.kind) {
    case wire::FrameKind::kRequest:
      return target_->OnRequest(arrived.from, arrived.frame);
    case wire::FrameKind::kRelease:
      return target_->OnRelease(arrived.from, arrived.frame);
    case wire::FrameKind::kReply:
    case wire::FrameKind::kGrant:
      return LaneOf(frame.endpoint, arrived.from).OnReply(arrived.frame);
    case wire::FrameKind::kMessage:
    case wire::FrameKind::kCredit:
      break;
  }
  wire::MessageFrame message;
  std::memcpy(&message, arrived.frame.bytes().data(), sizeof message);
  endpoints_[message.to_endpoint].mailbox.Deliver(std::move(arrived));
}

bool MpiService::ProgressTransfers() {
  bool moved = frames_->Progress();
  moved |= target_->Progress();
  for (const EndpointState& endpoint : endpoints_) {
    for (const auto& lane : endpoint.lanes) {
      if (lane) moved |= lane->Progress();
    }
  }
  return moved;
}

void MpiService::DeliverEnded() {
  for (EndpointState& endpoint : endpoints_) {
    if (!endpoint.ended.empty()) endpoint.mailbox.Deliver(endpoint.ended);
  }
}

void MpiService::EndRevocations() {
  std::erase_if(revocations_, [this](Revocation& revocation) {
    if (target_->Granted(revocation.region)) return false;
    revocation.done.set_value();
    return true;
  });
}

void MpiService::ForgetLostNodes() {
  for (NodeId node = 0; node < job_.nodes(); ++node) {
    if (!forgotten_[node] && !job_.alive(node)) ForgetNode(node);
  }
}

void MpiService::ForgetNode(NodeId node) {
  forgotten_[node] = true;
  frames_->Forget(node);
  target_->Forget(node);
  for (EndpointState& endpoint : endpoints_) {
    if (endpoint.lanes[node]) endpoint.lanes[node]->Lose();
  }
}

// MPI does not recover from an error, so the job ends. Until then, all nodes count as lost here, so
// that no thread waits for an operation that cannot complete.
void MpiService::FailJob() {
  broken_ = true;
  job_.Fail(*world_->error());
  for (NodeId node = 0; node < job_.nodes(); ++node) {
    if (!forgotten_[node]) ForgetNode(node);
  }
}

bool MpiService::Transferring() const {
  if (frames_->under_way() || target_->granted()) return true;
  return std::any_of(endpoints_.begin(), endpoints_.end(), [](const EndpointState& endpoint) {
    return std::any_of(endpoint.lanes.begin(), endpoint.lanes.end(),
                       [](const auto& lane) { return lane && lane->transferring(); });
  });
}

void MpiService::YieldOrSleep(bool active, const std::stop_token& stop) {
  const std::uint64_t now = NowNs();
  if (active) last_active_ns_ = now;
  const std::uint64_t idle_ns = now - last_active_ns_;
  const bool transferring = Transferring();
  if (idle_ns < (transferring ? kAwakeForTransfersNs : kAwakeNs)) {
    Yield();
    return;
  }
  WakeAwaitedNodes();
  const std::uint64_t step_ns = std::clamp(
      idle_ns / 4, kShortestSleepNs, transferring ? kLongestSleepWithTransfersNs : kLongestSleepNs);
  asleep_ = true;
  if (!has_commands_ && !loss_ && !stop.stop_requested()) {
    if (wake_.Sleep(nanoseconds(step_ns))) last_active_ns_ = NowNs();
  }
  asleep_ = false;
}

// In case the wake-up datagram was lost, or arrived just before the other side fell asleep.
void MpiService::WakeAwaitedNodes() {
  for (const EndpointState& endpoint : endpoints_) {
    for (const auto& lane : endpoint.lanes) {
      if (lane && lane->waiting()) frames_->Wake(lane->node());
    }
  }
}

}  // namespace slimgraph
