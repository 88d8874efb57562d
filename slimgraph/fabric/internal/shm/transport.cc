#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/make_transport.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "slimgraph/base/shared_memory.h"
#include "slimgraph/fabric/internal/execute_operation.h"
#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/fabric/internal/shm/inbox.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {
namespace {

// Far enough ahead to hide a cache miss behind the copies in between.
constexpr std::size_t kPrefetchAhead = 12;
constexpr std::uint64_t kSmallRead = 256;
// Up to this many operations are all prefetched before the first one is executed.
constexpr std::size_t kFewOperations = 32;

class ShmTransport : public Transport {
 public:
  ShmTransport(Job& job, std::uint32_t endpoints) : job_(job), endpoints_(endpoints) {}
  Status Open();

  std::string_view name() const override { return "shm"; }
  Result<RegionMemory> Allocate(std::uint64_t bytes) override;
  Result<RegionMemory> Adopt(const SharedMemory& memory, bool writable) override {
    standing_[memory.base()] = &memory;
    return RegionMemory{memory.base(), memory.bytes(), writable, /*owned=*/false};
  }
  void Free(const RegionMemory& memory) override { own_.erase(memory.base); }
  void Clear(const RegionMemory& memory) override { DiscardPages(memory, MADV_REMOVE); }
  Status Publish(RegionId id, const RegionMemory& mine,
                 std::span<const std::uint64_t> bytes_of_node) override;
  Status Revoke(RegionId id) override;
  bool survives_deaths() const override { return true; }
  // A dead node executed its operations itself, so none is left.
  Status Fence(NodeId) override { return {}; }
  std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& /*faults*/) override;
  Status Close() override;
  // Other nodes execute their operations themselves, on their own mappings.
  void Stop() override {}

  struct Mapping {
    std::byte* base = nullptr;
    std::uint64_t bytes = 0;
    bool writable = true;
  };
  // Null if there is no such region.
  const Mapping* Find(NodeId node, RegionId region) const {
    if (region >= kMaxRegions) return nullptr;
    const Mapping* const of_node = mappings_[region].load(std::memory_order_acquire);
    return of_node == nullptr ? nullptr : of_node + node;
  }
  Bytes Mapped(NodeId node, RegionId region) const override {
    const Mapping* const mapping = Find(node, region);
    return mapping == nullptr ? Bytes() : Bytes(mapping->base, mapping->bytes);
  }
  const Job& job() const { return job_; }
  std::uint32_t endpoints() const { return endpoints_; }
  const ShmInbox& inbox(NodeId node) const { return inboxes_[node]; }

 private:
  const SharedMemory* MemoryAt(std::byte* base) const;
  Result<std::vector<std::unique_ptr<SharedMemory>>> ShareWithAll(const SharedMemory* mine);

  Job& job_;
  std::uint32_t endpoints_;
  std::unique_ptr<SharedMemory> own_inbox_;
  std::map<std::byte*, std::unique_ptr<SharedMemory>> own_;
  std::map<std::byte*, const SharedMemory*> standing_;  // adopted
  std::vector<std::unique_ptr<SharedMemory>> opened_;   // of other nodes
  std::vector<ShmInbox> inboxes_;
  // By region: one mapping per node. Published to the endpoints' threads, and never removed.
  std::array<std::atomic<const Mapping*>, kMaxRegions> mappings_ = {};
  std::vector<std::unique_ptr<Mapping[]>> mapping_tables_;
};

// Prefetches the memory that a small operation accesses.
void PrefetchTarget(const Operation& operation, const ShmTransport::Mapping& memory) {
  if (operation.length > kSmallRead || operation.offset >= memory.bytes) return;
  const std::byte* const from = memory.base + operation.offset;
  if (operation.kind == OperationKind::kRead) {
    __builtin_prefetch(from);
    __builtin_prefetch(from + operation.length - 1);
  } else {
    __builtin_prefetch(from, 1);
  }
}

class ShmChannel : public Channel {
 public:
  ShmChannel(const ShmTransport& transport, std::uint32_t endpoint);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override;
  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override;
  bool Send(EndpointAddress to, const Message& message) override;
  void Park(std::chrono::nanoseconds limit) override;
  void Wake() override;

 private:
  // A part that is executed later, while the memory that it accesses comes into the cache.
  struct DeferredPart {
    std::uint64_t id;
    std::span<const Operation> operations;
  };
  bool PrefetchIfDeferrable(std::span<const Operation> operations) const;
  void ExecuteDeferred();
  void ExecuteNow(std::uint64_t id, std::span<const Operation> operations);
  PartResult ExecuteAll(std::uint64_t id, std::span<const Operation> operations) const;

  const ShmTransport& transport_;
  const std::uint32_t endpoint_;
  const std::uint32_t number_;  // of this endpoint among all endpoints of the job
  ShmInbox inbox_;
  std::vector<bool> failed_;  // by node: whether the last part failed
  std::vector<DeferredPart> deferred_;
  std::vector<PartResult> ended_;
  std::uint32_t seen_ = 0;  // the doorbell's count before the last Poll
};

Status ShmTransport::Open() {
  if (!job_.one_host()) {
    return UsageError("--transport shm needs all nodes on one machine; use tcp or mpi");
  }
  SLIM_ASSIGN(own_inbox_, SharedMemory::Create(ShmInbox::Bytes(job_.nodes(), endpoints_)));
  SLIM_ASSIGN(auto inboxes, ShareWithAll(own_inbox_.get()));
  for (auto& inbox : inboxes) {
    std::byte* const base = inbox ? inbox->base() : own_inbox_->base();
    inboxes_.emplace_back(base, job_.nodes(), endpoints_);
    if (inbox) opened_.push_back(std::move(inbox));
  }
  return {};
}

// Collective: opens the other nodes' memories; the element of the own node is null. Each node keeps
// its memory open for the others until the next exchange.
Result<std::vector<std::unique_ptr<SharedMemory>>> ShmTransport::ShareWithAll(
    const SharedMemory* mine) {
  SLIM_ASSIGN(const auto handles, job_.Exchange(mine == nullptr ? "" : mine->handle()));
  std::vector<std::unique_ptr<SharedMemory>> memories(job_.nodes());
  for (NodeId node = 0; node < job_.nodes(); ++node) {
    if (node == job_.self() || handles[node].empty()) continue;
    SLIM_ASSIGN(memories[node], SharedMemory::Open(handles[node]));
  }
  return memories;
}

Result<RegionMemory> ShmTransport::Allocate(std::uint64_t bytes) {
  if (bytes == 0) return RegionMemory{};
  SLIM_ASSIGN(auto memory, SharedMemory::Create(bytes));
  std::byte* const base = memory->base();
  own_[base] = std::move(memory);
  return RegionMemory{base, bytes};
}

// Null if this node has no memory there.
const SharedMemory* ShmTransport::MemoryAt(std::byte* base) const {
  if (const auto own = own_.find(base); own != own_.end()) return own->second.get();
  const auto standing = standing_.find(base);
  return standing == standing_.end() ? nullptr : standing->second;
}

Status ShmTransport::Publish(RegionId id, const RegionMemory& mine,
                             std::span<const std::uint64_t> bytes_of_node) {
  SLIM_ASSIGN(auto memories, ShareWithAll(MemoryAt(mine.base)));
  auto mappings = std::make_unique<Mapping[]>(job_.nodes());
  for (NodeId node = 0; node < job_.nodes(); ++node) {
    if (!memories[node]) continue;
    mappings[node] = {memories[node]->base(), bytes_of_node[node], memories[node]->writable()};
    opened_.push_back(std::move(memories[node]));
  }
  mappings_[id].store(mappings.get(), std::memory_order_release);
  mapping_tables_.push_back(std::move(mappings));
  return {};
}

Status ShmTransport::Revoke(RegionId id) {
  const ShmInbox& inbox = inboxes_[job_.self()];
  inbox.revoked(id).store(true);
  for (std::uint32_t sender = 0; sender < inbox.senders(); ++sender) {
    // An endpoint that is inside now may have read `revoked` before it was set. It leaves soon,
    // unless its node has died.
    while (inbox.presence(sender).inside.load() != 0 && job_.alive(sender / endpoints_)) {
      SleepFor(std::chrono::microseconds(20));
    }
  }
  return {};
}

std::unique_ptr<Channel> ShmTransport::OpenChannel(std::uint32_t endpoint, Faults& /*faults*/) {
  return std::make_unique<ShmChannel>(*this, endpoint);
}

Status ShmTransport::Close() {
  SLIM_TRY(job_.Exchange(""));
  return {};
}

ShmChannel::ShmChannel(const ShmTransport& transport, std::uint32_t endpoint)
    : transport_(transport),
      endpoint_(endpoint),
      number_(transport.job().self() * transport.endpoints() + endpoint),
      inbox_(transport.inbox(transport.job().self())),
      failed_(transport.job().nodes()) {}

void ShmChannel::Post(std::uint64_t id, std::span<const Operation> operations, bool continues) {
  const NodeId node = operations[0].node;
  if (!continues && PrefetchIfDeferrable(operations)) {
    deferred_.push_back({id, operations});
    return;
  }
  ExecuteDeferred();
  if (continues && failed_[node]) {
    ended_.push_back({id, Outcome::kFlushed, 0});
    return;
  }
  ExecuteNow(id, operations);
}

// Prefetches the part and returns true if its execution may wait for the next Poll(). That is so
// for few operations without writes, which no other endpoint waits for. This endpoint does other
// work meanwhile, while the data comes into the cache.
bool ShmChannel::PrefetchIfDeferrable(std::span<const Operation> operations) const {
  if (operations.size() > kFewOperations) return false;
  for (const Operation& operation : operations) {
    if (operation.kind == OperationKind::kWrite) return false;
  }
  for (const Operation& operation : operations) {
    const auto* const memory = transport_.Find(operation.node, operation.region);
    if (memory != nullptr) PrefetchTarget(operation, *memory);
  }
  return true;
}

void ShmChannel::ExecuteDeferred() {
  for (const DeferredPart& part : deferred_) ExecuteNow(part.id, part.operations);
  deferred_.clear();
}

void ShmChannel::ExecuteNow(std::uint64_t id, std::span<const Operation> operations) {
  const NodeId node = operations[0].node;
  if (!transport_.job().alive(node)) {
    ended_.push_back({id, Outcome::kPeerLost, 0});
    return;
  }
  // Sets `inside` before it reads `revoked`, both sequentially consistent. So either this endpoint
  // sees the revocation, or the revoking node sees `inside`.
  auto& inside = transport_.inbox(node).presence(number_).inside;
  inside.store(1);
  ended_.push_back(ExecuteAll(id, operations));
  inside.store(0, std::memory_order_release);
  failed_[node] = ended_.back().outcome != Outcome::kOk;
}

Channel::PartResult ShmChannel::ExecuteAll(std::uint64_t id,
                                           std::span<const Operation> operations) const {
  const ShmInbox& theirs = transport_.inbox(operations[0].node);
  RegionId region = kMaxRegions;
  const ShmTransport::Mapping* memory = nullptr;
  const auto prefetch = [&](const Operation& operation) {
    if (operation.region == region) PrefetchTarget(operation, *memory);
  };
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (memory == nullptr || operation.region != region) {
      region = operation.region;
      memory = transport_.Find(operation.node, region);
      if (memory == nullptr) return {id, Outcome::kNoRegion, i};
      if (theirs.revoked(region).load()) return {id, Outcome::kRevoked, i};
      for (std::size_t later = i + 1; later < operations.size() && later < i + kPrefetchAhead;
           ++later) {
        prefetch(operations[later]);
      }
    }
    if (i + kPrefetchAhead < operations.size()) prefetch(operations[i + kPrefetchAhead]);
    const Outcome outcome =
        ExecuteOperation(operation, memory->base, memory->bytes, memory->writable);
    if (outcome != Outcome::kOk) return {id, outcome, i};
  }
  return {id, Outcome::kOk, 0};
}

void ShmChannel::Poll(std::vector<PartResult>& ended,
                      const std::function<void(const Message&)>& receive) {
  seen_ = inbox_.doorbell(endpoint_).rung.load();
  ExecuteDeferred();
  ended.insert(ended.end(), ended_.begin(), ended_.end());
  ended_.clear();
  inbox_.ready(endpoint_).Take([&](std::uint32_t sender) {
    const std::uint32_t endpoints = transport_.endpoints();
    inbox_.ring(endpoint_, sender).Drain({sender / endpoints, sender % endpoints}, receive);
  });
}

bool ShmChannel::Send(EndpointAddress to, const Message& message) {
  if (!transport_.job().alive(to.node)) return true;
  const ShmInbox& theirs = transport_.inbox(to.node);
  return SendByRing(theirs.ring(to.endpoint, number_), theirs.ready(to.endpoint),
                    theirs.doorbell(to.endpoint), number_, message);
}

void ShmChannel::Park(std::chrono::nanoseconds limit) {
  inbox_.doorbell(endpoint_).Sleep(seen_, static_cast<std::uint64_t>(limit.count()), [this] {
    return !ended_.empty() || !deferred_.empty() || inbox_.ready(endpoint_).any();
  });
}

void ShmChannel::Wake() { inbox_.doorbell(endpoint_).Ring(); }

}  // namespace

Result<std::unique_ptr<Transport>> MakeShmTransport(Job& job, const FabricOptions& options) {
  auto transport = std::make_unique<ShmTransport>(job, options.endpoints);
  SLIM_TRY(transport->Open());
  return transport;
}

}  // namespace slimgraph
