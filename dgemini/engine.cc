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
    if (mine(v) && frontier.Add(v)) frontier.list().push_back(v);
  }
  return Count(frontier);
}

void Engine::ActivateAll(Frontier& frontier) {
  frontier.Clear();
  frontier.SetListed(false);
  ForEachBlock([&](std::size_t, const Workload::Block& block) {
    for (std::uint64_t v = block.first; v < block.end;) {
      const std::uint64_t end = std::min<std::uint64_t>((v / 64 + 1) * 64, block.end);
      frontier.AddWord(v / 64, ~std::uint64_t{0} >> (64 - (end - v)) << (v % 64));
      v = end;
    }
  });
  frontier.SetActive({vertices(), work_.arcs()});
}

void Engine::TakeFound(std::vector<VertexId>& list) {
  list.swap(found_[0].vertices);
  found_[0].vertices.clear();
  for (std::size_t t = 1; t < found_.size(); ++t) {
    std::vector<VertexId>& found = found_[t].vertices;
    list.insert(list.end(), found.begin(), found.end());
    found.clear();
  }
}

void Engine::CountFound(std::uint32_t thread) {
  Found& found = found_[thread];
  found.edges = 0;
  for (const VertexId v : found.vertices) {
    if (alone() || mine(v)) found.edges += work_.Degree(v);
  }
}

void Engine::Mark(Frontier& frontier) {
  if (frontier.marked()) return;
  for (const VertexId v : frontier.list()) frontier.Add(v);
  frontier.SetMarked(true);
}

void Engine::List(Frontier& frontier) {
  if (frontier.listed()) return;
  frontier.list().clear();
  for (const Workload::Segment& segment : work_.segments()) {
    for (std::uint64_t v = segment.first; v < segment.end();) {
      const std::uint64_t next = std::min<std::uint64_t>((v / 64 + 1) * 64, segment.end());
      for (std::uint64_t bits = frontier.word(v / 64) >> (v % 64); bits != 0 && v < next; ++v) {
        if ((bits & 1) != 0) frontier.list().push_back(static_cast<VertexId>(v));
        bits >>= 1;
      }
      v = next;
    }
  }
  frontier.SetListed(true);
}

Status Engine::Count(Frontier& frontier) {
  const std::vector<VertexId>& list = frontier.list();
  std::array<std::uint64_t, 2> sums = {list.size(), 0};
  const auto edges_of = [&](std::size_t first, std::size_t end) {
    std::uint64_t edges = 0;
    for (std::size_t i = first; i < end; ++i) edges += work_.Degree(list[i]);
    return edges;
  };
  if (list.size() < ListLoop::kSerialLists) {
    sums[1] = edges_of(0, list.size());
  } else {
    std::atomic<std::uint64_t> edges{0};
    team_.Run([&](std::uint32_t t) {
      edges += edges_of(t * list.size() / threads(), (t + 1) * list.size() / threads());
    });
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
