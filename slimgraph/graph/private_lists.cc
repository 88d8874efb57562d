#include "slimgraph/graph/private_lists.h"

#include "slimgraph/graph/numa.h"

namespace slimgraph {
namespace {

template <typename T>
std::span<T> As(MutableBytes bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

Result<MutableBytes> PrivateLists::Take(std::uint64_t bytes, std::uint32_t socket) {
  SLIM_ASSIGN(auto memory, PageBuffer::Allocate(bytes, PageBuffer::Pages::kHuge));
  const auto taken = memory.as<std::byte>();
  SLIM_TRY(BindMemory(taken, socket));
  memory_.push_back(std::move(memory));
  return taken;
}

Result<PrivateLists> PrivateLists::Load(const GraphSource& file, const VertexPart& part,
                                        EdgeOffset arcs, Direction direction, bool weights,
                                        std::uint32_t socket, std::size_t threads,
                                        const ListObserver& watch) {
  PrivateLists lists;
  SLIM_ASSIGN(const auto offsets,
              lists.Take((std::uint64_t{part.count} + 1) * sizeof(EdgeOffset), socket));
  SLIM_ASSIGN(const auto neighbours, lists.Take(arcs * sizeof(VertexId), socket));
  ListSpans& spans = lists.spans_;
  spans.offsets = As<EdgeOffset>(offsets);
  spans.neighbours = As<VertexId>(neighbours);
  if (weights) {
    SLIM_ASSIGN(spans.weights, lists.Take(arcs * WeightBytes(file.weight_type()), socket));
  }
  SLIM_TRY(LoadLists(file, part, direction, spans, threads, watch));
  return lists;
}

}  // namespace slimgraph
