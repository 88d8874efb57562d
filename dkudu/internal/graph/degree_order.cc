#include "dkudu/internal/graph/degree_order.h"

#include <algorithm>
#include <cstdint>

namespace slimgraph::dkudu {
namespace {

Status AddLengths(const GraphSource& file, Direction direction,
                  std::vector<std::uint32_t>& degrees) {
  std::vector<EdgeOffset> piece;
  for (std::size_t first = 0; first < file.vertices(); first += kPieceVertices) {
    piece.resize(std::min<std::size_t>(kPieceVertices, file.vertices() - first) + 1);
    SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(piece), 1));
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      if (piece[i + 1] < piece[i] || piece[i + 1] > file.arcs()) {
        return InputError("{}: the offsets of its lists fall at vertex {}", file.path(), first + i);
      }
      degrees[first + i] += static_cast<std::uint32_t>(piece[i + 1] - piece[i]);
    }
  }
  return {};
}

}  // namespace

Result<DegreeOrder> DegreeOrder::Of(const GraphSource& file) {
  std::vector<std::uint32_t> degrees(file.vertices());
  SLIM_TRY(AddLengths(file, Direction::kOut, degrees));
  if (file.directed()) SLIM_TRY(AddLengths(file, Direction::kIn, degrees));
  const std::uint32_t most = *std::max_element(degrees.begin(), degrees.end());
  std::vector<VertexId> next(std::size_t{most} + 2);  // by degree: the next free rank
  for (const std::uint32_t degree : degrees) ++next[std::size_t{degree} + 1];
  for (std::size_t d = 1; d < next.size(); ++d) next[d] += next[d - 1];
  DegreeOrder order;
  // Huge pages, because ranks are read in random order.
  SLIM_ASSIGN(order.ranks,
              PageBuffer::Allocate(degrees.size() * sizeof(VertexId), PageBuffer::Pages::kHuge));
  const std::span<VertexId> rank_of = order.ranks.as<VertexId>();
  order.dense_of.resize(degrees.size());
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    const VertexId rank = next[degrees[v]]++;
    rank_of[v] = rank;
    order.dense_of[rank] = static_cast<VertexId>(v);
  }
  return order;
}

}  // namespace slimgraph::dkudu
