// Marks and records of edges, compared with a plain array of times and properties.
#include "txnlayer/graph/internal/edge_marks.h"

#include <gtest/gtest.h>

#include "txnlayer/workload/internal/random.h"

namespace slimgraph::test {
namespace {

using txn::EdgeMarks;
using txn::GraphShape;
using txn::GraphTime;
using txn::MarkRange;
using txn::MarkWriter;

struct Edge {
  GraphTime time = 0;
  std::vector<std::byte> properties;
  bool operator==(const Edge&) const = default;
};

// `count` edges. One in `one_in` has a time, or properties, or both.
std::vector<Edge> RandomEdges(txn::Random& random, const GraphShape& shape, std::size_t count,
                              std::uint64_t one_in) {
  std::vector<Edge> edges(count, Edge{0, std::vector<std::byte>(shape.edge_bytes)});
  for (Edge& edge : edges) {
    if (random() % one_in != 0) continue;
    const std::uint64_t which = random() % 3;
    if (which != 0) edge.time = 1 + random() % 1000;
    if (which == 1) continue;
    for (std::byte& byte : edge.properties) byte = static_cast<std::byte>(random());
  }
  return edges;
}

// After copying at least kLongCopy edges, up to kMostSkipped edges without marks may follow: more
// than a block.
constexpr std::size_t kLongCopy = 100;
constexpr std::size_t kMostSkipped = 600;

// Zeroed memory, as a fold has it.
struct Memory {
  Memory(const GraphShape& shape, std::size_t edges)
      : marks(MarkWriter::MarkBytes(edges)), records(edges * EdgeRecordBytes(shape)) {}
  const EdgeMarks* blocks() const { return reinterpret_cast<const EdgeMarks*>(marks.data()); }
  std::vector<std::byte> marks;
  std::vector<std::byte> records;
};

std::vector<Edge> ReadBack(const GraphShape& shape, const Memory& memory, const MarkRange& range) {
  std::vector<Edge> edges(range.count, Edge{0, std::vector<std::byte>(shape.edge_bytes)});
  const EdgeMarks* const marks = memory.blocks() + range.first_block;
  const std::uint64_t each = EdgeRecordBytes(shape);
  const std::byte* record = memory.records.data() + range.FirstRecord(marks) * each;
  std::uint64_t records = 0;
  range.ForEach(marks, [&](EdgeOffset position) {
    const txn::MarkedEdge marked{position, record};
    edges[position].time = marked.time();
    std::copy_n(marked.properties(), shape.edge_bytes, edges[position].properties.data());
    record += each;
    ++records;
  });
  EXPECT_EQ(range.Records(marks), records);
  return edges;
}

class EdgeMarksOf : public testing::TestWithParam<std::uint32_t> {
 protected:
  const GraphShape shape_{.vertex_bytes = 0, .edge_bytes = GetParam()};
  txn::Random random_{17};

  Memory Written(const std::vector<Edge>& edges) {
    Memory memory(shape_, edges.size());
    MarkWriter writer(shape_, memory.marks, memory.records);
    for (const Edge& edge : edges) writer.Append(edge.time, edge.properties.data());
    return memory;
  }
};

TEST_P(EdgeMarksOf, AnyRangeReadsBackWhatWasWritten) {
  for (const std::uint64_t one_in : {1, 3, 200}) {
    const std::vector<Edge> edges = RandomEdges(random_, shape_, 2000, one_in);
    const Memory memory = Written(edges);
    for (int i = 0; i < 300; ++i) {
      const std::size_t first = random_() % edges.size();
      const std::size_t count = 1 + random_() % (edges.size() - first);
      const auto from = edges.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector<Edge> wanted(from, from + static_cast<std::ptrdiff_t>(count));
      ASSERT_EQ(ReadBack(shape_, memory, MarkRange(first, count)), wanted)
          << first << " + " << count;
    }
  }
}

TEST_P(EdgeMarksOf, CopiedRangesAndNewEdgesKeepTheirOrder) {
  for (int round = 0; round < 50; ++round) {
    const std::vector<Edge> edges = RandomEdges(random_, shape_, 1500, 1 + random_() % 20);
    const Memory memory = Written(edges);
    std::vector<Edge> wanted;
    Memory next(shape_, edges.size() + edges.size() / kLongCopy * (kMostSkipped + 1));
    MarkWriter writer(shape_, next.marks, next.records);
    for (std::size_t at = 0; at < edges.size();) {
      const std::size_t count = 1 + random_() % std::min<std::size_t>(700, edges.size() - at);
      const MarkRange range(at, count);
      const EdgeMarks* const marks = memory.blocks() + range.first_block;
      const std::uint64_t first_record = range.FirstRecord(marks);
      writer.Copy(range, marks, memory.records.data() + first_record * EdgeRecordBytes(shape_));
      const auto from = edges.begin() + static_cast<std::ptrdiff_t>(at);
      wanted.insert(wanted.end(), from, from + static_cast<std::ptrdiff_t>(count));
      at += count + random_() % 3;  // leaves some edges out
      if (count < kLongCopy) continue;
      const std::size_t skipped = random_() % kMostSkipped;
      writer.Skip(skipped);
      wanted.insert(wanted.end(), skipped, Edge{0, std::vector<std::byte>(shape_.edge_bytes)});
      wanted.push_back(RandomEdges(random_, shape_, 1, 1)[0]);
      writer.Append(wanted.back().time, wanted.back().properties.data());
    }
    ASSERT_EQ(ReadBack(shape_, next, MarkRange(0, wanted.size())), wanted) << "round " << round;
  }
}

TEST_P(EdgeMarksOf, UnwrittenEdgesTakeNoRecord) {
  const std::vector<Edge> edges(1000, Edge{0, std::vector<std::byte>(shape_.edge_bytes)});
  Memory memory(shape_, edges.size());
  MarkWriter writer(shape_, memory.marks, memory.records);
  for (const Edge& edge : edges) writer.Append(edge.time, edge.properties.data());
  EXPECT_EQ(writer.marked(), 0U);
  EXPECT_EQ(writer.bytes(), MarkWriter::MarkBytes(1000));
}

INSTANTIATE_TEST_SUITE_P(Bytes, EdgeMarksOf, testing::Values(0, 8, 13, 256));

}  // namespace
}  // namespace slimgraph::test
