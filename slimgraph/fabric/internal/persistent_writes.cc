#include "slimgraph/fabric/internal/persistent_writes.h"

#include <cstring>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/file_sync.h"
#include "slimgraph/fabric/internal/own_regions.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

void PersistentWrites::Write(NodeId node, RegionId region, std::uint64_t offset, Bytes from,
                             std::uint64_t tag, Batched batched) {
  const OwnRegion* const shared = endpoint_.context_.regions.Find(region);
  SLIM_CHECK(shared != nullptr && shared->flush, "region {} is no file's memory", region);
  SLIM_CHECK(!from.empty(), "a persistent write of no bytes");
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(open_.size()));
    open_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  const bool by_read = *shared->flush == FlushBy::kRead;
  open_[index] = {.number = ++last_number_,
                  .node = node,
                  .region = region,
                  .last_byte = offset + from.size() - 1,
                  .tag = tag,
                  .stage = endpoint_.stage(),
                  .next = !by_read                  ? Next::kSync
                          : batched == Batched::kNo ? Next::kRead
                                                    : Next::kEnd};
  endpoint_.Write(node, region, offset, from);
  CollectedOne(index);
  if (open_[index].next == Next::kEnd) ReadBack(index);
}

void PersistentWrites::ReadBack(std::uint32_t index) {
  const Open& open = open_[index];
  endpoint_.Read(open.node, open.region, open.last_byte, {&read_back_, 1});
  CollectedOne(index);
}

// The operation that was collected last is one of this write.
void PersistentWrites::CollectedOne(std::uint32_t index) {
  Open& open = open_[index];
  Operation& operation = endpoint_.collected_[open.node].operations.back();
  operation.reported = Reported::kToEndpoint;
  operation.tag = index;
  ++open.operations;
}

void PersistentWrites::EndOperation(std::uint64_t tag, Outcome outcome) {
  const auto index = static_cast<std::uint32_t>(tag);
  Open& open = open_[index];
  if (open.outcome == Outcome::kOk) open.outcome = outcome;
  if (--open.operations > 0) return;
  if (open.outcome != Outcome::kOk || open.next == Next::kEnd) return End(index, open.outcome);
  ++continuing_;
  due_.push_back(index);
}

void PersistentWrites::End(std::uint32_t index, Outcome outcome) {
  endpoint_.ready_.push_back({open_[index].tag, outcome});
  open_[index].number = 0;
  free_.push_back(index);
}

void PersistentWrites::Continue() {
  const StageId stage = endpoint_.stage();
  for (std::size_t i = 0; i < due_.size(); ++i) {
    const std::uint32_t index = due_[i];
    Open& open = open_[index];
    endpoint_.SetStage(open.stage);
    if (open.next == Next::kRead) {
      open.next = Next::kEnd;
      --continuing_;
      ReadBack(index);
      endpoint_.Ring();
    } else {
      open.next = Next::kReply;
      const Call call{index, open.region, 0, open.number};
      endpoint_.Send({open.node, endpoint_.address().endpoint}, kRequest,
                     std::as_bytes(std::span(&call, 1)));
    }
  }
  endpoint_.SetStage(stage);
  due_.clear();
  if (continuing_ > 0) EndLost();
  if (!callers_.empty()) Reply();
}

void PersistentWrites::EndLost() {
  const Job& job = endpoint_.context_.job;
  const Faults& faults = endpoint_.faults_;
  if (job.all_alive() && !faults.any()) return;
  for (std::uint32_t index = 0; index < open_.size(); ++index) {
    const Open& open = open_[index];
    if (open.number == 0 || open.next != Next::kReply) continue;
    if (job.alive(open.node) && !faults.cut(open.node)) continue;
    --continuing_;
    End(index, Outcome::kPeerLost);
  }
}

void PersistentWrites::Reply() {
  std::erase_if(callers_, [this](const Caller& caller) {
    const FileSync& sync = *endpoint_.context_.regions.Find(caller.call.region)->sync;
    if (sync.synced() < caller.sync) return false;
    endpoint_.Send(caller.at, kReply, std::as_bytes(std::span(&caller.call, 1)));
    return true;
  });
}

// A reply may come when its write has been given up.
void PersistentWrites::Handle(const Message& message) {
  Call call;
  SLIM_CHECK(message.body.size() == sizeof call, "a call of {} bytes", message.body.size());
  std::memcpy(&call, message.body.data(), sizeof call);
  if (message.handler == kRequest) {
    const OwnRegion* const shared = endpoint_.context_.regions.Find(call.region);
    SLIM_CHECK(shared != nullptr && shared->sync, "region {} is no file of this node", call.region);
    callers_.push_back({message.from, call, shared->sync->Ask()});
    return;
  }
  if (call.index >= open_.size() || open_[call.index].number != call.number) return;
  --continuing_;
  End(call.index, Outcome::kOk);
}

void PersistentWrites::AddHomes(std::vector<NodeId>& nodes) const {
  for (const Open& open : open_) {
    if (open.number != 0 && open.next == Next::kReply) nodes.push_back(open.node);
  }
}

}  // namespace slimgraph
