#include "dkudu/internal/sharing/work_offers.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "slimgraph/base/waits.h"

namespace slimgraph::dkudu {
namespace {

// The sleep of an engine that finds no part: the first one, and the longest.
constexpr std::chrono::microseconds kShortSleep(20);
constexpr std::chrono::microseconds kLongSleep(4000);

Status FlushAll(Endpoint& endpoint) {
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot take work of other nodes: {}", OutcomeName(outcome));
}

template <typename T>
MutableBytes BytesOf(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

WorkOffers::WorkOffers(Cluster& cluster, bool steal, std::uint64_t part_bytes)
    : job_(cluster.job()),
      self_(cluster.self()),
      compute_(cluster.topology().compute()),
      engines_(std::uint64_t{compute_} * cluster.threads()),
      steal_(steal && engines_ > 1),
      part_bytes_(part_bytes) {}

Result<std::unique_ptr<WorkOffers>> WorkOffers::Make(Cluster& cluster, JobRegions& regions,
                                                     bool steal, std::uint64_t part_bytes) {
  std::unique_ptr<WorkOffers> offers(new WorkOffers(cluster, steal, part_bytes));
  if (!offers->steal_) return offers;
  SLIM_ASSIGN(offers->region_, regions.Take(cluster, offers->PartAt(kSlots)));
  if (cluster.computes()) {
    offers->own_ = reinterpret_cast<Head*>(offers->region_.memory().data());
  }
  return offers;
}

bool WorkOffers::has_idle_engine() const {
  return own_ != nullptr && std::atomic_ref(own_->idle).load(std::memory_order_relaxed) != 0;
}

bool WorkOffers::wants_offers() const {
  return has_idle_engine() &&
         std::any_of(own_->states.begin(), own_->states.end(), [](std::uint64_t& state) {
           return std::atomic_ref(state).load(std::memory_order_relaxed) == kFree;
         });
}

bool WorkOffers::SwapState(Endpoint& endpoint, NodeId node, std::size_t slot, State from,
                           State to) const {
  std::uint64_t before = 0;
  endpoint.CompareSwap(node, region_.id(), StateAt(slot), from, to, &before);
  return endpoint.Flush() == Outcome::kOk && before == from;
}

bool WorkOffers::Offer(Endpoint& endpoint, std::uint64_t label, Bytes part) {
  if (part.size() > part_bytes_) return false;
  std::size_t slot = 0;
  while (slot < kSlots && !SwapState(endpoint, self_, slot, kFree, kFilling)) ++slot;
  if (slot == kSlots) return false;
  own_->labels[slot] = {label, part.size()};
  std::memcpy(reinterpret_cast<std::byte*>(own_) + PartAt(slot), part.data(), part.size());
  // Count the offer before any engine can finish the part.
  endpoint.FetchAdd(0, region_.id(), offsetof(Head, done), ~std::uint64_t{0}, nullptr);
  return endpoint.Flush() == Outcome::kOk && SwapState(endpoint, self_, slot, kFilling, kReady);
}

Status WorkOffers::AddIdle(Endpoint& endpoint, std::uint64_t more) {
  for (NodeId node = 0; node < compute_; ++node) {
    endpoint.FetchAdd(node, region_.id(), offsetof(Head, idle), more, nullptr);
  }
  return FlushAll(endpoint);
}

Result<std::optional<std::uint64_t>> WorkOffers::Take(Endpoint& endpoint,
                                                      std::vector<std::uint64_t>& part) {
  if (!steal_) return std::nullopt;
  auto label = WaitForPart(endpoint, part);
  if (!label) GiveUp();
  return label;
}

Result<std::optional<std::uint64_t>> WorkOffers::WaitForPart(Endpoint& endpoint,
                                                             std::vector<std::uint64_t>& part) {
  endpoint.FetchAdd(0, region_.id(), offsetof(Head, done), 1, nullptr);
  SLIM_TRY(FlushAll(endpoint));
  std::vector<Head> heads(compute_);
  bool waits = false;
  Waiting waiting;
  for (auto sleep = kShortSleep; !given_up_; sleep = std::min(2 * sleep, kLongSleep)) {
    for (NodeId node = 0; node < compute_; ++node) {
      endpoint.Read(node, region_.id(), 0, BytesOf(heads[node]).first(offsetof(Head, labels)));
    }
    SLIM_TRY(FlushAll(endpoint));
    if (heads[0].done == engines_) break;
    SLIM_ASSIGN(const auto label, TakeReady(endpoint, heads, part));
    if (label) {
      if (waits) SLIM_TRY(AddIdle(endpoint, ~std::uint64_t{0}));
      return label;
    }
    if (cancelled()) return tl::unexpected<Error>(Job::CancelledStatus().error());
    if (!job_.all_alive()) return EnvironmentError("a node was lost before its work was done");
    if (!waits) SLIM_TRY(AddIdle(endpoint, 1));
    waits = true;
    waiting.For(self_, [&] {
      return fmt::format("work of other nodes: {} of {} engines have none left", heads[0].done,
                         engines_);
    });
    endpoint.WaitUntil([] { return false; }, sleep);
  }
  return std::nullopt;
}

Result<std::optional<std::uint64_t>> WorkOffers::TakeReady(Endpoint& endpoint,
                                                           const std::vector<Head>& heads,
                                                           std::vector<std::uint64_t>& part) {
  for (NodeId i = 0; i < compute_; ++i) {
    const NodeId node = (self_ + i) % compute_;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      if (heads[node].states[slot] != kReady) continue;
      Head::Label label = {};
      SLIM_ASSIGN(const bool taken, TakeFrom(endpoint, node, slot, label, part));
      if (taken) return label.label;
    }
  }
  return std::nullopt;
}

Result<bool> WorkOffers::TakeFrom(Endpoint& endpoint, NodeId node, std::size_t slot,
                                  Head::Label& label, std::vector<std::uint64_t>& part) {
  if (!SwapState(endpoint, node, slot, kReady, kTaken)) return false;
  endpoint.Read(node, region_.id(), LabelAt(slot), BytesOf(label));
  SLIM_TRY(FlushAll(endpoint));
  part.resize(label.bytes / sizeof(std::uint64_t));
  endpoint.Read(node, region_.id(), PartAt(slot), std::as_writable_bytes(std::span(part)));
  endpoint.CompareSwap(node, region_.id(), StateAt(slot), kTaken, kFree, nullptr);
  SLIM_TRY(FlushAll(endpoint));
  if (node != self_) ++stolen_;
  return true;
}

}  // namespace slimgraph::dkudu
