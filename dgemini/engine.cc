#include "dgemini/engine.h"

#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

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

Status Engine::SetActive(Frontier& frontier, VertexLists listed) {
  frontier.SetList(std::move(listed));
  return Count(frontier);
}

// Each value is counted by the node that owns the vertex of that number.
Result<std::uint64_t> Engine::CountDifferent(const VertexArray<VertexId>& values) {
  Frontier named(vertices());
  ForEach([&](VertexId v) { named.Add(values[v]); });
  exchange_.Begin([&](NodeId, Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size();) named.Add(Take<VertexId>(bytes, at));
  });
  for (std::size_t word = 0; word < named.words() && !alone(); ++word) {
    for (std::uint64_t bits = named.word(word); bits != 0; bits &= bits - 1) {
      const auto v =
          static_cast<VertexId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      const NodeId to = work_.worker(v);
      if (to == exchange_.self()) continue;
      OutBoxes::Box& box = boxes_.box(to);
      if (!box.MakeRoom(sizeof v)) SLIM_TRY(boxes_.Send(to));
      if (box.empty()) box.Open();
      box.Put(v);
    }
  }
  SLIM_TRY(boxes_.SendAllLast());
  SLIM_TRY(exchange_.End());
  SLIM_ASSIGN(const double count, Sum([&](VertexId v) { return named.Has(v) ? 1.0 : 0.0; }));
  return static_cast<std::uint64_t>(count);
}

// Lists that the edge cache would keep are read once the reductions so far have taken as many bytes
// as reading them takes. So all steps together take at most about twice the bytes of the best
// choice in hindsight, whether there are few more steps or many.
Result<bool> Engine::PicksReduction(StepBytes bytes, bool always) {
  const std::uint64_t room = work_.cache_bytes_left();
  std::array<std::uint64_t, 4> sums = {bytes.read, bytes.reduce,
                                       std::min(bytes.read_of_lists, room),
                                       reduce_->over_budget() ? 1U : 0U};
  SLIM_TRY(exchange_.Reduce(std::span(sums)));
  const auto [read, reduce, kept, over] = sums;
  if (over > 0) return false;
  const bool reduces = always || read - std::min({read, kept, reduced_bytes_}) > reduce;
  if (reduces) reduced_bytes_ += reduce;
  return reduces;
}

Result<bool> Engine::ReducesJoin() {
  if (!reduce_) return false;
  const bool always = work_.cache().side == MemorySide::kReduce;
  StepBytes bytes;
  for (const Workload::Segment& segment : work_.segments()) {
    for (VertexId v = segment.first; !segment.is_own() && v < segment.end(); ++v) {
      bytes.AddList<AnyActive>(work_, v, Direction::kOut);
    }
    if (!segment.is_own()) bytes.reduce += std::uint64_t{vertices()} * sizeof(VertexId);
  }
  return PicksReduction(bytes, always);
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
