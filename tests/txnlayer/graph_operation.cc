#include "tests/txnlayer/graph_operation.h"

#include <cmath>

namespace slimgraph::test {

using txn::Answer;
using txn::GraphTransaction;
using Properties = GraphOracle::Properties;

namespace {

constexpr std::size_t kBytesWithIndexes = 24;
constexpr std::size_t kThirdIndexAt = 16;

Properties RandomProperties(std::mt19937_64& random, std::uint32_t bytes) {
  Properties properties(bytes);
  for (std::byte& one : properties) one = static_cast<std::byte>(random());
  return properties;
}

Properties RandomVertex(std::mt19937_64& random, std::uint32_t bytes) {
  Properties properties = RandomProperties(random, bytes);
  if (bytes < kBytesWithIndexes) return properties;
  const std::uint64_t close = (std::uint64_t{1} << 40) + random() % (1 << 25);
  std::memcpy(&properties[kThirdIndexAt], &close, sizeof close);
  return properties;
}

}  // namespace

void CopyList(const txn::NeighbourList& list, std::size_t bytes,
              std::vector<txn::StoredEdge>& edges, Properties& properties) {
  edges.clear();
  properties.clear();
  std::size_t with_properties = 0;
  list.ForEach([&](const txn::StoredEdge& edge, const std::byte* own) {
    edges.push_back(edge);
    properties.resize(edges.size() * bytes);
    if (own == nullptr) return;
    ++with_properties;
    std::copy_n(own, bytes, properties.end() - static_cast<std::ptrdiff_t>(bytes));
  });
  EXPECT_EQ(edges.size(), list.size());
  if (bytes == 0) {
    EXPECT_EQ(with_properties, 0u);
  }
}

std::vector<txn::PropertyIndex> IndexesOf(const txn::GraphShape& shape) {
  if (shape.vertex_bytes < kBytesWithIndexes) return {};
  return {{"a", 5, txn::FieldType::kU8},
          {"b", 1, txn::FieldType::kF32},
          {"c", kThirdIndexAt, txn::FieldType::kI64}};
}

Operation::Operation(std::mt19937_64& random, VertexId names, const txn::GraphShape& shape,
                     bool scattered) {
  // Vertex 0 is the hub. The base never has the last names.
  u_ = random() % 3 == 0 ? 0 : random() % names;
  v_ = random() % names;
  if (scattered) {
    u_ = txn::Mix(u_) >> 32;
    v_ = txn::Mix(v_) >> 32;
  }
  indexes_ = IndexesOf(shape);
  kind_ = random() % (indexes_.empty() ? 100 : 115);
  limit_ = random() % 4 == 0 ? ~std::uint64_t{0} : random() % 12;
  direction_ = random() % 2 == 0 ? Direction::kOut : Direction::kIn;
  vertex_ = RandomVertex(random, shape.vertex_bytes);
  edge_ = RandomProperties(random, shape.edge_bytes);
  if (kind_ < 100) return;
  index_ = random() % indexes_.size();
  const auto value = [&] {
    return txn::ValueOf(indexes_[index_], RandomVertex(random, shape.vertex_bytes));
  };
  range_ = {value(), value()};
  if (random() % 2 == 0) range_.last = range_.first + std::abs(range_.first) / 64;
}

Answer Operation::Do(GraphTransaction& g) {
  const auto& u = u_;
  if (kind_ >= 100) return said_ = g.FindVertices(g.indexes().all()[index_], range_, vertices_);
  if (kind_ < 30) return said_ = g.AddEdge(u, v_, edge_);
  if (kind_ < 40) return said_ = g.SetEdge(u, v_, edge_);
  if (kind_ < 60) return said_ = g.DeleteEdge(u, v_);
  if (kind_ < 66) return said_ = g.AddVertex(v_, vertex_);
  if (kind_ < 69) return said_ = g.DeleteVertex(v_);
  if (kind_ < 72) return said_ = g.SetVertex(v_, vertex_);
  found_.assign(kind_ < 76 ? vertex_.size() : edge_.size(), std::byte{});
  if (kind_ < 76) return said_ = g.GetVertex(v_, found_);
  txn::StoredEdge edge;
  if (kind_ < 80) return said_ = g.GetEdge(u, v_, edge, found_);
  if (kind_ < 86) return said_ = g.Degree(u, degree_, direction_);
  const txn::NeighbourQuery query{
      .newest_first = kind_ >= 93, .limit = limit_, .properties = true, .direction = direction_};
  said_ = g.Neighbours(u, query, list_);
  CopyList(list_, edge_.size(), edges_, properties_);
  return said_;
}

void Operation::ExpectAsIn(GraphOracle& oracle) const {
  const auto expect = [&](bool well) {
    EXPECT_EQ(said_ == Answer::kYes, well) << "kind " << kind_ << " of " << u_ << " " << v_;
    return well && said_ == Answer::kYes;
  };
  if (kind_ >= 100) {
    std::vector<txn::VertexName> vertices;
    for (const auto& [name, properties] : oracle.vertices()) {
      if (range_.Contains(txn::ValueOf(indexes_[index_], properties))) vertices.push_back(name);
    }
    expect(true);
    EXPECT_EQ(vertices_, vertices) << indexes_[index_].ToText();
    return;
  }
  if (kind_ < 30) return (void)expect(oracle.AddEdge(u_, v_, edge_));
  if (kind_ < 40) return (void)expect(oracle.SetEdge(u_, v_, edge_));
  if (kind_ < 60) return (void)expect(oracle.DeleteEdge(u_, v_));
  if (kind_ < 66) return (void)expect(oracle.AddVertex(v_, vertex_));
  if (kind_ < 69) return (void)expect(oracle.DeleteVertex(v_));
  if (kind_ < 72) return (void)expect(oracle.SetVertex(v_, vertex_));
  if (kind_ < 76) {
    if (expect(oracle.has(v_))) {
      EXPECT_EQ(found_, oracle.vertex(v_));
    }
    return;
  }
  if (kind_ < 80) {
    const bool there = oracle.has(u_) && oracle.edges(u_).contains(v_);
    if (expect(there)) {
      EXPECT_EQ(found_, oracle.edges(u_).at(v_));
    }
    return;
  }
  if (!expect(oracle.has(u_))) return;
  const auto edges = direction_ == Direction::kOut ? oracle.edges(u_) : oracle.edges_into(u_);
  if (kind_ < 86) {
    EXPECT_EQ(degree_, edges.size());
    return;
  }
  EXPECT_EQ(edges_.size(), std::min<std::uint64_t>(limit_, edges.size()));
  auto next = edges.begin();
  for (std::size_t i = 0; i < edges_.size(); ++i, ++next) {
    const txn::StoredEdge& edge = edges_[i];
    if (kind_ < 93) {
      EXPECT_EQ(edge.neighbour, next->first);
    } else if (i > 0) {
      EXPECT_GE(edges_[i - 1].time, edge.time);
    }
    ASSERT_TRUE(edges.contains(edge.neighbour)) << u_ << " " << edge.neighbour;
    const auto from = properties_.begin() + static_cast<std::ptrdiff_t>(i * edge_.size());
    EXPECT_TRUE(std::equal(from, from + static_cast<std::ptrdiff_t>(edge_.size()),
                           edges.at(edge.neighbour).begin()));
  }
}

}  // namespace slimgraph::test
