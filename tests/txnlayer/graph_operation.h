// Random operations on a graph, executed on a transactional one and on a serial one.
#pragma once

#include <random>
#include <vector>

#include "tests/txnlayer/graph_support.h"

namespace slimgraph::test {

// Copies a result, which is valid only within the transaction. Missing properties become zeros.
void CopyList(const txn::NeighbourList& list, std::size_t bytes,
              std::vector<txn::StoredEdge>& edges, GraphOracle::Properties& properties);

// Of graphs whose vertices have 24 bytes of properties. The first has many vertices for each value,
// the second has values that are no numbers, and the third has values that share codes.
std::vector<txn::PropertyIndex> IndexesOf(const txn::GraphShape& shape);

// It must be retried if its answer is kAborted.
class Operation {
 public:
  // `scattered`: names are far apart, so new names lie between existing ones.
  Operation(std::mt19937_64& random, VertexId names, const txn::GraphShape& shape, bool scattered);

  txn::Answer Do(txn::GraphTransaction& g);
  void ExpectAsIn(GraphOracle& oracle) const;

 private:
  std::uint64_t u_ = 0;
  std::uint64_t v_ = 0;
  std::uint64_t kind_ = 0;
  std::uint64_t limit_ = 0;
  Direction direction_ = Direction::kOut;
  std::vector<txn::PropertyIndex> indexes_;
  std::size_t index_ = 0;
  txn::ValueRange range_ = {0, 0};
  std::vector<txn::VertexName> vertices_;
  GraphOracle::Properties vertex_;
  GraphOracle::Properties edge_;
  txn::Answer said_ = txn::Answer::kNo;
  GraphOracle::Properties found_;
  std::uint64_t degree_ = 0;
  txn::NeighbourList list_;
  std::vector<txn::StoredEdge> edges_;
  GraphOracle::Properties properties_;
};

}  // namespace slimgraph::test
