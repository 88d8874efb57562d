#include "dkudu/internal/graph/list_fetch.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/waits.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::size_t kMaxRanges =
    (kMaxMessageBytes - sizeof(RangeRequest)) / sizeof(RangeRequest::Range);
// An answer carries at most this fraction of the mean size of a node's lists.
constexpr std::uint64_t kAnswersOfNode = 16;
constexpr std::uint64_t kLeastSlotBytes = 16 << 10;
constexpr auto kCheckInterval = std::chrono::milliseconds(100);

}  // namespace

std::uint64_t ListFetch::SlotBytes(const MiningGraph& graph) {
  std::uint64_t bytes = 0;
  for (NodeId node = 0; node < graph.nodes(); ++node) bytes += graph.index(node).coded_bytes();
  return std::clamp(bytes / graph.homes() / kAnswersOfNode, kLeastSlotBytes, kMostSlotBytes);
}

void ListFetch::Collect(NodeId home, std::uint64_t begin, MutableBytes into) {
  if (reads(home)) {
    reads_.push_back({home, {begin, into, next_}});
    return;
  }
  for (std::uint64_t at = 0; at < into.size(); at += slot_bytes_) {
    const std::uint64_t bytes = std::min(slot_bytes_, into.size() - at);
    queues_[home].push_back({begin + at, into.subspan(at, bytes), next_});
    ++pending_[next_].pieces;
  }
}

ListFetch::Ticket ListFetch::Start() {
  StartReads();
  SendRequests();
  return next_++;
}

// Only the last read from each home is signalled: its completion implies that of all earlier ones.
void ListFetch::StartReads() {
  if (reads_.empty()) return;
  std::vector<std::size_t> last(graph_.nodes());
  for (std::size_t i = 0; i < reads_.size(); ++i) last[reads_[i].first] = i;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const auto& [home, piece] = reads_[i];
    const bool tells = last[home] == i;
    if (tells) ++pending_[next_].reads;
    endpoint_.Read(home, graph_.region(), piece.begin, piece.into, next_,
                   tells ? Signal::kYes : Signal::kNo);
  }
  reads_.clear();
  endpoint_.Ring();
}

void ListFetch::SendRequests() {
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    if (!slots_[slot].pieces.empty()) continue;
    // Spread the slots over different homes, as far as requests are queued for them.
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
  std::uint64_t bytes = 0;
  while (!queue.empty() && into.pieces.size() < kMaxRanges &&
         bytes + queue.front().into.size() <= slot_bytes_) {
    bytes += queue.front().into.size();
    into.pieces.push_back(queue.front());
    queue.pop_front();
  }
  const RangeRequest request{room_.offset + slot * slot_bytes_, slot,
                             static_cast<std::uint32_t>(into.pieces.size())};
  message_.resize(sizeof request + into.pieces.size() * sizeof(RangeRequest::Range));
  std::memcpy(message_.data(), &request, sizeof request);
  std::byte* at = message_.data() + sizeof request;
  for (const Piece& piece : into.pieces) {
    const RangeRequest::Range range{piece.begin, piece.into.size()};
    std::memcpy(at, &range, sizeof range);
    at += sizeof range;
  }
  // The serving endpoint comes after those of the working threads.
  const EndpointAddress server{home, graph_.threads()};
  endpoint_.Send(server, RangeRequest::kRequestHandler, message_);
}

void ListFetch::OnAnswer(std::uint32_t index) {
  Slot& slot = slots_[index];
  const std::byte* from = room_.memory + index * slot_bytes_;
  for (const Piece& piece : slot.pieces) {
    std::memcpy(piece.into.data(), from, piece.into.size());
    from += piece.into.size();
    MarkArrived(piece.ticket, 1, 0);
  }
  slot.pieces.clear();
  SendRequests();
}

void ListFetch::MarkArrived(Ticket ticket, std::uint64_t pieces, NodeId reads) {
  const auto found = pending_.find(ticket);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  pending.pieces -= pieces;
  pending.reads -= std::min(pending.reads, reads);
  if (pending.pieces == 0 && pending.reads == 0) pending_.erase(found);
}

Status ListFetch::Finish(Ticket ticket) {
  Waiting waiting;  // active after nothing has arrived for a while
  while (pending_.contains(ticket)) {
    completions_.clear();
    const std::size_t news = endpoint_.Poll(completions_);
    for (const Completion& completion : completions_) {
      if (completion.outcome != Outcome::kOk) {
        GiveUp();
        return EnvironmentError("cannot read lists of other nodes: {}",
                                OutcomeName(completion.outcome));
      }
      MarkArrived(completion.tag, 0, 1);
    }
    if (endpoint_.outstanding() == 0) DropCompletedReads();
    if (news > 0 || !pending_.contains(ticket)) continue;
    if (endpoint_.Wait(kCheckInterval)) continue;
    SLIM_TRY(CheckAlive());
    waiting.For(graph_.self(), [this] { return DescribeAwaited(); });
  }
  return {};
}

// Describes in words what this thread waits for.
std::string ListFetch::DescribeAwaited() const {
  std::vector<NodeId> nodes = endpoint_.AwaitedNodes();
  for (const Slot& slot : slots_) {
    if (!slot.pieces.empty()) nodes.push_back(slot.home);
  }
  return "lists of " + NodesInWords(nodes);
}

// If the thread has flushed its endpoint meanwhile, the flush consumed the completions.
void ListFetch::DropCompletedReads() {
  for (auto at = pending_.begin(); at != pending_.end();) {
    at->second.reads = 0;
    at = at->second.pieces == 0 ? pending_.erase(at) : std::next(at);
  }
}

// When a node was lost, the nodes that were asked may have stopped serving.
Status ListFetch::CheckAlive() {
  if (job_.all_alive()) return {};
  GiveUp();
  return EnvironmentError("a node was lost while lists were fetched from others");
}

void ListFetch::GiveUp() {
  endpoint_.Flush();
  reads_.clear();
  for (auto& queue : queues_) queue.clear();
  for (Slot& slot : slots_) slot.pieces.clear();
  pending_.clear();
}

}  // namespace slimgraph::dkudu
