#include "slimgraph/fabric/internal/mpi/lane.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"

namespace slimgraph {

namespace {

// From this size on, MPI moves the bytes faster than copies into and out of a frame.
constexpr std::uint64_t kSeparateBytes = 64 << 10;
constexpr std::size_t kMaxBatchesInFlight = 16;

// Appends values and bytes to a frame of known size.
class FrameWriter {
 public:
  explicit FrameWriter(MutableBytes out) : out_(out) {}
  void Put(Bytes bytes) {
    if (!bytes.empty()) std::memcpy(out_.data(), bytes.data(), bytes.size());
    out_ = out_.subspan(bytes.size());
  }
  void Put(const auto& value) requires(
      std::is_trivially_copyable_v<std::remove_cvref_t<decltype(value)>> &&
      !std::is_convertible_v<decltype(value), Bytes>) {
    Put(std::as_bytes(std::span(&value, 1)));
  }

 private:
  MutableBytes out_;
};

}  // namespace

MpiLane::MpiLane(MpiWorld& world, MpiFrames& frames, const MpiWindows& windows, NodeId node,
                 std::uint16_t endpoint, std::vector<Channel::PartResult>& ended)
    : world_(world),
      frames_(frames),
      windows_(windows),
      node_(node),
      endpoint_(endpoint),
      ended_(ended) {}

MpiLane::TransferMode MpiLane::ModeOf(const Operation& operation) {
  if (operation.length < kSeparateBytes) return TransferMode::kInline;
  return operation.kind == OperationKind::kRead ? TransferMode::kSeparateReads
                                                : TransferMode::kSeparateWrites;
}

void MpiLane::Post(std::uint64_t id, std::span<const Operation> operations, bool continues) {
  if (lost_) {
    ended_.push_back({id, Outcome::kPeerLost, 0});
    return;
  }
  for (std::size_t first = 0; first < operations.size();) {
    const TransferMode mode = ModeOf(operations[first]);
    std::size_t end = first + 1;
    while (end < operations.size() && ModeOf(operations[end]) == mode) ++end;
    waiting_.push_back({id, operations.subspan(first, end - first),
                        static_cast<std::uint32_t>(first), mode, end == operations.size(),
                        continues || first > 0});
    first = end;
  }
  while (MaySendNext()) SendNext();
}

// A batch that follows another batch of its part waits until that one has succeeded.
bool MpiLane::MaySendNext() const {
  if (waiting_.empty() || sent_.size() >= kMaxBatchesInFlight) return false;
  if (sent_.empty()) return true;
  return sent_.back().last && sent_.back().mode == TransferMode::kInline &&
         waiting_.front().mode == TransferMode::kInline;
}

void MpiLane::SendNext() {
  sent_.push_back(waiting_.front());
  waiting_.pop_front();
  SendRequest(sent_.back());
}

void MpiLane::SendRequest(const Batch& batch) {
  const std::uint8_t separate = batch.mode != TransferMode::kInline ? wire::kSeparate : 0;
  const std::uint8_t continues = batch.continues ? wire::kContinues : 0;
  wire::RequestFrame request{.flags = static_cast<std::uint8_t>(separate | continues),
                             .endpoint = endpoint_,
                             .operations = static_cast<std::uint32_t>(batch.operations.size())};
  if (batch.mode == TransferMode::kInline) {
    for (const Operation& operation : batch.operations) {
      request.payload_bytes += wire::SentBytes(operation.kind, operation.length);
    }
  }
  Frame frame(sizeof request +
              batch.operations.size_bytes() / sizeof(Operation) * sizeof(wire::OperationFrame) +
              request.payload_bytes);
  FrameWriter writer(frame.bytes());
  writer.Put(request);
  for (const Operation& operation : batch.operations) {
    SLIM_CHECK(operation.length <= wire::kMaxOperationBytes, "{} bytes in one operation",
               operation.length);
    writer.Put(wire::FrameOf(operation));
  }
  if (batch.mode == TransferMode::kInline) {
    for (const Operation& operation : batch.operations) {
      switch (operation.kind) {
        case OperationKind::kRead:
          break;
        case OperationKind::kWrite:
          writer.Put(Bytes(operation.local, operation.length));
          break;
        case OperationKind::kFetchAdd:
          writer.Put(operation.operand);
          break;
        case OperationKind::kCompareSwap:
          writer.Put(operation.operand);
          writer.Put(operation.expected);
          break;
      }
    }
  }
  frames_.Send(node_, std::move(frame));
}

void MpiLane::OnReply(const Frame& frame) {
  if (lost_) return;
  SLIM_CHECK(!sent_.empty(), "a reply of node {} to nothing", node_);
  const Batch& batch = sent_.front();
  std::memcpy(&reply_, frame.bytes().data(), sizeof reply_);
  if (reply_.kind == wire::FrameKind::kGrant) {
    const bool all = reply_.outcome == Outcome::kOk;
    StartTransfers(batch, all ? batch.operations.size() : reply_.failed_index);
    replied_ = batch.mode == TransferMode::kSeparateReads;
  } else {
    if (batch.mode == TransferMode::kInline)
      TakeInline(batch, reply_, frame.bytes().subspan(sizeof reply_));
    replied_ = true;
  }
  if (replied_ && transfers_.empty()) FinishBatch();
}

void MpiLane::TakeInline(const Batch& batch, const wire::ReplyFrame& reply, Bytes payload) {
  const std::size_t count =
      reply.outcome == Outcome::kOk ? batch.operations.size() : reply.failed_index;
  for (const Operation& operation : batch.operations.first(count)) {
    const std::uint64_t bytes = wire::ReturnedBytes(operation.kind, operation.length);
    SLIM_CHECK(bytes <= payload.size(), "a short reply of node {}", node_);
    if (operation.local != nullptr && bytes > 0) {
      std::memcpy(operation.local, payload.data(), bytes);
    }
    payload = payload.subspan(bytes);
  }
}

void MpiLane::StartTransfers(const Batch& batch, std::size_t count) {
  for (const Operation& operation : batch.operations.first(count)) {
    for (std::uint64_t done = 0; done < operation.length;) {
      const std::uint64_t step =
          std::min<std::uint64_t>(operation.length - done, MpiWorld::kMaxTransferBytes);
      const MutableBytes bytes(operation.local + done, step);
      transfers_.push_back(
          batch.mode == TransferMode::kSeparateReads
              ? world_.Get(windows_.at(operation.region), node_, operation.offset + done, bytes)
              : world_.Send(node_, MpiWorld::kPayloads + endpoint_, bytes));
      done += step;
    }
  }
}

bool MpiLane::Progress() {
  if (transfers_.empty()) return false;
  const auto done =
      std::erase_if(transfers_, [this](auto& transfer) { return world_.Test(transfer); });
  if (transfers_.empty() && replied_) FinishBatch();
  return done > 0;
}

void MpiLane::FinishBatch() {
  const Batch batch = sent_.front();
  sent_.pop_front();
  replied_ = false;
  if (reply_.kind == wire::FrameKind::kGrant) {
    Frame release(sizeof(wire::ReplyFrame));
    FrameWriter(release.bytes())
        .Put(wire::ReplyFrame{.kind = wire::FrameKind::kRelease, .endpoint = endpoint_});
    frames_.Send(node_, std::move(release));
  }
  if (reply_.outcome != Outcome::kOk) {
    ended_.push_back({batch.part, reply_.outcome, batch.first + reply_.failed_index});
    while (!batch.last && !waiting_.empty() && waiting_.front().part == batch.part) {
      waiting_.pop_front();
    }
  } else if (batch.last) {
    ended_.push_back({batch.part, Outcome::kOk, 0});
  }
  while (MaySendNext()) SendNext();
}

void MpiLane::Lose() {
  lost_ = true;
  for (const auto* queue : {&sent_, &waiting_}) {
    for (const Batch& batch : *queue) {
      if (batch.last) ended_.push_back({batch.part, Outcome::kPeerLost, 0});
    }
  }
  sent_.clear();
  waiting_.clear();
  transfers_.clear();
}

}  // namespace slimgraph
