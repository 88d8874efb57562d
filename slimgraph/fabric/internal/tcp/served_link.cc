#include "slimgraph/fabric/internal/tcp/served_link.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "slimgraph/fabric/internal/execute_operation.h"

namespace slimgraph {

namespace {

constexpr int kRequestsPerTurn = 32;

bool Changes(const wire::OperationFrame& operation) {
  return operation.kind != OperationKind::kRead;
}

}  // namespace

TcpServedLink::TcpServedLink(Poller& poller, UniqueFd fd, const Executor& executor, NodeId peer,
                             const std::optional<TcpStreamKeys>& keys)
    : TcpLink(poller, std::move(fd)), executor_(executor), peer_(peer), in_(kReceiveBytes) {
  if (!keys) return;
  in_.Decrypt(keys->of_opener);
  reply_.Encrypt(keys->of_acceptor);
}

void TcpServedLink::OnReady() {
  unfinished_ = false;
  in_.Refresh();
  int requests = 0;
  while (requests < kRequestsPerTurn) {
    const StreamState state = Step();
    if (IsOver(state)) Disconnect();
    if (state != StreamState::kDone) return;
    if (stage_ == Stage::kFrame) ++requests;
  }
  unfinished_ = true;
}

StreamState TcpServedLink::Step() {
  switch (stage_) {
    case Stage::kFrame:
      return ReceiveFrame();
    case Stage::kOperations:
      return ReceiveOperations();
    case Stage::kExecution:
      return Execute();
    case Stage::kSkipping:
      return Skip();
    case Stage::kReply:
      break;
  }
  const StreamState state = Flush(reply_);
  if (state == StreamState::kDone) stage_ = Stage::kFrame;
  return state;
}

StreamState TcpServedLink::ReceiveFrame() {
  const StreamState state = in_.Need(fd(), sizeof request_, kReceiveBytes);
  if (state != StreamState::kDone) return state;
  std::memcpy(&request_, in_.available().data(), sizeof request_);
  in_.Consume(sizeof request_);
  const bool sound = request_.kind == wire::FrameKind::kRequest && request_.operations > 0 &&
                     request_.operations <= kMaxPartOperations;
  if (!sound) return StreamState::kLost;
  stage_ = Stage::kOperations;
  return StreamState::kDone;
}

StreamState TcpServedLink::ReceiveOperations() {
  const std::size_t bytes = request_.operations * sizeof(wire::OperationFrame);
  const StreamState state = in_.Need(fd(), bytes, kReceiveBytes);
  if (state != StreamState::kDone) return state;
  operations_.resize(request_.operations);
  std::memcpy(operations_.data(), in_.available().data(), bytes);
  in_.Consume(bytes);
  std::uint64_t payload_bytes = 0;
  prompt_end_ = 0;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (static_cast<std::size_t>(operations_[i].kind) >= kNumOperationKinds) {
      return StreamState::kLost;
    }
    payload_bytes += wire::SentBytes(operations_[i].kind, operations_[i].bytes);
    // A read that is copied reads memory at its turn. A read that is sent directly from memory
    // reads it later, so it must not precede an operation that is executed at its turn.
    if (Changes(operations_[i]) || operations_[i].bytes <= kCopyBytes) prompt_end_ = i + 1;
  }
  if (payload_bytes != request_.payload_bytes) return StreamState::kLost;
  payload_left_ = payload_bytes;
  next_ = 0;
  next_moved_ = 0;
  const bool flushed = (request_.flags & wire::kContinues) != 0 && outcome_ != Outcome::kOk;
  outcome_ = flushed ? Outcome::kFlushed : Outcome::kOk;
  stage_ = flushed ? Stage::kSkipping : Stage::kExecution;
  return StreamState::kDone;
}

StreamState TcpServedLink::Execute() {
  for (; next_ < operations_.size(); ++next_, next_moved_ = 0) {
    const StreamState state = ExecuteOne(operations_[next_]);
    if (state != StreamState::kDone) return state;
    if (outcome_ != Outcome::kOk) break;
  }
  stage_ = Stage::kSkipping;
  return StreamState::kDone;
}

// Locates the address again whenever more bytes arrive, because the region may have been revoked.
StreamState TcpServedLink::ExecuteOne(const wire::OperationFrame& operation) {
  std::byte* address = nullptr;
  outcome_ = executor_.Locate(operation, address);
  if (outcome_ != Outcome::kOk) return StreamState::kDone;
  switch (operation.kind) {
    case OperationKind::kRead:
      ExecuteRead(operation, address);
      return StreamState::kDone;
    case OperationKind::kWrite:
      return ExecuteWrite(operation, address);
    case OperationKind::kCompareSwap:
    case OperationKind::kFetchAdd:
      break;
  }
  return ExecuteAtomic(operation, address);
}

void TcpServedLink::ExecuteRead(const wire::OperationFrame& operation, std::byte* address) {
  const Bytes bytes(address, operation.bytes);
  if (KeepsWordsWhole(address, bytes.size())) {
    std::array<std::byte, kWholeWordsBytes> words;
    LoadWords(words.data(), address, bytes.size());
    reply_.Copy(Bytes(words).first(bytes.size()));
  } else if (next_ < prompt_end_ || bytes.size() <= kCopyBytes) {
    const UnorderedReads reads;  // as in CopyFromRegion
    reply_.Copy(bytes);
  } else {
    reply_.Refer(bytes);
  }
}

StreamState TcpServedLink::ExecuteWrite(const wire::OperationFrame& operation, std::byte* address) {
  if (KeepsWordsWhole(address, operation.bytes)) {
    const StreamState state = in_.Need(fd(), operation.bytes, kReceiveBytes);
    if (state != StreamState::kDone) return state;
    StoreWords(address, in_.available().data(), operation.bytes);
    in_.Consume(operation.bytes);
    payload_left_ -= operation.bytes;
    return state;
  }
  MutableBytes rest = MutableBytes(address, operation.bytes).subspan(next_moved_);
  const std::size_t before = rest.size();
  const StreamState state = in_.Move(fd(), rest);
  next_moved_ += before - rest.size();
  payload_left_ -= before - rest.size();
  return state;
}

StreamState TcpServedLink::ExecuteAtomic(const wire::OperationFrame& operation,
                                         std::byte* address) {
  const std::uint64_t bytes = wire::SentBytes(operation.kind, operation.bytes);
  const StreamState state = in_.Need(fd(), bytes, kReceiveBytes);
  if (state != StreamState::kDone) return state;
  const std::uint64_t old = Executor::ChangeWordBy(operation.kind, address, in_.available().data());
  in_.Consume(bytes);
  payload_left_ -= bytes;
  reply_.Copy(wire::BytesOf(old));
  return StreamState::kDone;
}

// Skips the payload of the operations of a failed request that were not executed.
StreamState TcpServedLink::Skip() {
  while (payload_left_ > 0) {
    const std::uint64_t step = std::min<std::uint64_t>(payload_left_, kReceiveBytes);
    if (const auto state = in_.Need(fd(), 1, step - 1); state != StreamState::kDone) return state;
    const std::size_t skipped = std::min<std::uint64_t>(in_.available().size(), payload_left_);
    in_.Consume(skipped);
    payload_left_ -= skipped;
  }
  QueueReply();
  return StreamState::kDone;
}

void TcpServedLink::QueueReply() {
  const wire::ReplyFrame frame{
      .outcome = outcome_,
      .endpoint = request_.endpoint,
      .failed_index = outcome_ == Outcome::kOk ? 0 : static_cast<std::uint32_t>(next_),
      .payload_bytes = reply_.bytes()};
  reply_.CopyToFront(wire::BytesOf(frame));
  stage_ = Stage::kReply;
}

}  // namespace slimgraph
