#include "slimgraph/fabric/endpoint.h"

#include <algorithm>

#include "slimgraph/base/sync.h"
#include "slimgraph/base/waits.h"
#include "slimgraph/fabric/handlers.h"
#include "slimgraph/fabric/internal/persistent_writes.h"

namespace slimgraph {
namespace {

// A wait shorter than this ends before a sleep could.
constexpr std::uint64_t kNearNs = kMaySpin ? 20'000 : 0;
// No event wakes us when a receiver has room again, so the backlog is retried after this time.
constexpr std::uint64_t kRoomNs = 100'000;

}  // namespace

Endpoint::Endpoint(const EndpointContext& context, std::uint32_t index)
    : context_(context),
      address_{context.self, index},
      traffic_(context.nodes),
      collected_(context.nodes),
      last_due_ns_(context.nodes) {
  channel_ = context.transport.OpenChannel(index, faults_);
  if (context.host_cache != nullptr) {
    cache_.reset(new EndpointCache{.reader = {*context.host_cache, [this] { channel_->Wake(); }},
                                   .posted = {},
                                   .answers = {}});
    cache_->posted.resize(context.nodes);
  }
}

Endpoint::~Endpoint() = default;

void Endpoint::Progress() {
  channel_->Poll(ended_, [this](const Message& message) { Receive(message); });
  // After Poll(), which takes back the wake-up of the cache.
  if (cache_ && cache_->reader.has_answers()) HandleCacheAnswers();
  for (std::size_t i = 0; i < ended_.size(); ++i) {
    const auto [id, outcome, failed_index] = ended_[i];
    const std::uint64_t due_ns = parts_[id].due_ns;
    if (due_ns == 0) [[likely]] {
      End(id, outcome, failed_index);
    } else {
      delayed_parts_.Add(due_ns, EndedPart{id, outcome, failed_index});
    }
  }
  ended_.clear();
  if (!delayed_parts_.empty() || !delayed_messages_.empty()) {
    const std::uint64_t now = SharedNowNs();
    while (delayed_parts_.first_due_ns() <= now) {
      const EndedPart part = delayed_parts_.Take();
      End(part.id, part.outcome, part.failed_index);
    }
    while (delayed_messages_.first_due_ns() <= now) {
      BufferedMessage delayed = delayed_messages_.Take();
      delayed.message.body = delayed.body;
      Deliver(delayed.message);
    }
  }
  if (persistent_writes_) persistent_writes_->Continue();
  if (std::exchange(handling_, false)) context_.handlers.EndUse(address_.endpoint);
  if (!backlogged_.empty()) SendBacklog();
}

std::size_t Endpoint::Poll(std::vector<Completion>& completions) {
  Progress();
  const std::size_t news = ready_.size() + std::exchange(delivered_, 0);
  if (completions.empty()) {
    completions.swap(ready_);
  } else {
    completions.insert(completions.end(), ready_.begin(), ready_.end());
    ready_.clear();
  }
  return news;
}

bool Endpoint::Wait(std::chrono::nanoseconds limit) {
  WaitUntil([this] { return HasNews() || woken_.exchange(false); }, limit);
  return HasNews();
}

void Endpoint::Wake() {
  woken_ = true;
  channel_->Wake();
}

void Endpoint::SleepUntil(std::uint64_t deadline_ns) {
  std::uint64_t until_ns = deadline_ns;
  until_ns = std::min({until_ns, delayed_parts_.first_due_ns(), delayed_messages_.first_due_ns()});
  const std::uint64_t now = SharedNowNs();
  if (!backlogged_.empty()) until_ns = std::min(until_ns, now + kRoomNs);
  if (until_ns <= now) return;
  if (until_ns - now < kNearNs) {
    Yield();
  } else {
    const std::uint64_t early = until_ns == deadline_ns ? 0 : kNearNs / 2;
    channel_->Park(std::chrono::nanoseconds(until_ns - now - early));
  }
}

Outcome Endpoint::Flush() {
  Ring();
  Outcome first = Outcome::kOk;
  const auto look = [&] {
    for (const Completion& completion : ready_) {
      if (first == Outcome::kOk) first = completion.outcome;
    }
    ready_.clear();
    return outstanding() == 0;
  };
  WaitAndLog(
      address_.node, [&](auto limit) { return WaitUntil(look, limit); },
      [this] {
        return fmt::format("the end of {} operations on {}", outstanding(),
                           NodesInWords(AwaitedNodes()));
      });
  return first;
}

std::size_t Endpoint::outstanding() const {
  return outstanding_ + (persistent_writes_ ? persistent_writes_->continuing() : 0);
}

void Endpoint::PersistentWrite(NodeId node, RegionId region, std::uint64_t offset, Bytes from,
                               std::uint64_t tag, Batched batched) {
  persistent_writes().Write(node, region, offset, from, tag, batched);
}

PersistentWrites& Endpoint::persistent_writes() {
  if (!persistent_writes_) persistent_writes_ = std::make_unique<PersistentWrites>(*this);
  return *persistent_writes_;
}

std::vector<NodeId> Endpoint::AwaitedNodes() const {
  std::vector<NodeId> nodes;
  for (const Part& part : parts_) {
    if (!part.operations.empty()) nodes.push_back(part.node);
  }
  if (persistent_writes_) persistent_writes_->AddHomes(nodes);
  for (const std::uint32_t peer : backlogged_) {
    nodes.push_back(static_cast<NodeId>(peer / context_.endpoints));
  }
  return nodes;
}

}  // namespace slimgraph
