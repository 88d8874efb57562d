#include "dkudu/graph/list_fetch.h"

#include <algorithm>
#include <cstring>

namespace slimgraph {
namespace {

constexpr std::size_t kMaxRanges =
    (kMaxMessageBytes - sizeof(RangeRequest)) / sizeof(RangeRequest::Range);
constexpr std::uint64_t kSlotEntries = ListFetch::kSlotBytes / sizeof(VertexId);
constexpr auto kLookInterval = std::chrono::milliseconds(100);

}  // namespace

void ListFetch::Ask(NodeId home, std::uint64_t begin, std::span<VertexId> into) {
  if (reads(home)) {
    reads_.push_back({home, {begin, into, next_}});
    return;
  }
  for (std::uint64_t at = 0; at < into.size(); at += kSlotEntries) {
    const std::uint64_t entries = std::min(kSlotEntries, into.size() - at);
    queues_[home].push_back({begin + at, into.subspan(at, entries), next_});
    ++pending_[next_].pieces;
  }
}

ListFetch::Ticket ListFetch::Start() {
  StartReads();
  SendRequests();
  return next_++;
}

// Of each home the last read tells of all before it.
void ListFetch::StartReads() {
  if (reads_.empty()) return;
  std::vector<std::size_t> last(graph_.nodes());
  for (std::size_t i = 0; i < reads_.size(); ++i) last[reads_[i].first] = i;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const auto& [home, piece] = reads_[i];
    const bool tells = last[home] == i;
    if (tells) ++pending_[next_].reads;
    endpoint_.Read(home, graph_.region(), piece.begin * sizeof(VertexId),
                   std::as_writable_bytes(piece.into), next_, tells ? Signal::kYes : Signal::kNo);
  }
  reads_.clear();
  endpoint_.Ring();
}

void ListFetch::SendRequests() {
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    if (!slots_[slot].pieces.empty()) continue;
    // The slots go to different homes, as far as there is something to ask of them.
    const auto queued = [&](std::size_t home) { return !queues_[home].empty(); };
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const std::size_t home = (slot + i) % queues_.size();
      if (!queued(home)) continue;
      SendRequest(static_cast<NodeId>(home), slot);
      break;
    }
  }
}

void ListFetch::SendRequest(NodeId home, std::uint32_t slot) {
  std::deque<Piece>& queue = queues_[home];
  Slot& into = slots_[slot];
  into.home = home;
  std::uint64_t entries = 0;
  while (!queue.empty() && into.pieces.size() < kMaxRanges &&
         entries + queue.front().into.size() <= kSlotEntries) {
    entries += queue.front().into.size();
    into.pieces.push_back(queue.front());
    queue.pop_front();
  }
  const RangeRequest request{room_.offset + slot * kSlotBytes, slot,
                             static_cast<std::uint32_t>(into.pieces.size())};
  message_.resize(sizeof request + into.pieces.size() * sizeof(RangeRequest::Range));
  std::memcpy(message_.data(), &request, sizeof request);
  std::byte* at = message_.data() + sizeof request;
  for (const Piece& piece : into.pieces) {
    const RangeRequest::Range range{piece.begin, piece.into.size()};
    std::memcpy(at, &range, sizeof range);
    at += sizeof range;
  }
  // Threads that serve come after those that work.
  const EndpointAddress server{home, graph_.threads()};
  endpoint_.Send(server, RangeRequest::kRequestHandler, message_);
}

void ListFetch::Answered(std::uint32_t index) {
  Slot& slot = slots_[index];
  const std::byte* from = room_.memory + index * kSlotBytes;
  for (const Piece& piece : slot.pieces) {
    std::memcpy(piece.into.data(), from, piece.into.size_bytes());
    from += piece.into.size_bytes();
    Arrived(piece.ticket, 1, 0);
  }
  slot.pieces.clear();
  SendRequests();
}

void ListFetch::Arrived(Ticket ticket, std::uint64_t pieces, NodeId reads) {
  const auto found = pending_.find(ticket);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  pending.pieces -= pieces;
  pending.reads -= std::min(pending.reads, reads);
  if (pending.pieces == 0 && pending.reads == 0) pending_.erase(found);
}

Status ListFetch::Finish(Ticket ticket) {
  while (pending_.contains(ticket)) {
    completions_.clear();
    const std::size_t news = endpoint_.Poll(completions_);
    for (const Completion& completion : completions_) {
      if (completion.outcome != Outcome::kOk) {
        GiveUp();
        return EnvironmentError("cannot read lists of other nodes: {}",
                                OutcomeName(completion.outcome));
      }
      Arrived(completion.tag, 0, 1);
    }
    if (endpoint_.outstanding() == 0) ForgetReads();
    if (news > 0 || !pending_.contains(ticket)) continue;
    if (!endpoint_.Wait(kLookInterval)) SLIM_TRY(CheckAlive());
  }
  return {};
}

// The thread may have flushed its endpoint meanwhile, which keeps completions to itself.
void ListFetch::ForgetReads() {
  for (auto at = pending_.begin(); at != pending_.end();) {
    at->second.reads = 0;
    at = at->second.pieces == 0 ? pending_.erase(at) : std::next(at);
  }
}

// Those that are asked may have given up, where another node was lost.
Status ListFetch::CheckAlive() {
  if (job_.whole()) return {};
  GiveUp();
  return EnvironmentError("a node was lost while others were asked for lists");
}

void ListFetch::GiveUp() {
  endpoint_.Flush();
  reads_.clear();
  for (auto& queue : queues_) queue.clear();
  for (Slot& slot : slots_) slot.pieces.clear();
  pending_.clear();
}

}  // namespace slimgraph
