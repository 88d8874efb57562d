#include "dgemini/engine.h"

#include <array>
#include <atomic>
#include <limits>

namespace slimgraph::dgemini {

Status Engine::Activate(Frontier& frontier, std::span<const VertexId> vertices) {
  frontier.Clear();
  for (const VertexId v : vertices) {
    if (mine(v) && frontier.Add(v)) frontier.list().part(0).push_back(v);
  }
  return Count(frontier);
}

void Engine::ActivateAll(Frontier& frontier) {
  frontier.Clear();
  frontier.SetHasList(false);
  loops_.ForEachBlock([&](std::uint32_t, std::size_t, const Workload::Block& block) {
    for (std::uint64_t v = block.first; v < block.end;) {
      const std::uint64_t end = std::min<std::uint64_t>((v / 64 + 1) * 64, block.end);
      frontier.AddWord(v / 64, ~std::uint64_t{0} >> (64 - (end - v)) << (v % 64));
      v = end;
    }
  });
  frontier.SetActive({vertices(), work_.arcs()});
}

void Engine::Mark(Frontier& frontier) {
  if (frontier.has_bitmap()) return;
  loops_.ForEachListed(frontier.list(), [&](std::span<const VertexId> some) {
    for (const VertexId v : some) frontier.Add(v);
  });
  frontier.SetHasBitmap(true);
}

void Engine::List(Frontier& frontier) {
  if (frontier.has_list()) return;
  frontier.list().clear();
  for (std::uint32_t t = 0; t < threads(); ++t) frontier.list().part(t);
  loops_.ForEachBlock([&](std::uint32_t t, std::size_t, const Workload::Block& block) {
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
  frontier.SetHasList(true);
}

Status Engine::Count(Frontier& frontier) {
  const VertexLists& list = frontier.list();
  std::array<std::uint64_t, 2> sums = {list.size(), list.size() * work_.longest()};
  if (!push_.found().AreFew(list.size())) {
    std::atomic<std::uint64_t> edges{0};
    loops_.ForEachListed(
        list, [&](std::span<const VertexId> some) { edges += push_.found().EdgesOf(some); });
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

}  // namespace slimgraph::dgemini
