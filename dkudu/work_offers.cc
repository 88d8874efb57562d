#include "dkudu/work_offers.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace slimgraph {
namespace {

// How long an engine that finds nothing sleeps: at first, and at most.
constexpr std::chrono::microseconds kShortSleep(20);
constexpr std::chrono::microseconds kLongSleep(4000);

Status Settle(Endpoint& endpoint) {
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot take work of other nodes: {}", OutcomeName(outcome));
}

template <typename T>
MutableBytes BytesOf(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

WorkOffers::WorkOffers(const MiningJob& job, std::uint64_t part_bytes)
    : job_(job.cluster.job()),
      self_(job.cluster.self()),
      compute_(job.cluster.topology().compute()),
      engines_(std::uint64_t{compute_} * job.cluster.threads()),
      steal_(job.options.steal == Steal::kOn && engines_ > 1),
      part_bytes_(part_bytes) {}

Result<std::unique_ptr<WorkOffers>> WorkOffers::Make(MiningJob& job, std::uint64_t part_bytes) {
  std::unique_ptr<WorkOffers> offers(new WorkOffers(job, part_bytes));
  if (!offers->steal_) return offers;
  const bool computes = job.cluster.computes();
  SLIM_ASSIGN(const SharedRegion region,
              job.cluster.fabric().Share(computes ? offers->PartAt(kSlots) : 0));
  offers->region_ = region.id;
  if (computes) offers->own_ = reinterpret_cast<Head*>(region.memory.data());
  return offers;
}

bool WorkOffers::hungry() const {
  return own_ != nullptr && std::atomic_ref(own_->hungry).load(std::memory_order_relaxed) != 0;
}

bool WorkOffers::wanted() const {
  return hungry() &&
         std::any_of(own_->states.begin(), own_->states.end(), [](std::uint64_t& state) {
           return std::atomic_ref(state).load(std::memory_order_relaxed) == kFree;
         });
}

bool WorkOffers::Swap(Endpoint& endpoint, NodeId node, std::size_t slot, State from,
                      State to) const {
  std::uint64_t before = 0;
  endpoint.CompareSwap(node, region_, StateAt(slot), from, to, &before);
  return endpoint.Flush() == Outcome::kOk && before == from;
}

bool WorkOffers::Offer(Endpoint& endpoint, std::uint64_t label, Bytes part) {
  if (part.size() > part_bytes_) return false;
  std::size_t slot = 0;
  while (slot < kSlots && !Swap(endpoint, self_, slot, kFree, kFilling)) ++slot;
  if (slot == kSlots) return false;
  own_->labels[slot] = {label, part.size()};
  std::memcpy(reinterpret_cast<std::byte*>(own_) + PartAt(slot), part.data(), part.size());
  // Before anybody can be done with it.
  endpoint.FetchAdd(0, region_, offsetof(Head, done), ~std::uint64_t{0}, nullptr);
  return endpoint.Flush() == Outcome::kOk && Swap(endpoint, self_, slot, kFilling, kReady);
}

Status WorkOffers::Ask(Endpoint& endpoint) {
  static constexpr std::uint64_t kYes = 1;
  for (NodeId node = 0; node < compute_; ++node) {
    endpoint.Write(node, region_, offsetof(Head, hungry), std::as_bytes(std::span(&kYes, 1)));
  }
  return Settle(endpoint);
}

Result<std::optional<std::uint64_t>> WorkOffers::Take(Endpoint& endpoint,
                                                      std::vector<std::uint64_t>& part) {
  if (!steal_) return std::nullopt;
  auto label = Find(endpoint, part);
  if (!label) GiveUp();
  return label;
}

Result<std::optional<std::uint64_t>> WorkOffers::Find(Endpoint& endpoint,
                                                      std::vector<std::uint64_t>& part) {
  endpoint.FetchAdd(0, region_, offsetof(Head, done), 1, nullptr);
  SLIM_TRY(Settle(endpoint));
  if (!asked_.exchange(true)) SLIM_TRY(Ask(endpoint));
  std::vector<Head> heads(compute_);
  for (auto sleep = kShortSleep; !given_up_; sleep = std::min(2 * sleep, kLongSleep)) {
    for (NodeId node = 0; node < compute_; ++node) {
      endpoint.Read(node, region_, 0, BytesOf(heads[node]).first(offsetof(Head, labels)));
    }
    SLIM_TRY(Settle(endpoint));
    if (heads[0].done == engines_) break;
    for (NodeId i = 0; i < compute_; ++i) {
      const NodeId node = (self_ + i) % compute_;
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        if (heads[node].states[slot] != kReady) continue;
        Head::Label label = {};
        SLIM_ASSIGN(const bool taken, TakeFrom(endpoint, node, slot, label, part));
        if (taken) return label.label;
      }
    }
    if (!job_.whole()) return EnvironmentError("a node was lost, whose work is not done");
    endpoint.WaitUntil([] { return false; }, sleep);
  }
  return std::nullopt;
}

Result<bool> WorkOffers::TakeFrom(Endpoint& endpoint, NodeId node, std::size_t slot,
                                  Head::Label& label, std::vector<std::uint64_t>& part) {
  if (!Swap(endpoint, node, slot, kReady, kTaken)) return false;
  endpoint.Read(node, region_, LabelAt(slot), BytesOf(label));
  SLIM_TRY(Settle(endpoint));
  part.resize(label.bytes / sizeof(std::uint64_t));
  endpoint.Read(node, region_, PartAt(slot), std::as_writable_bytes(std::span(part)));
  endpoint.CompareSwap(node, region_, StateAt(slot), kTaken, kFree, nullptr);
  SLIM_TRY(Settle(endpoint));
  if (node != self_) ++stolen_;
  return true;
}

}  // namespace slimgraph
