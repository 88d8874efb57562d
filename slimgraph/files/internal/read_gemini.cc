#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "slimgraph/files/internal/binary_reader.h"
#include "slimgraph/files/internal/readers.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph::internal {
namespace {

constexpr std::size_t kPairBytes = 8;
constexpr std::size_t kWeightedBytes = 12;
constexpr std::size_t kRecordsPerBlock = 1 << 17;

}  // namespace

Result<RawGraph> ReadGemini(ByteSource& source, const ReadOptions& options) {
  BinaryReader reader(source, options.progress);
  const bool has_weights = options.weighted || options.drop_weights;
  const std::size_t record_bytes = has_weights ? kWeightedBytes : kPairBytes;
  const std::uint64_t limit = options.vertex_count.value_or(std::uint64_t{1} << 32);
  RawGraph graph;
  graph.weighted = options.weighted;
  graph.declared_count = options.vertex_count;
  if (graph.declared_count > kMaxVertices) {
    return UsageError("{}: {} vertices are too many: at most {} are supported", reader.name(),
                      *graph.declared_count, kMaxVertices);
  }
  const std::uint64_t records_left = source.left() / record_bytes + 1;
  std::vector<std::byte> records(std::min<std::uint64_t>(kRecordsPerBlock, records_left) *
                                 record_bytes);
  while (true) {
    const std::uint64_t first_byte = reader.offset();
    SLIM_ASSIGN(const std::size_t got, reader.ReadSome(records));
    if (got == 0) return graph;
    if (got % record_bytes != 0) {
      return InputError(
          "{}: truncated, or not {} pairs: expected records of {} bytes, found {} bytes",
          reader.name(), has_weights ? "weighted" : "unweighted", record_bytes, reader.offset());
    }
    const std::size_t count = got / record_bytes;
    SLIM_ASSIGN(EdgeBlock block, EdgeBlock::Allocate(count, false, graph.weighted));
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* record = records.data() + i * record_bytes;
      NarrowEdge edge;
      std::memcpy(&edge, record, sizeof edge);
      if (edge.src >= limit || edge.dst >= limit) {
        return InputError("{}: byte {}: expected ids below {}, found {} {}", reader.name(),
                          first_byte + i * record_bytes, limit, edge.src, edge.dst);
      }
      block.narrow_data()[i] = edge;
      if (!has_weights) continue;
      float weight = 0;
      std::memcpy(&weight, record + sizeof edge, sizeof weight);
      if (!std::isfinite(weight)) {
        return InputError("{}: byte {}: expected a finite weight, found {}", reader.name(),
                          first_byte + i * record_bytes + sizeof edge, weight);
      }
      if (graph.weighted) {
        block.weight_data()[i] = std::bit_cast<WeightBits>(static_cast<double>(weight));
      }
    }
    block.Finish(count, true);
    graph.blocks.push_back(std::move(block));
  }
}

}  // namespace slimgraph::internal
