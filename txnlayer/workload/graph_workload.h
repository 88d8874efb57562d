// What the workloads on a store share: the graph of it in memory, whom they choose, and what must
// hold when all is over: every edge is on both sides or on none, and there are as many vertices and
// edges as the commits have made.
#pragma once

#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

// An operation by name, and how many percent of all it is.
struct MixEntry {
  const char* name;
  double percent;
};

// Whom a client chooses, after the degrees of the base.
class Chooser {
 public:
  Chooser(TransactionalGraph& graph, Transaction& transaction, std::uint64_t seed,
          std::uint64_t processes);

  Random& random() { return random_; }
  // A vertex of the base, by its degree, or each alike.
  VertexName ByDegree();
  VertexName Uniform();
  // The vertex of the base of that number, modulo how many there are.
  VertexName Of(std::uint64_t number) const;
  // An edge of the base.
  std::pair<VertexName, VertexName> Edge();
  // A name that no vertex has had.
  VertexName Fresh();
  std::vector<std::byte> Properties(std::uint32_t bytes);
  // Of an edge: where it has a weight, this is a whole number from 1 to 255.
  std::vector<std::byte> EdgeProperties();
  // Where in the mix, whose percents need not be 100 together.
  std::size_t Pick(std::span<const MixEntry> mix);

 private:
  TransactionalGraph& graph_;
  BaseReader base_;
  Random random_;
  VertexName next_fresh_;
  std::uint64_t processes_;
};

class GraphClient : public Client {
 public:
  GraphClient(TransactionalGraph& graph, Transaction& transaction, std::span<const MixEntry> mix,
              std::uint64_t seed, std::uint64_t processes);

  void Choose() final;
  Attempt Try(Transaction& transaction) final;

  std::int64_t vertex_change() const { return vertex_change_; }
  std::int64_t edge_change() const { return edge_change_; }
  const std::vector<std::uint64_t>& journal() const { return work_.journal(); }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 protected:
  // What the next transaction of that kind is about.
  virtual void Prepare(std::size_t kind, Chooser& chooser) = 0;
  // kNo: what was looked for is not there, which is an answer like any other.
  virtual Answer Do(std::size_t kind, GraphTransaction& graph) = 0;
  const GraphShape& shape() const { return graph_.shape(); }

 private:
  TransactionalGraph& graph_;
  GraphTransaction work_;
  Chooser chooser_;
  std::span<const MixEntry> mix_;
  std::size_t kind_ = 0;
  bool again_ = false;
  std::int64_t vertex_change_ = 0;
  std::int64_t edge_change_ = 0;
  std::vector<std::uint64_t> counts_;  // of those that have committed, by kind
};

class GraphWorkload : public Workload {
 public:
  GraphWorkload(const WorkloadOptions& options, std::span<const MixEntry> mix)
      : options_(options), mix_(mix), counts_(mix.size()) {}

  void Configure(const WorkloadOptions&) override {}
  Status Load(Engine& engine) override;
  std::uint64_t Source() const override { return source_; }
  Status Resume(Engine& engine, std::uint64_t run) override;
  void Collect(Client& client) override;
  Status Verify(Engine& engine) override;
  std::vector<std::pair<std::string, std::uint64_t>> Counts() const override;
  TransactionalGraph* graph() override { return graph_.get(); }
  std::span<const std::uint64_t> updates() const override { return updates_; }
  std::vector<std::pair<std::string, std::uint64_t>> Memory() const override { return memory_; }

 protected:
  template <typename Made>
  std::unique_ptr<Client> Make(Transaction& transaction) {
    return std::make_unique<Made>(*graph_, transaction, mix_,
                                  options_.seed * 1'000'003 + transaction.process(), processes_);
  }

 private:
  Status MeasureMemory(Engine& engine);

  WorkloadOptions options_;
  std::span<const MixEntry> mix_;
  std::uint64_t processes_ = 1;
  std::unique_ptr<TransactionalGraph> graph_;
  std::uint64_t source_ = 0;
  TransactionalGraph::Census before_;  // the run
  std::int64_t vertex_change_ = 0;
  std::int64_t edge_change_ = 0;
  std::vector<std::uint64_t> updates_;
  std::vector<std::uint64_t> counts_;      // of this node
  std::vector<std::uint64_t> all_counts_;  // of all
  std::vector<std::pair<std::string, std::uint64_t>> memory_;
};

}  // namespace slimgraph::txn
