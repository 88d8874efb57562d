#include "dgemini/engine.h"

#include <atomic>
#include <limits>

namespace slimgraph {

Status Engine::SendBox(NodeId to) {
  const std::size_t bytes = std::exchange(filled_[to], 0);
  if (bytes <= sizeof(Exchange::Header)) return {};
  return exchange_.Send(to, std::span(boxes_[to]).first(bytes));
}

Status Engine::Activate(Frontier& frontier, std::span<const VertexId> vertices) {
  frontier.Clear();
  for (const VertexId v : vertices) {
    if (mine(v) && frontier.Add(v)) frontier.list().part(0).push_back(v);
  }
  return Count(frontier);
}

void Engine::ActivateAll(Frontier& frontier) {
  frontier.Clear();
  frontier.SetListed(false);
  ForEachBlock([&](std::uint32_t, std::size_t, const Workload::Block& block) {
    for (std::uint64_t v = block.first; v < block.end;) {
      const std::uint64_t end = std::min<std::uint64_t>((v / 64 + 1) * 64, block.end);
      frontier.AddWord(v / 64, ~std::uint64_t{0} >> (64 - (end - v)) << (v % 64));
      v = end;
    }
  });
  frontier.SetActive({vertices(), work_.arcs()});
}

void Engine::TakeFound(VertexLists& list) {
  for (std::uint32_t t = 0; t < threads(); ++t) list.part(t).swap(found_[t].vertices);
}

void Engine::CountFound(std::uint32_t thread) {
  Found& found = found_[thread];
  found.edges = EdgesOf(found.vertices);
}

// For each thread of each node may have as many, and so may what arrives there.
bool Engine::AreFew(std::size_t listed) const {
  const std::uint64_t lists = (threads() + std::uint64_t{1}) * exchange_.nodes();
  return listed * (work_.longest() + 1) * kMostPullAbove * lists <= vertices();
}

std::uint64_t Engine::EdgesOf(std::span<const VertexId> listed) const {
  if (AreFew(listed.size())) return listed.size() * work_.longest();
  std::uint64_t edges = 0;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const VertexId later = listed[std::min(i + kLookAhead, listed.size() - 1)];
    if (alone() || mine(later)) work_.AskForPlace(later, Direction::kOut);
    if (alone() || mine(listed[i])) edges += work_.Degree(listed[i]);
  }
  return edges;
}

void Engine::Mark(Frontier& frontier) {
  if (frontier.marked()) return;
  ForEachListed(frontier.list(), [&](std::span<const VertexId> some) {
    for (const VertexId v : some) frontier.Add(v);
  });
  frontier.SetMarked(true);
}

void Engine::List(Frontier& frontier) {
  if (frontier.listed()) return;
  frontier.list().clear();
  for (std::uint32_t t = 0; t < threads(); ++t) frontier.list().part(t);
  ForEachBlock([&](std::uint32_t t, std::size_t, const Workload::Block& block) {
    VertexList& list = frontier.list().part(t);
    for (std::uint64_t v = block.first; v < block.end;) {
      const std::uint64_t next = std::min<std::uint64_t>((v / 64 + 1) * 64, block.end);
      for (std::uint64_t bits = frontier.word(v / 64) >> (v % 64); bits != 0 && v < next; ++v) {
        if ((bits & 1) != 0) list.push_back(static_cast<VertexId>(v));
        bits >>= 1;
      }
      v = next;
    }
  });
  frontier.SetListed(true);
}

Status Engine::Count(Frontier& frontier) {
  const VertexLists& list = frontier.list();
  std::array<std::uint64_t, 2> sums = {list.size(), list.size() * work_.longest()};
  if (!AreFew(list.size())) {
    std::atomic<std::uint64_t> edges{0};
    ForEachListed(list, [&](std::span<const VertexId> some) { edges += EdgesOf(some); });
    sums[1] = edges;
  }
  SLIM_TRY(exchange_.Reduce(std::span(sums)));
  frontier.SetActive({sums[0], sums[1]});
  return {};
}

Result<VertexArray<std::uint32_t>> Engine::Degrees() {
  auto degrees = ShareValues<std::uint32_t>();
  const auto keep = [&](VertexId v, EdgeOffset length) {
    SLIM_CHECK(length <= std::numeric_limits<std::uint32_t>::max());
    degrees[v] = static_cast<std::uint32_t>(length);
  };
  ForEach([&](VertexId v) {
    if (work_.segment_of(v).is_own()) keep(v, work_.Degree(v));
  });
  SLIM_TRY(work_.VisitRemoteDegrees(endpoint_, keep));
  return degrees;
}

}  // namespace slimgraph
