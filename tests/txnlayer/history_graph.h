// The graph that a history of updates produces, for comparison with snapshots.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/files/csr.h"
#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::test {

class HistoryGraph {
 public:
  // `words`: the updates that all nodes have noted (txn::Workload::updates()). Updates apply to the
  // graph of a file.
  HistoryGraph(const std::string& base_file, const txn::GraphShape& shape,
               std::vector<std::uint64_t> words);

  struct Numbered {
    std::vector<txn::VertexName> names;  // by vertex
    Csr lists;
  };
  // The graph after all commits up to `time`. Times must not fall from one call to the next.
  Numbered At(txn::GraphTime time);

  std::size_t commits() const { return history_.size(); }
  std::size_t applied() const { return applied_; }

 private:
  void Apply(const txn::Update& update);

  const txn::GraphShape shape_;
  const std::vector<std::uint64_t> words_;
  std::multimap<txn::GraphTime, std::span<const std::uint64_t>> history_;
  decltype(history_)::iterator next_;
  std::size_t applied_ = 0;
  // With the weights of edges, or zeros.
  std::map<txn::VertexName, std::map<txn::VertexName, double>> graph_;
};

}  // namespace slimgraph::test
