#include "slimgraph/fabric/internal/mpi/target.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/internal/execute_operation.h"

namespace slimgraph {

void MpiTarget::OnRequest(NodeId from, const Frame& frame) {
  wire::RequestFrame request;
  Bytes rest = frame.bytes();
  std::memcpy(&request, rest.data(), sizeof request);
  rest = rest.subspan(sizeof request);
  const std::size_t bytes = request.operations * sizeof(wire::OperationFrame);
  SLIM_CHECK(rest.size() == bytes + request.payload_bytes, "a broken request of node {}", from);
  const Operations operations(reinterpret_cast<const wire::OperationFrame*>(rest.data()),
                              request.operations);
  if ((request.flags & wire::kSeparate) != 0) {
    GrantTransfers(from, request, operations);
  } else {
    ExecuteInline(from, request, operations, rest.subspan(bytes));
  }
}

void MpiTarget::ExecuteInline(NodeId from, const wire::RequestFrame& request, Operations operations,
                              Bytes payload) {
  wire::ReplyFrame reply{.endpoint = request.endpoint};
  std::size_t most = sizeof reply;
  for (const auto& operation : operations) {
    most += wire::ReturnedBytes(operation.kind, operation.bytes);
  }
  Frame frame(most);
  std::byte* out = frame.bytes().data() + sizeof reply;
  if (Flushed(from, request)) {
    reply.outcome = Outcome::kFlushed;
    operations = {};
  }
  for (const auto& operation : operations) {
    std::byte* address = nullptr;
    reply.outcome = executor_.Locate(operation, address);
    if (reply.outcome != Outcome::kOk) break;
    if (operation.kind == OperationKind::kRead) {
      CopyFromRegion(out, address, operation.bytes);
    } else if (operation.kind == OperationKind::kWrite) {
      CopyToRegion(address, payload.data(), operation.bytes);
    } else {
      const auto old = Executor::ChangeWordBy(operation.kind, address, payload.data());
      std::memcpy(out, &old, sizeof old);
    }
    out += wire::ReturnedBytes(operation.kind, operation.bytes);
    payload = payload.subspan(wire::SentBytes(operation.kind, operation.bytes));
    ++reply.failed_index;
  }
  if (reply.outcome == Outcome::kOk) reply.failed_index = 0;
  RecordOutcome(from, reply);
  frame.Shorten(static_cast<std::size_t>(out - frame.bytes().data()));
  reply.payload_bytes = frame.bytes().size() - sizeof reply;
  std::memcpy(frame.bytes().data(), &reply, sizeof reply);
  frames_.Send(from, std::move(frame));
}

void MpiTarget::GrantTransfers(NodeId from, const wire::RequestFrame& request,
                               Operations operations) {
  Grant grant{.from = from,
              .regions = {},
              .receives = {},
              .reply = {.kind = wire::FrameKind::kGrant, .endpoint = request.endpoint}};
  if (Flushed(from, request)) {
    grant.reply.outcome = Outcome::kFlushed;
    operations = {};
  }
  for (const auto& operation : operations) {
    std::byte* address = nullptr;
    grant.reply.outcome = executor_.Locate(operation, address);
    if (grant.reply.outcome != Outcome::kOk) break;
    grant.regions.push_back(operation.region);
    ++grant.reply.failed_index;
    if (operation.kind != OperationKind::kWrite) continue;
    for (std::uint64_t done = 0; done < operation.bytes;) {
      const std::uint64_t step =
          std::min<std::uint64_t>(operation.bytes - done, MpiWorld::kMaxTransferBytes);
      grant.receives.push_back(
          world_.Receive(from, MpiWorld::kPayloads + request.endpoint, {address + done, step}));
      done += step;
    }
  }
  RecordOutcome(from, grant.reply);
  if (grant.regions.empty()) grant.reply.kind = wire::FrameKind::kReply;
  Reply(from, grant.reply);
  if (!grant.regions.empty()) grants_.push_back(std::move(grant));
}

bool MpiTarget::Flushed(NodeId from, const wire::RequestFrame& request) const {
  return (request.flags & wire::kContinues) != 0 && failed_.contains({from, request.endpoint});
}

void MpiTarget::RecordOutcome(NodeId from, const wire::ReplyFrame& reply) {
  if (reply.outcome == Outcome::kOk) {
    failed_.erase({from, reply.endpoint});
  } else {
    failed_.insert({from, reply.endpoint});
  }
}

void MpiTarget::Reply(NodeId to, const wire::ReplyFrame& reply) {
  Frame frame(sizeof reply);
  std::memcpy(frame.bytes().data(), &reply, sizeof reply);
  frames_.Send(to, std::move(frame));
}

void MpiTarget::OnRelease(NodeId from, const Frame& frame) {
  wire::ReplyFrame release;
  std::memcpy(&release, frame.bytes().data(), sizeof release);
  grants_.remove_if([&](const Grant& grant) {
    return grant.from == from && grant.reply.endpoint == release.endpoint;
  });
}

bool MpiTarget::Progress() {
  bool moved = false;
  for (auto grant = grants_.begin(); grant != grants_.end();) {
    auto& receives = grant->receives;
    const bool writes = !receives.empty();
    moved |= std::erase_if(receives, [this](auto& receive) { return world_.Test(receive); }) > 0;
    if (writes && receives.empty()) {
      grant->reply.kind = wire::FrameKind::kReply;
      Reply(grant->from, grant->reply);
      grant = grants_.erase(grant);
    } else {
      ++grant;
    }
  }
  return moved;
}

bool MpiTarget::Granted(RegionId region) const {
  return std::any_of(grants_.begin(), grants_.end(), [region](const Grant& grant) {
    return std::find(grant.regions.begin(), grant.regions.end(), region) != grant.regions.end();
  });
}

void MpiTarget::Forget(NodeId node) {
  grants_.remove_if([node](const Grant& grant) { return grant.from == node; });
}

}  // namespace slimgraph
